//! The table of names and what they stand for: those of the prelude, and those of the program, which
//! shadow them.

use regraft_ir::{Context, Symbol, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::backedges::{Backedges, Dependents, note};
use super::deferred::Notes;
use super::entities::{Binding, SpecId};
use crate::definition::{Space, is_library};

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
    /// The type that is declared for a variable.
    pub(super) declared: Option<Type>,
}

impl Slot {
    fn new() -> Self {
        Slot {
            binding: Binding::Undefined,
            dependents: Dependents::new(),
            types: 0,
            declared: None,
        }
    }
}

/// A name that comes from another space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imported {
    pub(super) from: Space,
    pub(super) name: Symbol,
    /// True if methods that are defined under it belong to what it stands for.
    pub(super) extends: bool,
}

/// The names that go from one space to another.
#[derive(Default, Debug)]
pub(super) struct Exchange {
    pub(super) imports: FxHashMap<Symbol, Imported>,
    /// The modules whose exports are there.
    pub(super) used: Vec<Space>,
    pub(super) exports: FxHashSet<Symbol>,
    /// True if the names of the prelude are not there.
    pub(super) bare: bool,
}

/// All names.
#[derive(Default, Debug)]
pub(super) struct Bindings {
    pub(super) slots: FxHashMap<(Space, Symbol), Slot>,
    /// The deferred statements of the prelude, by the names that they define.
    pub(super) notes: Notes,
    pub(super) exchanges: FxHashMap<Space, Exchange>,
    /// The names of functions of the prelude to which any module adds methods without saying so.
    pub(super) shared: FxHashSet<Symbol>,
    /// The modules, by the types of their values.
    pub(super) modules: FxHashMap<Type, Space>,
}

/// As many times a name may be imported from where it is imported.
const MAX_IMPORTED: usize = 64;

impl Bindings {
    /// Returns the binding of a name in one space alone.
    pub fn own(&self, space: Space, name: Symbol) -> Binding {
        match self.slots.get(&(space, name)).map_or(Binding::Undefined, |slot| slot.binding) {
            Binding::Undefined if space == Space::Base && self.notes.get(name).is_some() => {
                Binding::Deferred
            }
            binding => binding,
        }
    }

    /// The names that stand for something, with their spaces, in no order.
    pub fn bound(&self) -> impl Iterator<Item = (Space, Symbol)> {
        let bound = self.slots.iter().filter(|(_, slot)| slot.binding != Binding::Undefined);
        let deferred = self.notes.names().map(|(name, _)| (Space::Base, name));
        bound.map(|(&place, _)| place).chain(deferred)
    }

    /// Returns the binding of a name.
    pub fn find(&self, space: Space, name: Symbol) -> Binding {
        let (space, name) = self.locate(space, name);
        self.own(space, name)
    }

    /// Returns where the binding of a name is: in the space itself, where it is imported from, in a module
    /// that is used and exports it, in the prelude.
    pub fn locate(&self, space: Space, name: Symbol) -> (Space, Symbol) {
        self.locate_within(space, name, MAX_IMPORTED)
    }

    fn locate_within(&self, space: Space, name: Symbol, left: usize) -> (Space, Symbol) {
        let here = (space, name);
        if left == 0 || space == Space::Base || self.own(space, name) != Binding::Undefined {
            return here;
        }
        if let Some(exchange) = self.exchanges.get(&space) {
            if let Some(import) = exchange.imports.get(&name) {
                return self.locate_within(import.from, import.name, left - 1);
            }
            for &used in &exchange.used {
                if self.exports(used, name) {
                    let found = self.locate_within(used, name, left - 1);
                    if self.own(found.0, found.1) != Binding::Undefined {
                        return found;
                    }
                }
            }
            // Those of `Core` are there in any case.
            if exchange.bare && !matches!(self.own(Space::Base, name), Binding::Type(_)) {
                return here;
            }
        }
        match self.own(Space::Base, name) {
            Binding::Undefined => here,
            _ => (Space::Base, name),
        }
    }

    fn exports(&self, space: Space, name: Symbol) -> bool {
        self.exchanges.get(&space).is_some_and(|exchange| exchange.exports.contains(&name))
    }

    /// The places of which a name may come to mean something else there.
    pub(super) fn asked(&self, space: Space, name: Symbol) -> SmallVec<[(Space, Symbol); 4]> {
        let mut asked: SmallVec<[(Space, Symbol); 4]> = smallvec![(space, name)];
        let mut at = 0;
        while let Some(&(space, name)) = asked.get(at)
            && at < MAX_IMPORTED
        {
            at += 1;
            let Some(exchange) = self.exchanges.get(&space) else { continue };
            let import = exchange.imports.get(&name).map(|import| (import.from, import.name));
            let used = exchange.used.iter().filter(|&&used| self.exports(used, name));
            let more: SmallVec<[_; 4]> =
                import.into_iter().chain(used.map(|&used| (used, name))).collect();
            for place in more {
                if !asked.contains(&place) {
                    asked.push(place);
                }
            }
        }
        if !asked.contains(&(Space::Base, name)) {
            asked.push((Space::Base, name));
        }
        asked
    }

    /// Invalidates who asked for a name in a space.
    pub(super) fn touch(&mut self, space: Space, name: Symbol, edges: &mut Backedges) {
        if let Some(slot) = self.slots.get_mut(&(space, name)) {
            std::mem::take(&mut slot.dependents)
                .into_iter()
                .for_each(|spec| edges.invalidate(spec));
        }
    }

    /// The place of a name that may be a path: `A.B.f`.
    pub fn member(&self, ctx: &Context, space: Space, name: Symbol) -> (Space, Symbol) {
        let Some((path, last)) = ctx.str(name).rsplit_once('.') else { return (space, name) };
        if path.is_empty() || path.ends_with('.') || last.is_empty() {
            return (space, name);
        }
        match self.space_of(ctx, space, path.split('.')) {
            Some(found) => (found, ctx.symbol(last)),
            None => (space, name),
        }
    }

    /// The space that a path of module names leads to.
    pub fn space_of<'p>(
        &self,
        ctx: &Context,
        from: Space,
        path: impl IntoIterator<Item = &'p str>,
    ) -> Option<Space> {
        let mut at = from;
        for (nth, name) in path.into_iter().enumerate() {
            at = match self.find(at, ctx.find_symbol(name)?) {
                Binding::Global { ty, .. } if let Some(space) = self.module(ty) => space,
                _ if nth == 0 && name == "Main" => Space::Main,
                _ if nth == 0 && is_library(name) => Space::Base,
                _ => return None,
            };
        }
        Some(at)
    }

    /// The space that a value of this type is, if it is a module.
    pub fn module(&self, ty: Type) -> Option<Space> {
        self.modules.get(&ty).copied()
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
            (Space::Module(path), _) => ctx.symbol(&format!("{}.{}", ctx.str(path), ctx.str(name))),
            (Space::Base, _) | (_, Binding::Undefined) => name,
            _ => ctx.symbol(&format!("Main.{}", ctx.str(name))),
        }
    }
}
