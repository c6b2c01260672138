//! Options of lowering.

use std::cell::Cell;

use regraft_ir::Symbol;

use crate::definition::Space;

/// Options of lowering.
pub struct LowerOptions<'a> {
    /// True if a loop at top level assigns to the global variable of that name if there is one, as
    /// in the REPL; in a file it makes a new local one.
    pub soft_scope: bool,
    /// True if there is a global variable of that name in the program.
    pub is_global: &'a dyn Fn(Symbol) -> bool,
    /// The space in which the names of the text are looked up.
    pub space: Space,
    /// The number of functions that were named so far, so that those of two texts are told apart.
    pub counter: &'a Cell<u32>,
}

impl std::fmt::Debug for LowerOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LowerOptions")
            .field("soft_scope", &self.soft_scope)
            .field("space", &self.space)
            .field("counter", &self.counter)
            .finish_non_exhaustive()
    }
}
