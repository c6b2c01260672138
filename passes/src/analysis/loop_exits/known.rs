//! Between which numbers a polynomial is, as far as the op of one value says it.

use regraft_dialects::{arith, mem};
use regraft_ir::{Function, Type, TypeKind, Value};

use crate::analysis::poly::{Poly, Sym};

/// The least and the greatest signed number of a type.
pub(crate) fn limits(ty: Type) -> (i64, i64) {
    let bits = ty.bits().unwrap_or(64);
    (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
}

/// A range that a polynomial is in: that of its only value, moved by its constant.
pub(crate) fn range(f: &Function, poly: &Poly) -> (i64, i64) {
    let whole @ (least, greatest) = limits(poly.ty());
    let constant = poly.constant_part();
    if poly.terms().is_empty() {
        return (constant, constant);
    }
    let Some(Sym::Value(v)) = poly.plus(constant.wrapping_neg()).as_symbol() else { return whole };
    if f.ty(v) != poly.ty() {
        return whole;
    }
    let (low, high) = value_range(f, v);
    match (low.checked_add(constant), high.checked_add(constant)) {
        (Some(low), Some(high)) if low >= least && high <= greatest => (low, high),
        _ => whole,
    }
}

/// Returns whether the first operand is an array of rank 1.
fn is_vector(f: &Function, v: Value) -> bool {
    let ty = f.operand(v, 0).map(|array| f.operand_type(array));
    ty.is_some_and(|ty| matches!(f.ctx().kind(ty), TypeKind::Array { rank: 1, .. }))
}

fn value_range(f: &Function, v: Value) -> (i64, i64) {
    let ty = f.ty(v);
    let whole @ (least, greatest) = limits(ty);
    let constants = || f.operands(v).filter_map(|x| f.constant(x)?.as_int());
    let from = |index| f.operand(v, index).map(|x| f.operand_type(x));
    match f.op(v) {
        // An array takes at least a byte for each element, and more than 16 for itself.
        Some(mem::LENGTH) => (0, greatest - 16),
        Some(mem::SIZE) if is_vector(f, v) => (0, greatest - 16),
        // A matrix without rows may have any number of columns.
        Some(mem::SIZE) => (0, greatest),
        Some(arith::MAX) => (constants().fold(least, i64::max), greatest),
        Some(arith::MIN) => (least, constants().fold(greatest, i64::min)),
        Some(arith::AND) => match constants().find(|&x| x >= 0) {
            Some(mask) => (0, mask),
            None => whole,
        },
        Some(arith::ZEXT) => match from(0).and_then(Type::bits) {
            Some(bits) if Some(bits) < ty.bits() => (0, (1 << bits) - 1),
            _ => whole,
        },
        Some(arith::SEXT) => from(0).filter(|ty| ty.is_int()).map_or(whole, limits),
        _ => whole,
    }
}
