//! The table of names and what they stand for: those of the prelude, and those of the program, which
//! shadow them.

use regraft_ir::{Constant, Context, Symbol};
use rustc_hash::FxHashMap;

use super::backedges::{Backedges, Dependents, note};
use super::entities::{Binding, SpecId};
use super::eval::Names;
use crate::definition::Space;

/// The number of types that a variable may have had before it is one of type `any`: every further one would
/// have what reads it compiled again.
pub(super) const MAX_VARIABLE_TYPES: u8 = 8;

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) binding: Binding,
    /// The specialisations that asked.
    pub(super) dependents: Dependents,
    /// The number of types that a variable has had.
    pub(super) types: u8,
}

impl Slot {
    fn new() -> Self {
        Slot { binding: Binding::Undefined, dependents: Dependents::new(), types: 0 }
    }
}

/// All names.
#[derive(Default, Debug)]
pub(super) struct Bindings {
    pub(super) slots: FxHashMap<(Space, Symbol), Slot>,
}

impl Bindings {
    /// Returns the binding of a name in one space alone.
    pub fn own(&self, space: Space, name: Symbol) -> Binding {
        self.slots.get(&(space, name)).map_or(Binding::Undefined, |slot| slot.binding)
    }

    /// Returns the binding of a name.
    pub fn find(&self, space: Space, name: Symbol) -> Binding {
        match (space, self.own(space, name)) {
            (Space::Main, Binding::Undefined) => self.own(Space::Base, name),
            (_, binding) => binding,
        }
    }

    pub(super) fn slot(&mut self, space: Space, name: Symbol) -> &mut Slot {
        self.slots.entry((space, name)).or_insert_with(Slot::new)
    }

    pub(super) fn note(&mut self, space: Space, name: Symbol, by: SpecId) {
        note(&mut self.slot(space, name).dependents, by);
    }

    /// Binds a name, and invalidates who asked for it if that is news.
    pub fn set(
        &mut self,
        space: Space,
        name: Symbol,
        binding: Binding,
        edges: &mut Backedges,
    ) -> bool {
        let slot = self.slot(space, name);
        if slot.binding == binding {
            return false;
        }
        slot.binding = binding;
        std::mem::take(&mut slot.dependents).into_iter().for_each(|spec| edges.invalidate(spec));
        true
    }

    /// The name under which what is called `name` in a space is known to all: that of the
    /// program's own is another if the prelude has the name, too.
    pub fn qualified(&self, ctx: &Context, space: Space, name: Symbol) -> Symbol {
        match (space, self.own(Space::Base, name)) {
            (Space::Base, _) | (_, Binding::Undefined) => name,
            _ => ctx.symbol(&format!("Main.{}", ctx.str(name))),
        }
    }
}

/// The names as code in a space sees them.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub bindings: &'a Bindings,
    pub space: Space,
}

impl Names for Seen<'_> {
    fn binding(&self, name: Symbol) -> Binding {
        self.bindings.find(self.space, name)
    }

    fn type_names(&self) -> Vec<Symbol> {
        // Sorted by whoever shows them.
        let types = self.bindings.slots.iter().filter(|(_, slot)| {
            matches!(slot.binding, Binding::Type(_) | Binding::Const(Constant::Type(_)))
        });
        types.map(|(&(_, name), _)| name).collect()
    }
}
