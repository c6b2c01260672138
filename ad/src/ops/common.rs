//! Pieces that the rows of several dialects are made of.

use std::sync::Arc;

use regraft_dialects::{ad, data, mem};
use regraft_ir::{Constant, Context, Inst, Operand, Type};

use crate::op_derivative::{AdjointCx, OpCx, ShadowCx, TangentCx};
use crate::tangent::TangentType;
use crate::tangent_builder::{self as build, TangentKind, element_type, field_of, replace_part};

/// Returns whether an operand is varied or has a shadow.
pub(super) fn is_active(cx: &dyn OpCx, index: usize) -> bool {
    cx.is_varied(index) || cx.has_shadow(index)
}

/// The operands from a position on.
pub(super) fn operands_from(cx: &mut dyn OpCx, first: usize) -> Vec<Operand> {
    (first..cx.count()).map(|index| cx.operand(index)).collect()
}

pub(super) fn integer(ctx: &Context, i: usize) -> Operand {
    ctx.constant_id(Constant::I64(i as i64)).into()
}

/// The zero of a tangent, shadow or cotangent type.
pub(super) fn zero(cx: &mut dyn OpCx, ty: Type) -> Operand {
    let ctx = Arc::clone(cx.ctx());
    build::zero(&ctx, ty, &mut |inst| cx.emit(inst))
}

/// A part of a tuple or named tuple, counted from 0.
pub(super) fn part(cx: &mut dyn OpCx, of: Operand, index: usize) -> Operand {
    let ctx = Arc::clone(cx.ctx());
    build::part(&ctx, of, index, &mut |inst| cx.emit(inst))
}

/// A part of a tuple or named tuple, which may be known as `any`.
pub(super) fn part_of_any(cx: &mut dyn OpCx, of: Operand, index: usize) -> Operand {
    if cx.type_of(of) == Type::ANY {
        let index = integer(cx.ctx(), index + 1);
        cx.emit(data::getfield(of, index))
    } else {
        part(cx, of, index)
    }
}

/// The tangent types of values of a type, and their kind.
pub(super) fn tangent_kind(cx: &mut dyn OpCx, ty: Type) -> (TangentType, TangentKind) {
    (cx.types().of(ty), TangentKind::of(cx.types(), ty))
}

/// The element type of an operand that is an array or ref.
pub(super) fn element(cx: &dyn OpCx, index: usize) -> Type {
    element_type(cx.ctx(), cx.operand_type(index))
}

/// Reports that a derivative depends on a type that is not known.
pub(super) fn unknown_type(cx: &mut dyn OpCx) {
    let name = cx.ctx().def(cx.op()).mnemonic();
    let message = format!("the derivative of `{name}` depends on a type that is not known here");
    cx.error(&message, "its operand is of type any");
}

/// Returns whether the type of the object that an op is about is known; reports it if not.
pub(super) fn is_known(cx: &mut dyn OpCx) -> bool {
    let is_known = cx.operand_type(0) != Type::ANY;
    if !is_known {
        unknown_type(cx);
    }
    is_known
}

/// The index from 0 and the type of the field that an operand names.
pub(super) fn known_field(cx: &dyn OpCx, of: usize, name: usize) -> Option<(usize, Type)> {
    field_of(cx.ctx(), cx.operand_type(of), cx.constant(name)?)
}

/// Returns whether the fields of an operand are in memory.
pub(super) fn is_object(cx: &dyn OpCx, index: usize) -> bool {
    cx.ctx().struct_of(cx.operand_type(index)).is_some_and(|def| def.mutable)
}

/// The types of the fields of a struct type.
pub(super) fn field_types(ctx: &Context, ty: Type) -> Vec<Type> {
    ctx.struct_of(ty).map_or_else(Vec::new, |def| def.fields.iter().map(|&(_, ty)| ty).collect())
}

/// A tangent that is zero.
pub(super) fn no_tangent(_: &mut dyn TangentCx) -> Option<Operand> {
    None
}

/// An adjoint that gives nothing to anything.
pub(super) fn no_adjoint(_: &mut dyn AdjointCx) {}

/// The tangent of a read: the same read of the shadow.
pub(super) fn read_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !is_known(cx) {
        return None;
    }
    let shadow = cx.tangent_or_zero(0);
    let others = operands_from(cx, 1);
    let inst = Inst::new(cx.op()).operand(shadow).operands(others).with_attrs(cx.attrs());
    Some(cx.emit(inst))
}

/// The operand that a write puts into an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Nothing,
    /// An element, of the type that the object holds.
    Element,
    /// Something else: its tangent stands for it as it is.
    Other,
}

/// The tangent of a write: the same write to the shadow.
pub(super) fn write_tangent(cx: &mut dyn TangentCx, written: Written) -> Option<Operand> {
    let shadow = cx.tangent_or_zero(0);
    let mut operands = vec![shadow];
    if written != Written::Nothing {
        let mut tangent = cx.tangent_or_zero(1);
        if written == Written::Element {
            let want = element_type(cx.ctx(), cx.type_of(shadow));
            tangent = cx.coerced(tangent, want);
        }
        operands.push(tangent);
    }
    let others = operands_from(cx, operands.len());
    operands.extend(others);
    cx.emit(Inst::new(cx.op()).operands(operands).with_attrs(cx.attrs()));
    None
}

/// The shadow of zeros of the result.
pub(super) fn zero_shadow(cx: &mut dyn ShadowCx) -> Operand {
    let ty = cx.result_type();
    let (of, kind) = tangent_kind(cx, ty);
    build::zero_shadow(of, kind, cx.result(), &mut |inst| cx.emit(inst))
}

/// Makes the shadow of a result that is no object of its own, and lets its cotangent go to the operands.
pub(super) fn value_shadow(cx: &mut dyn ShadowCx, make: fn(&mut dyn ShadowCx) -> Operand) {
    if cx.result_has_shadow() {
        let shadow = make(cx);
        cx.set_shadow(shadow);
    }
    if cx.is_result_varied() {
        cx.add_adjoint();
    }
}

/// Makes the shadow of a result that is a new object; what comes to it goes to the operands.
pub(super) fn object_shadow(cx: &mut dyn ShadowCx, make: fn(&mut dyn ShadowCx) -> Operand) {
    let is_made = cx.result_has_shadow() && (0..cx.count()).any(|index| is_active(cx, index));
    value_shadow(cx, make);
    if is_made {
        cx.add_adjoint();
    }
}

/// Makes the shadow of zeros of a result that has one, whatever the operands are.
pub(super) fn new_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, zero_shadow);
}

/// Reports an object without a shadow.
fn missing(cx: &mut dyn OpCx) -> Operand {
    cx.error("an object that has no shadow is differentiated", "this has no derivative");
    build::nothing(cx.ctx())
}

/// The shadow of an operand that has one.
pub(super) fn shadow_of(cx: &mut dyn OpCx, index: usize) -> Operand {
    cx.shadow(index).unwrap_or_else(|| missing(cx))
}

/// Lets the shadow part of the tangent of the result be its shadow.
pub(super) fn take_shadow(cx: &mut dyn ShadowCx, tangent: Operand) {
    if !cx.result_has_shadow() {
        return;
    }
    let ctx = Arc::clone(cx.ctx());
    let ty = cx.result_type();
    let (of, kind) = tangent_kind(cx, ty);
    let shadow = build::shadow_part(&ctx, of, kind, tangent, &mut |inst| cx.emit(inst));
    let shadow = cx.coerced(shadow, of.shadow, false);
    cx.set_shadow(shadow);
}

/// The tangent of type `ty` that a shadow holds for an operand of which no cotangent has come yet.
pub(super) fn initial(cx: &mut dyn ShadowCx, index: usize, ty: Type) -> Operand {
    let ctx = Arc::clone(cx.ctx());
    let (of, kind) = tangent_kind(cx, ty);
    let shadow = cx.shadow_as(index, of.shadow);
    let mut emit = |inst| cx.emit(inst);
    let zero = build::zero(&ctx, of.cotangent, &mut emit);
    let tangent = build::join_parts(&ctx, of, kind, shadow, zero, &mut emit);
    cx.coerced(tangent, of.tangent, false)
}

/// Returns whether the shadows that a write replaces are kept: whoever passed the object finds them in
/// its shadow after the reverse sweep. What nobody else knows stays as it is. `one` says that a single
/// place is written, which holds values of type `held`.
pub(super) fn keeps_replaced(cx: &mut dyn ShadowCx, held: Type, one: bool) -> bool {
    let held = cx.types().shadow(held);
    let may_stay = one || !build::may_vary(cx.ctx(), held);
    let is_private = may_stay && cx.is_private(0);
    !is_private && cx.types().has_content(held)
}

/// Keeps the shadow part of the tangent of a value of type `ty`.
pub(super) fn keep_shadow_part(cx: &mut dyn ShadowCx, ty: Type, tangent: Operand) {
    let ctx = Arc::clone(cx.ctx());
    let (of, kind) = tangent_kind(cx, ty);
    let kept = build::shadow_part(&ctx, of, kind, tangent, &mut |inst| cx.emit_before(inst));
    cx.keep(kept);
}

/// The shadow of the result on the way back.
pub(super) fn back_result_shadow(cx: &mut dyn AdjointCx) -> Operand {
    cx.result_shadow().unwrap_or_else(|| missing(cx))
}

/// Gives an operand the cotangent of a value of type `from`.
pub(super) fn accumulate_coerced(
    cx: &mut dyn AdjointCx,
    index: usize,
    cotangent: Operand,
    from: Type,
) {
    if cx.is_varied(index) {
        let to = cx.operand_type(index);
        let cotangent = cx.coerce(cotangent, from, to);
        cx.accumulate(index, cotangent);
    }
}

/// Gives an operand the cotangent part of the tangent of a value of type `ty`.
pub(super) fn accumulate_tangent(cx: &mut dyn AdjointCx, index: usize, tangent: Operand, ty: Type) {
    if !cx.is_varied(index) {
        return;
    }
    let (of, kind) = tangent_kind(cx, ty);
    if kind.has_cotangent() {
        let ctx = Arc::clone(cx.ctx());
        let part = build::cotangent_part(&ctx, of, kind, tangent, &mut |inst| cx.emit(inst));
        accumulate_coerced(cx, index, part, ty);
    }
}

/// Gives an operand that all elements of an array were set to the sum of their cotangents.
pub(super) fn accumulate_total(
    cx: &mut dyn AdjointCx,
    index: usize,
    shadow: Operand,
    element: Type,
) {
    if cx.is_varied(index) {
        let ty = cx.types().cotangent(element);
        let total = cx.emit(ad::total(shadow, ty));
        accumulate_coerced(cx, index, total, element);
    }
}

/// A tangent of which nothing is left but the objects of which the place that it is in always holds
/// some: what was in it before may have been a number, or made of other parts.
pub(super) fn emptied(cx: &mut dyn AdjointCx, of: TangentType, tangent: Operand) -> Operand {
    let ctx = Arc::clone(cx.ctx());
    let mut emit = |inst| cx.emit(inst);
    let old = build::shadow_part(&ctx, of, TangentKind::Mixed, tangent, &mut emit);
    let shadow = build::lasting(&ctx, of.shadow, old, &mut emit);
    let zero = build::zero(&ctx, of.cotangent, &mut emit);
    build::join_parts(&ctx, of, TangentKind::Mixed, shadow, zero, &mut emit)
}

/// The tangent of a value of type `ty` of this shadow and no cotangent.
pub(super) fn without_cotangent(cx: &mut dyn AdjointCx, mut shadow: Operand, ty: Type) -> Operand {
    let ctx = Arc::clone(cx.ctx());
    let (of, kind) = tangent_kind(cx, ty);
    let zero = zero(cx, of.cotangent);
    if kind == TangentKind::Mixed {
        // Said again, since on a tape of unknown type it counts as something with numbers in it.
        shadow = cx.emit(ad::shadow(shadow, of.shadow));
    }
    build::join_parts(&ctx, of, kind, shadow, zero, &mut |inst| cx.emit(inst))
}

/// Sets a part of what the shadow of an object holds.
pub(super) fn set_part(
    cx: &mut dyn OpCx,
    shadow: Operand,
    named: Type,
    content: Operand,
    index: usize,
    new: Operand,
) {
    let ctx = Arc::clone(cx.ctx());
    let made = replace_part(&ctx, named, content, index, new, &mut |inst| cx.emit(inst));
    cx.emit(mem::ref_set(shadow, made));
}

/// A named tuple or struct tangent of these parts, each as one of the type of its field.
pub(super) fn named(cx: &mut dyn TangentCx, parts: &[Operand], named: Type) -> Operand {
    let fields = build::part_types(cx.ctx(), named);
    let mut made = Vec::with_capacity(parts.len());
    for (&part, want) in parts.iter().zip(fields) {
        let fits = cx.type_of(part).is_assignable_to(want);
        made.push(if fits { part } else { cx.coerced(part, want) });
    }
    cx.emit(data::named(made, named))
}
