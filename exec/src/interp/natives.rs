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
    /// The addresses that code from an object file works on.
    pub(super) table: Box<[*const u8]>,
    /// True if there is such code.
    pub(super) is_loaded: bool,
}

impl Natives {
    /// Returns whether native code may run.
    pub(super) fn may_run(&self) -> bool {
        self.backend.is_some() || self.is_loaded
    }

    /// Returns whether there is native code that was made here.
    pub(super) fn has_code(&self) -> bool {
        !self.units.borrow().is_empty()
    }
}
