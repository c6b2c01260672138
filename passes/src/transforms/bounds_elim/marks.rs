//! The attribute that says of an access whether its indices are in bounds.

use regraft_ir::{Block, Constant, Function, IrResult, Value};

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
    let ctx = f.ctx();
    let mut entries = ctx.attr_entries(f.attrs(v)).to_vec();
    entries.push((ctx.symbol("inbounds"), ctx.constant_id(Constant::Bool(in_bounds))));
    let attrs = ctx.attrs(&entries);
    f.set_attrs(v, attrs)
}
