//! `bounds-elim`.

mod counters;
mod lengths;
mod versions;

use regraft_passes::AllLoops;
use regraft_passes::transforms::bounds_elim::BoundsElim;

use crate::check;

/// Checks that just the accesses that end in `!` are found to be in bounds.
#[track_caller]
fn marks(text: &str) {
    let before: String = text.replace(" !", "");
    check::<AllLoops<BoundsElim>>(&before, &text.replace(" !", " {inbounds=true}"));
}
