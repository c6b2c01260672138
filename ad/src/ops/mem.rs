//! Derivatives of `mem`: what happens to arrays and refs happens to their shadows. A load adds to the
//! shadow of what was loaded; a store takes from the shadow of what was stored and leaves zero, since
//! what had been there before was overwritten.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, mem};
use regraft_ir::{Inst, Op, Operand, Type, TypeKind};

use super::common::{
    Written, accumulate_tangent, accumulate_total, back_result_shadow, element, emptied, initial,
    integer, is_active, is_known, keep_shadow_part, keeps_replaced, new_shadow, no_adjoint,
    object_shadow, operands_from, read_tangent, shadow_of, take_shadow, tangent_kind, unknown_type,
    value_shadow, without_cotangent, write_tangent, zero,
};
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpDerivative, ShadowCx, TangentCx};
use crate::tangent_builder::{self as build, TangentKind, element_type, inbounds};

const INTO: Flow = Flow::Into { object: 0, value: 1 };

pub(super) const ROWS: &[(Op, OpDerivative)] = &[
    (mem::ALLOC, OpDerivative::moving(Flow::None, alloc_tangent, alloc_shadow, no_adjoint)),
    (mem::FILL, OpDerivative::moving(Flow::New, new_tangent, fill_shadow, fill_adjoint)),
    (mem::ARRAY, OpDerivative::moving(Flow::New, array_tangent, array_shadow, array_adjoint)),
    (mem::REF_NEW, OpDerivative::moving(Flow::New, new_tangent, ref_shadow, array_adjoint)),
    (
        mem::LOAD,
        OpDerivative::moving(Flow::Read, read_tangent, read_shadow, read_adjoint).deferred(),
    ),
    (
        mem::REF_GET,
        OpDerivative::moving(Flow::Read, read_tangent, read_shadow, read_adjoint).deferred(),
    ),
    (mem::STORE, OpDerivative::moving(INTO, element_tangent, store_shadow, store_adjoint)),
    (mem::REF_SET, OpDerivative::moving(INTO, element_tangent, ref_set_shadow, store_adjoint)),
    (mem::PUSH, OpDerivative::moving(INTO, element_tangent, push_shadow, push_adjoint)),
    (mem::POP, OpDerivative::moving(Flow::Read, read_tangent, pop_shadow, pop_adjoint)),
    (
        mem::FILL_IN_PLACE,
        OpDerivative::moving(INTO, element_tangent, refill_shadow, refill_adjoint),
    ),
    (mem::RESIZE, OpDerivative::moving(Flow::None, resize_tangent, resize_shadow, resize_adjoint)),
    (mem::COPY, OpDerivative::moving(Flow::Copy, read_tangent, copy_shadow, copy_adjoint)),
    (
        mem::COPYTO,
        OpDerivative::moving(
            Flow::Elements { object: 0, source: 1, shares: true },
            copyto_tangent,
            copyto_shadow,
            copyto_adjoint,
        ),
    ),
];

pub(super) const CONSTANT: &[Op] =
    &[mem::LENGTH, mem::SIZE, mem::SHAPE, mem::RANK, mem::PROBE, mem::INDEX_ENTRIES];

pub(super) const NOT_IMPLEMENTED: &[(Op, &str)] = &[
    (
        mem::MAP,
        "it is made of a function of `math`, which has one, in what is not differentiated any more",
    ),
    (mem::LOAD_PART, PART),
    (mem::STORE_PART, PART),
    (mem::PUSH_PARTS, PART),
    (mem::LAST_PART, PART),
];

const PART: &str = "it is made of an access to a whole element, which has one, in what is not differentiated any more";

// Tangents.

/// A new array or ref with the tangents of the first operands, of which there are `elements`; the others
/// are dimensions.
fn made_tangent(cx: &mut dyn TangentCx, elements: usize, typed: bool) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let result = cx.result_type();
    let want = cx.types().tangent(result);
    let (TypeKind::Array { element, .. } | TypeKind::Ref(element)) = *cx.ctx().kind(want) else {
        unknown_type(cx);
        return None;
    };
    let mut operands = Vec::with_capacity(cx.count());
    for index in 0..elements {
        let tangent = cx.tangent_or_zero(index);
        operands.push(cx.coerced(tangent, element));
    }
    operands.extend(operands_from(cx, elements));
    let inst = Inst::new(cx.op()).operands(operands);
    Some(cx.emit(if typed { inst.with_type(want) } else { inst }))
}

fn alloc_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    made_tangent(cx, 0, true)
}

fn array_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let count = cx.count();
    made_tangent(cx, count, true)
}

fn new_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    made_tangent(cx, 1, false)
}

fn changed_tangent(cx: &mut dyn TangentCx, written: Written) -> Option<Operand> {
    if !is_active(cx, 0) || !is_known(cx) {
        return None;
    }
    write_tangent(cx, written)
}

fn element_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    changed_tangent(cx, Written::Element)
}

fn copyto_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    changed_tangent(cx, Written::Other)
}

fn resize_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    changed_tangent(cx, Written::Nothing)
}

// Shadows.

fn alloc_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let (element, shadow) = (element_type(cx.ctx(), ty), cx.types().shadow(ty));
        let dims = operands_from(cx, 0);
        if tangent_kind(cx, element).1 == TangentKind::Value {
            let tangent = cx.types().tangent(element);
            let zero = zero(cx, tangent);
            cx.emit(mem::fill(zero, dims))
        } else {
            cx.emit(mem::alloc(dims, shadow))
        }
    });
}

fn fill_shadow(cx: &mut dyn ShadowCx) {
    object_shadow(cx, |cx| {
        let element = element_type(cx.ctx(), cx.result_type());
        let value = initial(cx, 0, element);
        let dims = operands_from(cx, 1);
        cx.emit(mem::fill(value, dims))
    });
}

fn array_shadow(cx: &mut dyn ShadowCx) {
    object_shadow(cx, |cx| {
        let ty = cx.result_type();
        let element = element_type(cx.ctx(), ty);
        let tangents: Vec<Operand> = (0..cx.count()).map(|i| initial(cx, i, element)).collect();
        let shadow = cx.types().shadow(ty);
        cx.emit(mem::array(tangents, shadow))
    });
}

fn ref_shadow(cx: &mut dyn ShadowCx) {
    object_shadow(cx, |cx| {
        let element = element_type(cx.ctx(), cx.result_type());
        let value = initial(cx, 0, element);
        cx.emit(mem::ref_new(value))
    });
}

fn read_shadow(cx: &mut dyn ShadowCx) {
    if !cx.has_shadow(0) {
        return new_shadow(cx);
    }
    if !is_known(cx) {
        return;
    }
    if cx.result_has_shadow() {
        read_alike(cx);
    }
    if cx.is_result_varied() {
        cx.add_adjoint();
    }
}

/// Reads the shadow of the result in the shadow of the object.
pub(super) fn read_alike(cx: &mut dyn ShadowCx) {
    let ty = cx.result_type();
    let tangent = cx.types().tangent(ty);
    let shadow = shadow_of(cx, 0);
    let others = operands_from(cx, 1);
    let inst = Inst::new(cx.op()).operand(shadow).operands(others);
    let tangent = cx.emit(inst.with_attrs(cx.attrs()).with_type(tangent));
    cx.reads_alike(tangent);
    take_shadow(cx, tangent);
}

/// The shadow of a write to an active object: `keep` keeps what it replaces, `put` does the same to the
/// shadow.
fn change_shadow(cx: &mut dyn ShadowCx, keep: fn(&mut dyn ShadowCx), put: fn(&mut dyn ShadowCx)) {
    if cx.has_shadow(0) && is_known(cx) {
        keep(cx);
        put(cx);
        cx.add_adjoint();
    }
}

/// Puts what is put into an object into its shadow as well, as far as that has one.
fn put(cx: &mut dyn ShadowCx) {
    let element = element(cx, 0);
    if tangent_kind(cx, element).1 != TangentKind::Float {
        put_always(cx);
    }
}

fn put_always(cx: &mut dyn ShadowCx) {
    let element = element(cx, 0);
    let tangent = initial(cx, 1, element);
    let shadow = shadow_of(cx, 0);
    let others = operands_from(cx, 2);
    let inst = Inst::new(cx.op()).operands([shadow, tangent]).operands(others);
    cx.emit(inst.with_attrs(cx.attrs()));
}

fn keep_slot(cx: &mut dyn ShadowCx) {
    let element = element(cx, 0);
    if keeps_replaced(cx, element, true) {
        let shadow = shadow_of(cx, 0);
        let indices = operands_from(cx, 2);
        let kept = cx.emit_before(ad::slot(shadow, indices));
        cx.keep(kept);
    }
}

fn keep_content(cx: &mut dyn ShadowCx) {
    let element = element(cx, 0);
    if keeps_replaced(cx, element, true) {
        let shadow = shadow_of(cx, 0);
        let content = cx.emit_before(mem::ref_get(shadow));
        keep_shadow_part(cx, element, content);
    }
}

fn keep_elements(cx: &mut dyn ShadowCx) {
    let element = element(cx, 0);
    if keeps_replaced(cx, element, false) {
        let shadow = shadow_of(cx, 0);
        let kept = cx.emit_before(mem::copy(shadow));
        cx.keep(kept);
    }
}

fn store_shadow(cx: &mut dyn ShadowCx) {
    change_shadow(cx, keep_slot, put);
}

fn ref_set_shadow(cx: &mut dyn ShadowCx) {
    change_shadow(cx, keep_content, put);
}

fn push_shadow(cx: &mut dyn ShadowCx) {
    change_shadow(cx, |_| {}, put_always);
}

fn refill_shadow(cx: &mut dyn ShadowCx) {
    change_shadow(cx, keep_elements, put);
}

fn pop_shadow(cx: &mut dyn ShadowCx) {
    if !cx.has_shadow(0) {
        return new_shadow(cx);
    }
    if is_known(cx) {
        let shadow = shadow_of(cx, 0);
        let tangent = cx.emit(mem::pop(shadow));
        take_shadow(cx, tangent);
        cx.add_adjoint();
    }
}

fn resize_shadow(cx: &mut dyn ShadowCx) {
    let keep = |cx: &mut dyn ShadowCx| {
        let array = cx.operand(0);
        let length = cx.emit_before(mem::length(array));
        cx.keep(length);
        keep_elements(cx);
    };
    change_shadow(cx, keep, |cx| {
        let (shadow, length) = (shadow_of(cx, 0), cx.operand(1));
        cx.emit(mem::resize(shadow, length));
    });
}

fn copy_shadow(cx: &mut dyn ShadowCx) {
    if cx.has_shadow(0) && !is_known(cx) {
        return;
    }
    object_shadow(cx, |cx| {
        let ty = cx.result_type();
        let (element, shadow) = (element_type(cx.ctx(), ty), cx.types().shadow(ty));
        let result = cx.result();
        match (tangent_kind(cx, element).1, cx.has_shadow(0)) {
            (TangentKind::Float, _) => zeros_like(cx, shadow),
            // Nothing has come back to the copy, whatever is in the shadow already.
            (TangentKind::Value, _) | (_, false) => cx.emit(ad::zero(result, shadow)),
            (_, true) => {
                let from = shadow_of(cx, 0);
                cx.emit(mem::copy(from))
            }
        }
    });
}

/// An array of zeros of the shape of the result.
fn zeros_like(cx: &mut dyn ShadowCx, ty: Type) -> Operand {
    let result = cx.result();
    let rank = match *cx.ctx().kind(ty) {
        TypeKind::Array { rank, .. } => usize::from(rank),
        _ => return cx.emit(ad::zero(result, ty)),
    };
    let dims: Vec<Operand> = match rank {
        1 => vec![cx.emit(mem::length(result))],
        _ => (1..=rank)
            .map(|i| {
                let index = integer(cx.ctx(), i);
                cx.emit(mem::size(result, index))
            })
            .collect(),
    };
    cx.emit(mem::alloc(dims, ty))
}

fn copyto_shadow(cx: &mut dyn ShadowCx) {
    let keep = |cx: &mut dyn ShadowCx| {
        // What is constant may have another length on the way back: nothing undoes its changes.
        if !cx.has_shadow(1) {
            let source = cx.operand(1);
            let length = cx.emit_before(mem::length(source));
            cx.keep(length);
        }
        keep_elements(cx);
    };
    change_shadow(cx, keep, |cx| {
        let element = element(cx, 0);
        if cx.types().has_shadow(element) && cx.has_shadow(1) {
            let (dest, source) = (shadow_of(cx, 0), shadow_of(cx, 1));
            cx.emit(mem::copyto(dest, source));
        }
    });
}

// Adjoints.

fn fill_adjoint(cx: &mut dyn AdjointCx) {
    let element = element_type(cx.ctx(), cx.result_type());
    let shadow = back_result_shadow(cx);
    accumulate_total(cx, 0, shadow, element);
}

fn array_adjoint(cx: &mut dyn AdjointCx) {
    let element = element_type(cx.ctx(), cx.result_type());
    let shadow = back_result_shadow(cx);
    for i in 0..cx.count() {
        if cx.is_varied(i) {
            let inst = match cx.op() {
                mem::ARRAY => mem::load(shadow, [integer(cx.ctx(), i + 1)]),
                _ => mem::ref_get(shadow),
            };
            let tangent = cx.emit(inst);
            accumulate_tangent(cx, i, tangent, element);
        }
    }
}

fn read_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(cotangent) = cx.cotangent() {
        cx.add_later(cotangent);
    }
}

/// Gives the value what is in the shadow, where zero stays.
fn store_adjoint(cx: &mut dyn AdjointCx) {
    let element = element(cx, 0);
    let (of, kind) = tangent_kind(cx, element);
    if kind.has_cotangent() {
        let shadow = shadow_of(cx, 0);
        let indices = operands_from(cx, 2);
        let ctx = Arc::clone(cx.ctx());
        let is_ref = cx.op() == mem::REF_SET;
        let old = (kind == TangentKind::Mixed || cx.is_varied(1)).then(|| {
            cx.emit(match is_ref {
                true => mem::ref_get(shadow),
                false => mem::load(shadow, indices.iter().copied()).with_attrs(inbounds(&ctx)),
            })
        });
        if let Some(old) = old {
            accumulate_tangent(cx, 1, old, element);
        }
        match old {
            Some(old) if kind == TangentKind::Mixed => {
                let new = emptied(cx, of, old);
                cx.emit(match is_ref {
                    true => mem::ref_set(shadow, new),
                    false => mem::store(shadow, new, indices).with_attrs(inbounds(&ctx)),
                });
            }
            _ => cx.clear_later(old),
        }
    }
    let Some(kept) = cx.kept(0) else { return };
    let shadow = shadow_of(cx, 0);
    if cx.op() == mem::REF_SET {
        let tangent = without_cotangent(cx, kept, element);
        cx.emit(mem::ref_set(shadow, tangent));
    } else {
        let indices = operands_from(cx, 2);
        cx.emit(ad::set_slot(shadow, kept, indices));
    }
}

fn push_adjoint(cx: &mut dyn AdjointCx) {
    let element = element(cx, 0);
    let shadow = shadow_of(cx, 0);
    if tangent_kind(cx, element).1 == TangentKind::Shadow {
        // A later resize may have left an element of the shadow that is not defined.
        let (length, one) = (cx.emit(mem::length(shadow)), integer(cx.ctx(), 1));
        let before = cx.emit(arith::sub(length, one));
        cx.emit(mem::resize(shadow, before));
        return;
    }
    let tangent = cx.emit(mem::pop(shadow));
    accumulate_tangent(cx, 1, tangent, element);
}

fn pop_adjoint(cx: &mut dyn AdjointCx) {
    let ctx = Arc::clone(cx.ctx());
    let element = cx.result_type();
    let (of, kind) = tangent_kind(cx, element);
    let shadow = shadow_of(cx, 0);
    let cotangent = match cx.cotangent() {
        Some(cotangent) => cotangent,
        None => zero(cx, of.cotangent),
    };
    let own = match kind {
        TangentKind::Shadow | TangentKind::Mixed => back_result_shadow(cx),
        _ => cotangent,
    };
    let tangent = build::join_parts(&ctx, of, kind, own, cotangent, &mut |inst| cx.emit(inst));
    cx.emit(mem::push(shadow, tangent));
}

/// Puts so many elements of a shadow back.
fn put_back_first(cx: &mut dyn AdjointCx, shadow: Operand, kept: Operand, count: Operand) {
    let first = integer(cx.ctx(), 1);
    cx.emit(ad::put_back(shadow, kept, first, count));
}

/// Moves the cotangents of so many elements from one shadow to another, or to nothing.
fn uncopy(cx: &mut dyn AdjointCx, from: Operand, to: Option<Operand>, count: Operand) {
    let to = to.unwrap_or_else(|| build::nothing(cx.ctx()));
    cx.emit(ad::uncopy(from, to, count));
}

fn refill_adjoint(cx: &mut dyn AdjointCx) {
    let element = element(cx, 0);
    let shadow = shadow_of(cx, 0);
    accumulate_total(cx, 1, shadow, element);
    match tangent_kind(cx, element).1 {
        TangentKind::Float | TangentKind::Value => {
            let tangent = cx.types().tangent(element);
            let zero = zero(cx, tangent);
            cx.emit(mem::fill_in_place(shadow, zero));
        }
        TangentKind::Mixed => {
            let count = cx.emit(mem::length(shadow));
            uncopy(cx, shadow, None, count);
        }
        TangentKind::Shadow | TangentKind::None => {}
    }
    if let Some(kept) = cx.kept(0) {
        let count = cx.emit(mem::length(kept));
        put_back_first(cx, shadow, kept, count);
    }
}

/// Gives the shadow the length that it had, with zeros where something was cut off.
fn resize_adjoint(cx: &mut dyn AdjointCx) {
    let element = element(cx, 0);
    let (of, kind) = tangent_kind(cx, element);
    let shadow = shadow_of(cx, 0);
    let Some(length) = cx.kept(0) else { return };
    if let Some(kept) = cx.kept(1) {
        cx.emit(mem::resize(shadow, length));
        let cut = cx.operand(1);
        let one = integer(cx.ctx(), 1);
        let first = cx.emit(arith::add(cut, one));
        cx.emit(ad::put_back(shadow, kept, first, length));
        return;
    }
    let array = cx.type_of(shadow);
    if !matches!(kind, TangentKind::Value | TangentKind::Mixed) || array == Type::ANY {
        cx.emit(mem::resize(shadow, length));
        return;
    }
    let Some(name) = cx.resize_shadow_with(array, of.tangent) else { return };
    let ctx = Arc::clone(cx.ctx());
    let mut emit = |inst| cx.emit(inst);
    let nothing = build::zero(&ctx, of.shadow, &mut emit);
    let zero = build::zero(&ctx, of.cotangent, &mut emit);
    let zero = build::join_parts(&ctx, of, kind, nothing, zero, &mut emit);
    cx.emit(core::call(build::function(&ctx, name), [shadow, length, zero], Type::UNIT));
}

fn copy_adjoint(cx: &mut dyn AdjointCx) {
    if !cx.has_shadow(0) {
        return;
    }
    let element = element_type(cx.ctx(), cx.result_type());
    match tangent_kind(cx, element).1 {
        TangentKind::Float | TangentKind::Value => {
            let (to, from) = (shadow_of(cx, 0), back_result_shadow(cx));
            cx.emit(ad::accumulate(to, from));
        }
        TangentKind::Mixed => {
            let (to, from) = (shadow_of(cx, 0), back_result_shadow(cx));
            let count = cx.emit(mem::length(from));
            uncopy(cx, from, Some(to), count);
        }
        TangentKind::Shadow | TangentKind::None => {}
    }
}

fn copyto_adjoint(cx: &mut dyn AdjointCx) {
    let from = shadow_of(cx, 0);
    let Some(to) = cx.shadow(1) else {
        // What came instead of what was there is a constant.
        let Some(count) = cx.kept(0) else { return };
        uncopy(cx, from, None, count);
        if let Some(kept) = cx.kept(1) {
            put_back_first(cx, from, kept, count);
        }
        return;
    };
    let count = cx.emit(mem::length(to));
    uncopy(cx, from, Some(to), count);
    if let Some(kept) = cx.kept(0) {
        // An array that was copied to itself has stayed what it was.
        let same = cx.emit(core::same(from, to));
        let none = integer(cx.ctx(), 0);
        let count = cx.emit(core::select(same, none, count));
        put_back_first(cx, from, kept, count);
    }
}
