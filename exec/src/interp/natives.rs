//! The native code that a world has.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[cfg(feature = "jit")]
use super::tiering::Tiering;
use crate::engine::{EngineKind, Tiers};
use crate::native::{Backend, Unit};

/// The native code of a world.
#[derive(Default)]
pub(super) struct Natives {
    pub(super) backend: Option<Rc<dyn Backend>>,
    /// The engine that the back end is of.
    pub(super) engine: EngineKind,
    /// True if code counts the instructions that it runs.
    pub(super) counted: bool,
    pub(super) units: RefCell<Vec<Unit>>,
    /// The number of units that there were.
    pub(super) made: Cell<u64>,
    /// The state of units that better code may take the place of.
    #[cfg(feature = "jit")]
    pub(super) tiering: Option<Tiering>,
    /// The addresses that code from an object file works on.
    pub(super) table: Box<[*const u8]>,
    /// True if there is such code.
    pub(super) is_loaded: bool,
}

impl Natives {
    /// Returns whether a function is compiled when it is worth it, and not at its first call.
    pub(super) fn waits(&self) -> bool {
        self.engine == EngineKind::Auto
    }

    /// The heat at which what is worth it at `heat` is compiled.
    pub(super) fn hot(&self, heat: u32) -> u32 {
        #[cfg(feature = "jit")]
        let is_at_once = self.tiering.as_ref().is_some_and(Tiering::is_at_once);
        #[cfg(not(feature = "jit"))]
        let is_at_once = false;
        if self.waits() && !is_at_once { heat } else { 0 }
    }

    /// Returns whether native code may run.
    pub(super) fn may_run(&self) -> bool {
        self.backend.is_some() || self.is_loaded
    }

    /// The number of a new unit.
    pub(super) fn next_unit(&self) -> u64 {
        self.made.set(self.made.get() + 1);
        self.made.get()
    }

    /// Sets when better code takes the place of what is compiled.
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))]
    pub(super) fn set_tiers(&mut self, tiers: Tiers) {
        #[cfg(feature = "jit")]
        {
            self.tiering = (tiers != Tiers::Never).then(|| Tiering::new(tiers));
        }
    }

    /// Forgets what was noted of units that are gone.
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))]
    pub(super) fn forget(&mut self, units: &[u64]) {
        #[cfg(feature = "jit")]
        if let Some(tiering) = &mut self.tiering {
            units.iter().for_each(|&unit| tiering.forget(unit));
        }
    }

    /// Returns whether better code may take the place of what is compiled now.
    pub(super) fn are_replaceable(&self) -> bool {
        #[cfg(feature = "jit")]
        return self.tiering.as_ref().is_some_and(|tiering| !tiering.is_over());
        #[cfg(not(feature = "jit"))]
        false
    }

    /// Returns whether there is native code that was made here.
    pub(super) fn has_code(&self) -> bool {
        !self.units.borrow().is_empty()
    }
}
