//! The functions whose methods are rules for derivatives.

use std::sync::Arc;

use regraft_ir::Symbol;

use crate::world::World;

/// The functions whose methods are rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// `rrule(f, x…)`
    pub(super) reverse: Symbol,
    /// `frule((df, dx…), f, x…)`
    pub(super) forward: Symbol,
    /// `#non_differentiable(f, x…)`
    pub(super) none: Symbol,
}

/// The rules that there are for calls of a function with arguments of certain types.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RulesOf {
    pub(super) reverse: bool,
    pub(super) forward: bool,
    pub(super) none: bool,
}

impl RulesOf {
    pub(crate) fn any(self) -> bool {
        self.reverse || self.forward || self.none
    }
}

impl Rules {
    /// Finds the functions of a world whose methods are rules.
    pub(crate) fn new(world: &mut World) -> Self {
        let ctx = Arc::clone(world.ctx());
        let reverse = ctx.symbol("rrule");
        let forward = ctx.symbol("frule");
        let none = ctx.symbol("#non_differentiable");
        world.watch_rules(&[reverse, forward, none]);
        // Methods of these are rules wherever they are defined.
        world.share(&[reverse, forward, none]);
        Self { reverse, forward, none }
    }
}
