//! Widening: what keeps growing grows in few steps.

use super::Interval;

/// A value that changed so often is widened from then on.
pub(super) const WIDENING_DELAY: u8 = 1;
/// A value that changed so often can be anything.
pub(super) const MAX_CHANGES: u8 = 24;

/// A bound that moved goes on to the next of a few milestones.
pub(super) fn widened(old: Interval, new: Interval, all: Interval) -> Interval {
    let lo = match new.lo {
        lo if lo == old.lo => lo,
        0.. => 0,
        -1 => -1,
        // One less than a number that is less than another does not wrap.
        lo if lo > all.lo => all.lo + 1,
        _ => all.lo,
    };
    let hi = match new.hi {
        hi if hi == old.hi => hi,
        ..=0 => 0,
        hi if hi < all.hi => all.hi - 1,
        _ => all.hi,
    };
    Interval { lo, hi }
}
