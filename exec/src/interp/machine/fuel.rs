//! Fuel: a run gets it in slices, and looks up between them.

use std::sync::atomic::Ordering;

use super::super::state::State;
use crate::error::{ErrorKind, Trap};

/// The number of instructions that run between two looks: at the interrupt flag, and at what would be worth native
/// code.
pub(in crate::interp) const SLICE: i64 = 1 << 14;

impl State {
    /// Fuel for the next stretch.
    pub(super) fn next_slice(&mut self) -> i64 {
        let slice = (self.fuel_left.min(self.slice as u64)) as i64;
        self.fuel_left -= slice as u64;
        slice
    }

    /// Returns what is left of a slice.
    pub(super) fn give_back(&mut self, fuel: i64) {
        self.fuel_left = self.fuel_left.saturating_add_signed(fuel);
    }

    /// The next slice when one is used up; `fuel` is what was used too much.
    #[cold]
    pub(super) fn refuel(&mut self, fuel: i64) -> Result<i64, Trap> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Trap::of_kind(ErrorKind::Interrupted, "interrupted"));
        }
        self.fuel_left = self.fuel_left.saturating_sub(self.host.take_spent());
        if self.fuel_left < fuel.unsigned_abs() {
            let limit = self.limits.fuel.unwrap_or(u64::MAX);
            let message = format!("the fuel limit of {limit} instructions is exceeded");
            return Err(Trap::of_kind(ErrorKind::Fuel, message));
        }
        self.fuel_left -= fuel.unsigned_abs();
        Ok(self.next_slice())
    }
}
