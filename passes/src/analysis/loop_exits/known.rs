//! The range of a polynomial, as far as the op of one value says it.

use regraft_ir::Function;

use crate::analysis::poly::{Poly, Sym};
use crate::analysis::ranges::interval_by_op;
use crate::analysis::traps::int_bounds;

/// A range that a polynomial is in: that of its only value, moved by its constant.
pub(crate) fn range(f: &Function, poly: &Poly) -> (i64, i64) {
    let whole @ (least, greatest) = int_bounds(poly.ty());
    let constant = poly.constant_part();
    if poly.terms().is_empty() {
        return (constant, constant);
    }
    let Some(Sym::Value(v)) = poly.plus(constant.wrapping_neg()).as_symbol() else { return whole };
    if f.ty(v) != poly.ty() {
        return whole;
    }
    let known = interval_by_op(f, v);
    match (known.lo.checked_add(constant), known.hi.checked_add(constant)) {
        (Some(low), Some(high)) if low >= least && high <= greatest => (low, high),
        _ => whole,
    }
}
