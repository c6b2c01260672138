//! The attribute that says of an access whether its indices are in bounds.

use regraft_dialects::attrs::with_inbounds;
use regraft_ir::{Block, Function, IrResult, Value};

use crate::analysis::bounds::is_promised;
use crate::analysis::memory_location::element_indices;

/// The accesses of a block that are checked.
pub(super) fn unmarked(f: &Function, block: Block) -> impl Iterator<Item = Value> + '_ {
    f.body(block).filter(|&v| is_unmarked(f, v))
}

/// Returns whether `v` is an access whose indices are checked.
pub(super) fn is_unmarked(f: &Function, v: Value) -> bool {
    element_indices(f, v).is_some() && !is_promised(f, v)
}

/// Says of an access that it is in bounds, or that it has to be checked.
pub(super) fn mark(f: &mut Function, v: Value, in_bounds: bool) -> IrResult<()> {
    let attrs = with_inbounds(f.ctx(), f.attrs(v), in_bounds);
    f.set_attrs(v, attrs)
}
