//! Backedges: the specialisations that depend on an answer, to be invalidated when it changes.
//!
//! A specialisation depends on the answers to its lookups and on other specialisations. When an
//! answer changes, those that asked are wrong, and those that depend on them, transitively. They
//! are reported once; what takes their place has a new id.

use smallvec::SmallVec;

use super::entities::SpecId;

/// The dependents of something; most often there are one or two.
pub(super) type Dependents = SmallVec<[SpecId; 2]>;

#[derive(Default, Debug)]
struct Spec {
    dependents: Dependents,
    dead: bool,
}

/// All specialisations, and those that became wrong.
#[derive(Default, Debug)]
pub(super) struct Backedges {
    specs: Vec<Spec>,
    invalidated: Vec<SpecId>,
}

impl Backedges {
    pub fn new_spec(&mut self) -> SpecId {
        self.specs.push(Spec::default());
        SpecId(self.specs.len() as u32 - 1)
    }

    /// Says that `spec` is wrong if `on` is.
    pub fn depend(&mut self, spec: SpecId, on: SpecId) {
        let Some(on_spec) = self.specs.get_mut(on.0 as usize) else { return };
        if on_spec.dead {
            // Too late: it is wrong already.
            self.invalidate(spec);
        } else {
            note(&mut on_spec.dependents, spec);
        }
    }

    /// Returns whether a specialisation is wrong.
    pub fn is_dead(&self, spec: SpecId) -> bool {
        self.specs.get(spec.0 as usize).is_none_or(|spec| spec.dead)
    }

    /// Marks a specialisation and those that depend on it as wrong.
    pub fn invalidate(&mut self, spec: SpecId) {
        let mut todo = vec![spec];
        while let Some(id) = todo.pop() {
            let Some(spec) = self.specs.get_mut(id.0 as usize) else { continue };
            if !std::mem::replace(&mut spec.dead, true) {
                self.invalidated.push(id);
                todo.extend(std::mem::take(&mut spec.dependents));
            }
        }
    }

    pub fn take_invalidated(&mut self) -> Vec<SpecId> {
        let mut taken = std::mem::take(&mut self.invalidated);
        taken.sort_unstable();
        taken
    }
}

/// Adds to a list of who depends on something. The same one mostly asks several times in a row.
pub(super) fn note(dependents: &mut Dependents, spec: SpecId) {
    if !dependents.iter().rev().take(4).any(|&other| other == spec) {
        dependents.push(spec);
    }
}
