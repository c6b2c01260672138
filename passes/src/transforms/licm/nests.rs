//! Loops that leave other loops as a whole.

use regraft_ir::{Block, Function, IrResult};
use rustc_hash::FxHashSet;

use super::Facts;

pub(super) fn run(
    _f: &mut Function,
    _facts: &Facts,
    _only: Option<&FxHashSet<Block>>,
) -> IrResult<usize> {
    Ok(0)
}
