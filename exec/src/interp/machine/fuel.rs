//! Fuel: a run gets it in slices, and looks up between them.

use std::sync::atomic::Ordering;

use super::super::state::State;
use crate::error::{ErrorKind, Trap};

/// The number of instructions that run between two looks: at the interrupt flag, and at what would be worth native
/// code.
pub(in crate::interp) const SLICE: i64 = 1 << 14;

/// The number of instructions that a call of native code counts as, where nobody asks how many there were. So a loop of such calls is
/// looked at after about the time that it takes to run a slice.
const NATIVE_CALL: i64 = 64;

/// Of a linear congruential generator (D. Knuth, "The Art of Computer Programming", volume 2, section 3.3.4, table 1, line 26).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

impl State {
    /// Fuel for the next stretch. Slices have different lengths: if all were alike, those of a loop that calls others could end in
    /// the same one of these each time, and the loop would never be looked at.
    pub(super) fn next_slice(&mut self) -> i64 {
        self.slices = self.slices.wrapping_mul(MULTIPLIER).wrapping_add(1);
        let shorter = (self.slices >> 32) as i64 % (self.slice / 4).max(1);
        let slice = (self.fuel_left.min((self.slice - shorter) as u64)) as i64;
        self.fuel_left -= slice as u64;
        slice
    }

    /// The fuel that a call of native code costs, besides what that counts itself.
    #[inline]
    pub(super) fn cost_of_native_call(&self) -> i64 {
        if self.limits.fuel.is_none() { NATIVE_CALL } else { 0 }
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
