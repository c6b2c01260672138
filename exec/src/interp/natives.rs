//! The native code that a world has.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::EngineKind;
use crate::native::{Backend, Unit};

/// The native code of a world.
#[derive(Default)]
pub(super) struct Natives {
    pub(super) backend: Option<Rc<dyn Backend>>,
    /// True if a function is compiled at its first call, and not when it is worth it.
    pub(super) eager: bool,
    /// The engine that the back end is of.
    pub(super) engine: EngineKind,
    /// True if code counts the instructions that it runs.
    pub(super) counted: bool,
    pub(super) units: RefCell<Vec<Unit>>,
}

impl Natives {
    /// Returns whether there is native code.
    pub(super) fn has_code(&self) -> bool {
        !self.units.borrow().is_empty()
    }
}
