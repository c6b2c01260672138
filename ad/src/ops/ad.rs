//! Derivatives of `ad`: derivatives can be differentiated again.

use std::ops::Range;

use regraft_dialects::{ad, mem};
use regraft_ir::{Inst, Op, Operand, Type};

use super::common::{
    Written, accumulate_coerced, is_active, is_known, new_shadow, no_adjoint, no_tangent,
    object_shadow, operands_from, read_tangent, shadow_of, value_shadow, write_tangent, zero,
    zero_shadow,
};
use super::core::{global_shadow, global_tangent, same_shadow};
use super::mem::read_alike;
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpDerivative, ShadowCx, TangentCx};
use crate::tangent_builder as build;

/// The elements of the second operand are added to those of the first one, or put in their places.
const ADDED: Flow = Flow::Elements { object: 0, source: 1, shares: false };
const INTO: Flow = Flow::Into { object: 0, value: 1 };

pub(super) const ROWS: &[(Op, OpDerivative)] = &[
    (ad::ZERO, OpDerivative::moving(Flow::None, no_tangent, new_shadow, no_adjoint)),
    (ad::SHADOW, OpDerivative::moving(Flow::Objects, same_tangent, same_shadow, no_adjoint)),
    (
        ad::COTANGENT,
        OpDerivative::moving(Flow::Value, same_tangent, cotangent_shadow, first_adjoint),
    ),
    (ad::JOIN, OpDerivative::moving(Flow::Value, same_tangent, same_shadow, join_adjoint)),
    (ad::ADD, OpDerivative::moving(Flow::Value, same_tangent, same_shadow, add_adjoint)),
    (ad::UNBOX, OpDerivative::moving(Flow::Value, same_tangent, same_shadow, first_adjoint)),
    (ad::COPY, OpDerivative::moving(Flow::Fresh, same_tangent, copy_shadow, copy_adjoint)),
    (
        ad::GLOBAL_SHADOW,
        OpDerivative::moving(Flow::Value, global_tangent, global_shadow, no_adjoint),
    ),
    (ad::TOTAL, OpDerivative::moving(Flow::Read, same_tangent, new_shadow, total_adjoint)),
    (
        ad::ACCUMULATE,
        OpDerivative::moving(ADDED, accumulate_tangent, change_shadow, accumulate_adjoint),
    ),
    (ad::CLEAR, OpDerivative::moving(Flow::None, clear_tangent, change_shadow, clear_adjoint)),
    (ad::SPREAD, OpDerivative::moving(ADDED, other_tangent, change_shadow, spread_adjoint)),
    (
        ad::UNCOPY,
        OpDerivative::moving(
            Flow::Elements { object: 1, source: 0, shares: false },
            uncopy_tangent,
            change_shadow,
            uncopy_adjoint,
        ),
    ),
    (ad::RECOPY, OpDerivative::moving(ADDED, other_tangent, change_shadow, uncopy_adjoint)),
    (ad::SLOT, OpDerivative::moving(Flow::Objects, read_tangent, slot_shadow, no_adjoint)),
    (ad::SET_SLOT, OpDerivative::moving(INTO, slot_tangent, set_slot_shadow, set_slot_adjoint)),
    (ad::PUT_BACK, OpDerivative::moving(INTO, other_tangent, put_back_shadow, put_back_adjoint)),
];

pub(super) const CONSTANT: &[Op] = &[
    ad::BEGIN,
    ad::END,
    // Says so itself.
    ad::IGNORE,
];

/// The same op on tangents.
fn same_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let ty = cx.result_type();
    let want = cx.types().tangent(ty);
    let tangents: Vec<Operand> = (0..cx.count()).map(|i| cx.tangent_or_zero(i)).collect();
    Some(cx.emit(Inst::new(cx.op()).operands(tangents).with_type(want)))
}

fn accumulate_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if is_active(cx, 0) { write_tangent(cx, Written::Other) } else { None }
}

fn clear_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if is_active(cx, 0) { write_tangent(cx, Written::Nothing) } else { None }
}

fn other_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if is_active(cx, 0) && is_known(cx) { write_tangent(cx, Written::Other) } else { None }
}

/// The slots of the shadow of a shadow hold anything.
fn slot_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !is_active(cx, 0) || !is_known(cx) {
        return None;
    }
    let (shadow, slot) = (cx.tangent_or_zero(0), cx.tangent_or_zero(1));
    let slot = cx.coerced(slot, Type::ANY);
    let indices = operands_from(cx, 2);
    cx.emit(ad::set_slot(shadow, slot, indices).with_attrs(cx.attrs()));
    None
}

/// The tangents of what moves from the elements of one shadow to those of another move likewise.
fn uncopy_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if is_active(cx, 0) {
        let (from, to) = (cx.tangent_or_zero(0), cx.tangent_or_zero(1));
        let count = cx.operand(2);
        cx.emit(ad::uncopy(from, to, count));
    }
    None
}

/// There are no objects in a cotangent.
fn cotangent_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        zero(cx, want)
    });
}

fn copy_shadow(cx: &mut dyn ShadowCx) {
    object_shadow(cx, zero_shadow);
}

/// Lets the reverse sweep reverse what the op does to an active shadow.
fn change_shadow(cx: &mut dyn ShadowCx) {
    if cx.has_shadow(0) {
        cx.add_adjoint();
    }
}

fn slot_shadow(cx: &mut dyn ShadowCx) {
    if !cx.has_shadow(0) {
        return new_shadow(cx);
    }
    if cx.result_has_shadow() {
        read_alike(cx);
    }
}

/// Puts slots into the shadow of a shadow.
fn put_slots(cx: &mut dyn ShadowCx) {
    let ty = cx.operand_type(1);
    let want = cx.types().shadow(ty);
    let slots = cx.shadow_as(1, want);
    let shadow = shadow_of(cx, 0);
    let others = operands_from(cx, 2);
    let inst = Inst::new(cx.op()).operands([shadow, slots]).operands(others);
    cx.emit(inst.with_attrs(cx.attrs()));
    cx.add_adjoint();
}

fn set_slot_shadow(cx: &mut dyn ShadowCx) {
    if cx.has_shadow(0) {
        let shadow = shadow_of(cx, 0);
        let indices = operands_from(cx, 2);
        let kept = cx.emit_before(ad::slot(shadow, indices));
        cx.keep(kept);
        put_slots(cx);
    }
}

fn put_back_shadow(cx: &mut dyn ShadowCx) {
    if cx.has_shadow(0) {
        let shadow = shadow_of(cx, 0);
        let kept = cx.emit_before(mem::copy(shadow));
        cx.keep(kept);
        put_slots(cx);
    }
}

/// Gives operands the cotangent of the result.
fn accumulate_all(cx: &mut dyn AdjointCx, operands: Range<usize>) {
    let ty = cx.result_type();
    if let Some(cotangent) = cx.cotangent() {
        operands.for_each(|i| accumulate_coerced(cx, i, cotangent, ty));
    }
}

fn first_adjoint(cx: &mut dyn AdjointCx) {
    accumulate_all(cx, 0..1);
}

fn join_adjoint(cx: &mut dyn AdjointCx) {
    accumulate_all(cx, 1..2);
}

fn add_adjoint(cx: &mut dyn AdjointCx) {
    let count = cx.count();
    accumulate_all(cx, 0..count);
}

fn copy_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(cotangent) = cx.cotangent() {
        cx.accumulate(0, cotangent);
    }
    if let (true, Some(from)) = (cx.has_shadow(0), cx.result_shadow()) {
        let to = shadow_of(cx, 0);
        cx.emit(ad::accumulate(to, from));
    }
}

fn total_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(cotangent) = cx.cotangent() {
        let shadow = shadow_of(cx, 0);
        cx.emit(ad::spread(shadow, cotangent));
    }
}

/// Adds what came to the shadow to that of the tangent; its numbers outside of objects were added nowhere.
fn accumulate_adjoint(cx: &mut dyn AdjointCx) {
    if cx.has_shadow(1) {
        let (to, from) = (shadow_of(cx, 1), shadow_of(cx, 0));
        cx.emit(ad::accumulate(to, from));
    }
}

fn clear_adjoint(cx: &mut dyn AdjointCx) {
    let shadow = shadow_of(cx, 0);
    cx.emit(ad::clear(shadow));
}

fn spread_adjoint(cx: &mut dyn AdjointCx) {
    if cx.is_varied(1) {
        let value = cx.operand_type(1);
        let ty = cx.types().cotangent(value);
        let shadow = shadow_of(cx, 0);
        let total = cx.emit(ad::total(shadow, ty));
        cx.accumulate(1, total);
    }
}

/// The adjoint of `ad.uncopy` is `ad.recopy`, and the other way about.
fn uncopy_adjoint(cx: &mut dyn AdjointCx) {
    let to = shadow_of(cx, 0);
    let from = cx.shadow(1).unwrap_or_else(|| build::nothing(cx.ctx()));
    let count = cx.operand(2);
    cx.emit(match cx.op() {
        ad::UNCOPY => ad::recopy(to, from, count),
        _ => ad::uncopy(to, from, count),
    });
}

/// Puts the slot back that was replaced.
fn set_slot_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(kept) = cx.kept(0) {
        let shadow = shadow_of(cx, 0);
        let indices = operands_from(cx, 2);
        cx.emit(ad::set_slot(shadow, kept, indices));
    }
}

fn put_back_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(kept) = cx.kept(0) {
        let shadow = shadow_of(cx, 0);
        let (first, last) = (cx.operand(2), cx.operand(3));
        cx.emit(ad::put_back(shadow, kept, first, last));
    }
}
