//! Derivatives of `data`: the tangent of a struct is a named tuple; the shadow of an object of a mutable
//! struct is a ref to one.

use std::sync::Arc;

use regraft_dialects::{arith, core, data, mem};
use regraft_ir::{Op, Operand, Type, TypeKind};

use super::common::{
    accumulate_tangent, back_result_shadow, emptied, field_types, initial, integer, is_active,
    is_known, is_object, keep_shadow_part, keeps_replaced, known_field, named, object_shadow, part,
    part_of_any, set_part, shadow_of, tangent_kind, unknown_type, value_shadow, without_cotangent,
    zero,
};
use super::core::{made_adjoint, made_shadow};
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpCx, OpDerivative, ShadowCx, TangentCx};
use crate::tangent_builder::{self as build, TangentKind, element_type};

const MADE: OpDerivative =
    OpDerivative::moving(Flow::Value, made_tangent, made_shadow, made_adjoint);

pub(super) const ROWS: &[(Op, OpDerivative)] = &[
    (data::NAMED, MADE),
    (data::NEW, MADE),
    (data::NEW_OBJECT, OpDerivative::moving(Flow::New, new_tangent, new_shadow, new_adjoint)),
    (data::GETFIELD, OpDerivative::moving(Flow::Field, get_tangent, get_shadow, get_adjoint)),
    (
        data::SETFIELD,
        OpDerivative::moving(
            Flow::Into { object: 0, value: 2 },
            set_tangent,
            set_shadow,
            set_adjoint,
        ),
    ),
];

pub(super) const CONSTANT: &[Op] = &[data::FIELDCOUNT, data::HASFIELD];

const UNKNOWN_FIELDS: &str = "fields of a value whose type is not known have no derivative";
const UNKNOWN_FIELD: &str = "a field that is known only when the program runs has no derivative";
const LABEL: &str = "this has no derivative";

/// The type of the named tuple that the shadow of an object of a type holds.
fn content_type(cx: &mut dyn OpCx, ty: Type) -> Option<Type> {
    let shadow = cx.types().object_shadow(ty)?;
    Some(element_type(cx.ctx(), shadow))
}

/// The tangent of a named tuple or immutable struct.
fn made_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let parts: Vec<Operand> = (0..cx.count()).map(|i| cx.tangent_or_zero(i)).collect();
    let ty = cx.result_type();
    let want = cx.types().tangent(ty);
    let ctx = Arc::clone(cx.ctx());
    let made = match (ctx.kind(want), ctx.struct_of(ty)) {
        (TypeKind::Named(_), _) | (_, None) => want,
        // A struct that contains itself is known as `any`, but is this.
        (_, Some(def)) => {
            let fields = def.fields.iter().map(|&(name, ty)| (name, cx.types().tangent(ty)));
            ctx.named_type(&fields.collect::<Vec<_>>())
        }
    };
    Some(named(cx, &parts, made))
}

fn new_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let ty = cx.result_type();
    let Some(inner) = content_type(cx, ty) else {
        unknown_type(cx);
        return None;
    };
    let parts: Vec<Operand> = (0..cx.count()).map(|i| cx.tangent_or_zero(i)).collect();
    let fields = named(cx, &parts, inner);
    Some(cx.emit(mem::ref_new(fields)))
}

/// The shadow of the object that is the first operand, and what it holds.
fn shadow_content(cx: &mut dyn TangentCx) -> (Operand, Operand) {
    let mut shadow = cx.tangent_or_zero(0);
    let ty = cx.operand_type(0);
    let known = cx.types().object_shadow(ty);
    if let Some(known) = known.filter(|&known| known != cx.type_of(shadow)) {
        shadow = cx.emit(core::typeassert(shadow, known));
    }
    (shadow, cx.emit(mem::ref_get(shadow)))
}

fn get_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() || !is_known(cx) {
        return None;
    }
    let known = known_field(cx, 0, 1);
    let field = cx.operand(1);
    let fields = match is_object(cx, 0) {
        true => shadow_content(cx).1,
        false => cx.tangent_or_zero(0),
    };
    Some(match known {
        Some((index, _)) => part_of_any(cx, fields, index),
        None => cx.emit(data::getfield(fields, field)),
    })
}

/// The shadow gets a named tuple with the tangent of the value in its place.
fn set_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !is_active(cx, 0) || !is_known(cx) {
        return None;
    }
    let (known, ty) = (known_field(cx, 0, 1), cx.operand_type(0));
    let (Some((index, _)), Some(inner)) = (known, content_type(cx, ty)) else {
        let message = "which field is set is not known here, so that its derivative is not";
        cx.error(message, "here");
        return None;
    };
    let count = build::part_types(cx.ctx(), inner).len();
    let value = cx.tangent_or_zero(2);
    let (shadow, fields) = shadow_content(cx);
    let mut parts = Vec::with_capacity(count);
    for i in 0..count {
        parts.push(if i == index { value } else { part_of_any(cx, fields, i) });
    }
    let fields = named(cx, &parts, inner);
    cx.emit(mem::ref_set(shadow, fields));
    None
}

fn new_shadow(cx: &mut dyn ShadowCx) {
    object_shadow(cx, |cx| {
        let ctx = Arc::clone(cx.ctx());
        let ty = cx.result_type();
        let Some(inner) = content_type(cx, ty) else {
            cx.error(UNKNOWN_FIELDS, LABEL);
            return build::nothing(&ctx);
        };
        let fields = field_types(&ctx, ty);
        let tangents: Vec<Operand> =
            fields.iter().take(cx.count()).enumerate().map(|(i, &ty)| initial(cx, i, ty)).collect();
        let content = cx.emit(data::named(tangents, inner));
        let made = cx.emit(mem::ref_new(content));
        let want = cx.types().shadow(ty);
        cx.coerced(made, want, false)
    });
}

/// The shadow of the object that is the first operand, before the op or after it, and the type of what
/// it holds.
fn object_content(cx: &mut dyn ShadowCx, before: bool) -> Option<(Operand, Type)> {
    let ty = cx.operand_type(0);
    let Some(want) = cx.types().object_shadow(ty) else {
        cx.error(UNKNOWN_FIELDS, LABEL);
        return None;
    };
    let shadow = shadow_of(cx, 0);
    let shadow = cx.coerced(shadow, want, before);
    Some((shadow, element_type(cx.ctx(), want)))
}

fn get_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ctx = Arc::clone(cx.ctx());
        let ty = cx.result_type();
        let want = cx.types().of(ty);
        if is_object(cx, 0) {
            let Some((shadow, _)) = object_content(cx, false) else { return build::nothing(&ctx) };
            let content = cx.emit(mem::ref_get(shadow));
            let field = cx.operand(1);
            let tangent = cx.emit(data::getfield(content, field));
            let tangent = cx.coerced(tangent, want.tangent, false);
            let (of, kind) = tangent_kind(cx, ty);
            return build::shadow_part(&ctx, of, kind, tangent, &mut |inst| cx.emit(inst));
        }
        let Some(from) = cx.shadow(0) else {
            // What is taken apart holds no object, whatever is known of its parts.
            return zero(cx, want.shadow);
        };
        if cx.operand_type(0) == Type::ANY {
            cx.error(UNKNOWN_FIELDS, LABEL);
            return build::nothing(&ctx);
        }
        let field = cx.operand(1);
        let part = cx.emit(data::getfield(from, field));
        cx.coerced(part, want.shadow, false)
    });
}

fn set_shadow(cx: &mut dyn ShadowCx) {
    if !cx.has_shadow(0) {
        return;
    }
    let known = known_field(cx, 0, 1);
    let held = known.map_or(Type::UNIT, |(_, ty)| ty);
    if keeps_replaced(cx, held, true)
        && let Some((shadow, _)) = object_content(cx, true)
        && let Some((index, _)) = known
    {
        let ctx = Arc::clone(cx.ctx());
        let content = cx.emit_before(mem::ref_get(shadow));
        let part = build::part(&ctx, content, index, &mut |inst| cx.emit_before(inst));
        keep_shadow_part(cx, held, part);
    }
    let Some((index, field)) = known else { return cx.error(UNKNOWN_FIELD, LABEL) };
    // The cotangent of a number is zero until the way back.
    if !matches!(tangent_kind(cx, field).1, TangentKind::None | TangentKind::Float) {
        let Some((shadow, named)) = object_content(cx, false) else { return };
        let tangent = initial(cx, 2, field);
        let old = cx.emit(mem::ref_get(shadow));
        set_part(cx, shadow, named, old, index, tangent);
    }
    cx.add_adjoint();
}

fn new_adjoint(cx: &mut dyn AdjointCx) {
    let shadow = back_result_shadow(cx);
    let ty = cx.result_type();
    let Some((shadow, _)) = content_back(cx, shadow, ty) else { return };
    let content = cx.emit(mem::ref_get(shadow));
    let fields = field_types(cx.ctx(), ty);
    for (i, &field) in fields.iter().enumerate().take(cx.count()) {
        if cx.is_varied(i) {
            let tangent = part(cx, content, i);
            accumulate_tangent(cx, i, tangent, field);
        }
    }
}

/// The shadow of an object of type `ty` on the way back, and the type of what it holds.
fn content_back(cx: &mut dyn AdjointCx, shadow: Operand, ty: Type) -> Option<(Operand, Type)> {
    let Some(want) = cx.types().object_shadow(ty) else {
        cx.error(UNKNOWN_FIELDS, LABEL);
        return None;
    };
    let shadow = match cx.type_of(shadow) == want {
        true => shadow,
        false => cx.emit(core::typeassert(shadow, want)),
    };
    Some((shadow, element_type(cx.ctx(), want)))
}

fn get_adjoint(cx: &mut dyn AdjointCx) {
    let Some(cotangent) = cx.cotangent() else { return };
    let (ty, own) = (cx.operand_type(0), cx.result_type());
    let known = known_field(cx, 0, 1);
    if !is_object(cx, 0) {
        if let Some((index, field)) = known {
            let part = cx.coerce(cotangent, own, field);
            return cx.accumulate_part(0, index, part);
        }
        let parts = build::part_types(cx.ctx(), ty);
        if cx.operand_type(1) != Type::I64 || parts.is_empty() {
            return cx.error(UNKNOWN_FIELD, LABEL);
        }
        let index = cx.operand(1);
        for (i, part_type) in parts.into_iter().enumerate() {
            if !cx.types().has_cotangent(part_type) {
                continue;
            }
            let number = integer(cx.ctx(), i + 1);
            let here = cx.emit(arith::eq(index, number));
            let zero_type = cx.types().cotangent(own);
            let zero = zero(cx, zero_type);
            let part = cx.emit(core::select(here, cotangent, zero));
            let part = cx.coerce(part, own, part_type);
            cx.accumulate_part(0, i, part);
        }
        return;
    }
    let Some((index, field)) = known else { return cx.error(UNKNOWN_FIELD, LABEL) };
    let shadow = shadow_of(cx, 0);
    let Some((shadow, named)) = content_back(cx, shadow, ty) else { return };
    let content = cx.emit(mem::ref_get(shadow));
    let old = part(cx, content, index);
    let (of, kind) = tangent_kind(cx, field);
    let cotangent = cx.coerce(cotangent, own, field);
    let ctx = Arc::clone(cx.ctx());
    let mut emit = |inst| cx.emit(inst);
    let new = build::increased(&ctx, of, kind, old, cotangent, &mut emit);
    set_part(cx, shadow, named, content, index, new);
}

fn set_adjoint(cx: &mut dyn AdjointCx) {
    let ty = cx.operand_type(0);
    let Some((index, field)) = known_field(cx, 0, 1) else {
        return cx.error(UNKNOWN_FIELD, LABEL);
    };
    let (of, kind) = tangent_kind(cx, field);
    if kind.has_cotangent() {
        let shadow = shadow_of(cx, 0);
        let Some((shadow, named)) = content_back(cx, shadow, ty) else { return };
        let content = cx.emit(mem::ref_get(shadow));
        let old = part(cx, content, index);
        accumulate_tangent(cx, 2, old, field);
        let new = match kind {
            TangentKind::Mixed => emptied(cx, of, old),
            _ => zero(cx, of.cotangent),
        };
        set_part(cx, shadow, named, content, index, new);
    }
    let Some(kept) = cx.kept(0) else { return };
    let shadow = shadow_of(cx, 0);
    let Some((shadow, named)) = content_back(cx, shadow, ty) else { return };
    let tangent = without_cotangent(cx, kept, field);
    let content = cx.emit(mem::ref_get(shadow));
    set_part(cx, shadow, named, content, index, tangent);
}
