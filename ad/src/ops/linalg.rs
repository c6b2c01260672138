//! Derivatives of the products of `linalg`, which add to shadows what products of matrices give.

use regraft_dialects::{arith, linalg, mem};
use regraft_ir::{Constant, Op, Operand};

use super::common::{element, zero};
use crate::op_derivative::{AdjointCx, OpCx, OpDerivative, TangentCx};
use crate::tangent_builder::inbounds;

pub(super) const ROWS: &[(Op, OpDerivative)] = &[
    (linalg::PRODUCT, OpDerivative::new(tangent, adjoint).reads(&[1, 2])),
    (linalg::ADD_PRODUCT, OpDerivative::new(tangent, adjoint).reads(&[1, 2])),
];

/// The flags of the destination and of both factors.
fn flags(cx: &mut dyn OpCx) -> [Operand; 3] {
    if cx.op() == linalg::PRODUCT {
        let no = cx.ctx().constant_id(Constant::Bool(false)).into();
        return [no, cx.operand(3), cx.operand(4)];
    }
    [cx.operand(3), cx.operand(4), cx.operand(5)]
}

fn tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let (shadow, a, b) = (cx.tangent(0)?, cx.operand(1), cx.operand(2));
    let [turned, turned_a, turned_b] = flags(cx);
    if cx.op() == linalg::PRODUCT {
        clear(cx, shadow);
    }
    let by_a = cx.tangent(1).map(|da| (da, b));
    let by_b = cx.tangent(2).map(|db| (a, db));
    for (a, b) in by_a.into_iter().chain(by_b) {
        cx.emit(linalg::add_product(shadow, a, b, turned, turned_a, turned_b));
    }
    None
}

/// `A += D Bᵀ` and `B += Aᵀ D` of the shadows, for matrices as the flags say.
fn adjoint(cx: &mut dyn AdjointCx) {
    let Some(d) = cx.shadow(0) else { return };
    let [turned, turned_a, turned_b] = flags(cx);
    // Each shadow has the sizes of its matrix.
    let sizes_fit = inbounds(cx.ctx());
    if let Some(da) = cx.shadow(1) {
        let (b, not_b) = (cx.operand(2), cx.emit(arith::not(turned_b)));
        let sum = linalg::add_product(da, d, b, turned_a, turned, not_b);
        cx.emit(sum.with_attrs(sizes_fit));
    }
    if let Some(db) = cx.shadow(2) {
        let (a, not_a) = (cx.operand(1), cx.emit(arith::not(turned_a)));
        let sum = linalg::add_product(db, a, d, turned_b, not_a, turned);
        cx.emit(sum.with_attrs(sizes_fit));
    }
    if cx.op() == linalg::PRODUCT {
        clear(cx, d);
    }
}

fn clear(cx: &mut dyn OpCx, shadow: Operand) {
    let element = element(cx, 0);
    let zero = zero(cx, element);
    cx.emit(mem::fill_in_place(shadow, zero));
}
