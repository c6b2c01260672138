//! Reverse parts that pullbacks hold, and how long they stay.
//!
//! A pullback is made of what the forward part kept and of the name of the reverse part that was
//! generated together with it. A definition that comes between the two makes the derivative wrong
//! for new calls, not for that pullback: the reverse part and all that it calls stay, under their
//! names, as long as there may be a pullback that they belong to.
//!
//! # Method
//! A pullback also holds the *world* in which it was made: an object that the global `#world` holds,
//! and that is exchanged when a definition drops a reverse part. A reverse part that was dropped
//! stays as long as somebody else holds a world in which it could be found. Where values are
//! counted, that is to look at a count (compare epoch-based reclamation: K. Fraser, "Practical
//! lock-freedom", 2004, section 5.2.3).
//!
//! Names of reverse parts are never used again.
//!
//! # Cost
//! Nothing until something is dropped; then linear in the size of what the held parts call.

use regraft_exec::Val;
use regraft_exec::value::Shared;
use regraft_ir::{Context, Symbol, Type};
use rustc_hash::FxHashSet;

/// Reverse parts, and the worlds that somebody may hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// With their numbers, oldest first. The last one is the present one.
    pub(super) worlds: Vec<(u32, Val)>,
    pub(super) parts: Vec<Part>,
    /// The names of all reverse parts that there ever were.
    pub(super) names: FxHashSet<Symbol>,
    /// True if the world is another one than the session knows.
    pub(super) is_new: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: Symbol,
    /// The world in which it was made.
    pub(super) from: u32,
    /// The last world in which it could be found.
    pub(super) until: Option<u32>,
}

impl Held {
    pub(crate) fn new() -> Self {
        let worlds = vec![(0, world())];
        Self { worlds, parts: Vec::new(), names: FxHashSet::default(), is_new: true }
    }

    /// Returns whether a reverse part has or had that name.
    pub(super) fn had(&self, name: Symbol) -> bool {
        self.names.contains(&name)
    }

    /// Notes a reverse part that was made.
    pub(super) fn add(&mut self, name: Symbol) {
        self.names.insert(name);
        self.parts.push(Part { name, from: self.present(), until: None });
    }

    pub(super) fn present(&self) -> u32 {
        self.worlds.last().map_or(0, |&(number, _)| number)
    }

    /// Drops the worlds that nobody holds but this table and, the last one, the session.
    pub(super) fn forget_worlds(&mut self) {
        let present = self.present();
        self.worlds.retain(|(number, world)| *number == present || is_held(world, 1));
    }

    /// Returns whether a pullback may be there that was made in one of these worlds.
    pub(super) fn is_held(&self, from: u32, until: u32) -> bool {
        self.worlds.iter().any(|(number, world)| {
            let known = if *number == self.present() { 2 } else { 1 };
            (from..=until).contains(number) && is_held(world, known)
        })
    }
}

/// The type of the object that a world is.
pub(crate) fn world_type(ctx: &Context) -> Type {
    ctx.ref_type(Type::UNIT)
}

pub(super) fn world() -> Val {
    Val::reference(Type::UNIT, Val::Unit)
}

/// Returns whether more than `known` places hold an object.
fn is_held(world: &Val, known: usize) -> bool {
    matches!(world, Val::Ref(cell) if Shared::strong_count(cell) > known)
}
