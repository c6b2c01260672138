//! The range of a polynomial, as far as the op of one value says it.

use regraft_dialects::arith;
use regraft_ir::Function;

use crate::analysis::Interval;
use crate::analysis::interval::unwrapped;
use crate::analysis::poly::{Poly, Sym};
use crate::analysis::ranges::interval_by_op;

/// A range that a polynomial is in: that of its only value, moved by its constant.
pub(crate) fn range(f: &Function, poly: &Poly) -> Interval {
    let whole = Interval::of_type(poly.ty());
    let constant = poly.constant_part();
    if poly.terms().is_empty() {
        return Interval::single(constant);
    }
    let Some(Sym::Value(v)) = poly.plus(constant.wrapping_neg()).as_symbol() else { return whole };
    if f.ty(v) != poly.ty() {
        return whole;
    }
    let sum = unwrapped(arith::ADD, interval_by_op(f, v), Interval::single(constant), poly.ty());
    sum.unwrap_or(whole)
}

/// Returns whether the distance from one number up (or `down`) to another is known to be no larger
/// than the greatest signed number, as that of two numbers of the same sign is.
pub(crate) fn is_signed_distance(f: &Function, from: &Poly, to: &Poly, down: bool) -> bool {
    let (low, high) = if down { (to, from) } else { (from, to) };
    range(f, low).lo >= 0 || range(f, high).hi < 0
}
