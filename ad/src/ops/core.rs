//! Derivatives of `core`: values are taken apart and put together, and so are their tangents.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data};
use regraft_ir::{Constant, Op, Operand, Type};

use super::common::{
    accumulate_coerced, field_types, integer, is_active, new_shadow, no_adjoint, no_tangent,
    part_of_any, value_shadow, zero,
};
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpDerivative, ShadowCx, TangentCx};
use crate::tangent_builder as build;

const CONVERT: OpDerivative =
    OpDerivative::moving(Flow::Value, convert_tangent, same_shadow, convert_adjoint);

pub(super) const ROWS: &[(Op, OpDerivative)] = &[
    (core::TUPLE, OpDerivative::moving(Flow::Value, tuple_tangent, made_shadow, made_adjoint)),
    (core::GET, OpDerivative::moving(Flow::Value, get_tangent, get_shadow, get_adjoint)),
    (
        core::SELECT,
        OpDerivative::moving(Flow::Value, select_tangent, select_shadow, select_adjoint),
    ),
    (core::CONVERT, CONVERT),
    (core::TYPEASSERT, CONVERT),
    (core::GLOBAL, OpDerivative::moving(Flow::Global, global_tangent, global_shadow, no_adjoint)),
    (
        core::SET_GLOBAL,
        OpDerivative::moving(Flow::None, set_global_tangent, set_global_shadow, no_adjoint),
    ),
    (core::UNDEF, OpDerivative::moving(Flow::None, undef_tangent, undef_shadow, no_adjoint)),
    (core::THROW, OpDerivative::moving(Flow::None, no_tangent, new_shadow, no_adjoint)),
    (core::RETHROW, OpDerivative::moving(Flow::None, no_tangent, new_shadow, no_adjoint)),
];

pub(super) const CONSTANT: &[Op] = &[
    core::ISA,
    core::TYPEOF,
    core::SAME,
    core::HASH,
    core::SHOWN,
    core::PRINT,
    core::PRINTLN,
    core::STRING,
    core::CAUGHT,
    core::BACKTRACE,
];

pub(super) const NOT_IMPLEMENTED: &[(Op, &str)] = {
    const LOWERED: &str = "it only occurs in lowered code, which is not differentiated";
    const CATCHES: &str = "`lower-try` makes calls of it, which are differentiated";
    const OUTSIDE: &str = "what is done outside of the program has no derivative";
    &[
        (core::STATIC, LOWERED),
        (core::CLOSURE, LOWERED),
        (core::TRY, CATCHES),
        (core::HOST, OUTSIDE),
    ]
};

fn tuple_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let parts: Vec<Operand> = (0..cx.count()).map(|i| cx.tangent_or_zero(i)).collect();
    Some(cx.emit(core::tuple(parts)))
}

fn get_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let whole = cx.is_result_active().then(|| cx.tangent_or_zero(0))?;
    let index = constant_index(cx.constant(1));
    Some(part_of_any(cx, whole, index))
}

/// The position from 0 of a part that is named by its position from 1.
fn constant_index(index: Option<Constant>) -> usize {
    index.and_then(Constant::as_int).and_then(|i| usize::try_from(i - 1).ok()).unwrap_or(0)
}

fn select_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let result = cx.result_type();
    let want = cx.types().tangent(result);
    let (x, y) = (cx.tangent_or_zero(1), cx.tangent_or_zero(2));
    let (x, y) = (cx.coerced(x, want), cx.coerced(y, want));
    let condition = cx.operand(0);
    Some(cx.emit(core::select(condition, x, y)))
}

/// The tangent of a conversion: of one float type to another, converted likewise.
fn convert_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let tangent = cx.is_result_active().then(|| cx.tangent_or_zero(0))?;
    let (from, to) = (cx.operand_type(0), cx.result_type());
    Some(if from.is_float() && to.is_float() && cx.op() == core::CONVERT {
        cx.emit(core::convert(tangent, to))
    } else {
        tangent
    })
}

/// The tangent of the value of a global name: its objects have the same shadows as long as the program
/// runs, its floats are constant.
pub(super) fn global_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let value = cx.is_result_active().then(|| cx.result())??;
    let ty = cx.result_type();
    let of = cx.types().of(ty);
    let level = cx.level();
    let shadow = cx.emit(ad::global_shadow(value, level, of.shadow));
    Some(match cx.types().has_content(of.cotangent) {
        false => shadow,
        true => {
            let nothing = build::nothing(cx.ctx());
            cx.emit(ad::join(shadow, nothing, of.tangent))
        }
    })
}

const HIDDEN: &str = "a global variable that is set to something with a derivative hides it: pass \
                      it as an argument, or keep it in a `Ref`";

fn set_global_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if is_active(cx, 1) {
        cx.error(HIDDEN, "this has no derivative");
    }
    None
}

fn set_global_shadow(cx: &mut dyn ShadowCx) {
    if is_active(cx, 1) {
        cx.error(HIDDEN, "this has no derivative");
    }
}

fn undef_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    if !cx.is_result_active() {
        return None;
    }
    let result = cx.result_type();
    let tangent = cx.types().tangent(result);
    Some(if tangent.is_float() { zero(cx, tangent) } else { cx.emit(core::undef(tangent)) })
}

/// The shadow of a value that is made of others: made of theirs.
pub(super) fn made_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ctx = Arc::clone(cx.ctx());
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        let wants = build::part_types(&ctx, want);
        let mut shadows = Vec::with_capacity(cx.count());
        for i in 0..cx.count() {
            shadows.push(cx.shadow_as(i, wants.get(i).copied().unwrap_or(Type::ANY)));
        }
        if want != Type::ANY {
            return build::aggregate(&ctx, want, &shadows, &mut |inst| cx.emit(inst));
        }
        // A struct that contains itself: its shadow is known as any.
        let def = ctx.struct_of(ty);
        let fields = def.iter().flat_map(|def| &def.fields).map(|&(name, _)| (name, Type::ANY));
        let fields: Vec<_> = fields.collect();
        let made = cx.emit(data::named(shadows, ctx.named_type(&fields)));
        cx.coerced(made, want, false)
    });
}

fn get_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        let from = cx.shadow(0);
        let Some(from) = from else {
            // What is taken apart holds no object, whatever is known of its parts.
            return zero(cx, want);
        };
        let index = cx.operand(1);
        let part = match cx.type_of(from) == Type::ANY {
            true => cx.emit(data::getfield(from, index)),
            false => cx.emit(core::get(from, index)),
        };
        cx.coerced(part, want, false)
    });
}

fn select_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        let (x, y) = (cx.shadow_as(1, want), cx.shadow_as(2, want));
        let condition = cx.operand(0);
        cx.emit(core::select(condition, x, y))
    });
}

/// The shadow of what is the first operand, perhaps as another type.
pub(super) fn same_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        cx.shadow_as(0, want)
    });
}

pub(super) fn global_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        let (value, level) = (cx.result(), cx.level());
        cx.emit(ad::global_shadow(value, level, want))
    });
}

fn undef_shadow(cx: &mut dyn ShadowCx) {
    value_shadow(cx, |cx| {
        let ty = cx.result_type();
        let want = cx.types().shadow(ty);
        cx.emit(core::undef(want))
    });
}

/// The adjoint of a value that is made of others: each gets the cotangent of its part.
pub(super) fn made_adjoint(cx: &mut dyn AdjointCx) {
    let ty = cx.result_type();
    if cx.types().cotangent(ty) == Type::ANY {
        let Some(cotangent) = cx.cotangent() else { return };
        for i in (0..cx.count()).filter(|&i| cx.is_varied(i)).collect::<Vec<_>>() {
            let index = integer(cx.ctx(), i + 1);
            let part = cx.emit(data::getfield(cotangent, index));
            accumulate_coerced(cx, i, part, Type::ANY);
        }
        return;
    }
    let Some(found) = cx.cotangent_parts() else { return };
    let types = match cx.ctx().struct_of(ty) {
        Some(_) => field_types(cx.ctx(), ty),
        None => build::part_types(cx.ctx(), ty),
    };
    for (i, (part, &ty)) in found.into_iter().zip(&types).enumerate() {
        if let Some(part) = part {
            accumulate_coerced(cx, i, part, ty);
        }
    }
}

fn get_adjoint(cx: &mut dyn AdjointCx) {
    if let Some(cotangent) = cx.cotangent() {
        let index = constant_index(cx.constant(1));
        cx.accumulate_part(0, index, cotangent);
    }
}

fn select_adjoint(cx: &mut dyn AdjointCx) {
    let Some(cotangent) = cx.cotangent() else { return };
    let ty = cx.result_type();
    let condition = cx.operand(0);
    let zero_type = cx.types().cotangent(ty);
    let zero = zero(cx, zero_type);
    if cx.is_varied(1) {
        let x = cx.emit(core::select(condition, cotangent, zero));
        accumulate_coerced(cx, 1, x, ty);
    }
    if cx.is_varied(2) {
        let y = cx.emit(core::select(condition, zero, cotangent));
        accumulate_coerced(cx, 2, y, ty);
    }
}

pub(super) fn convert_adjoint(cx: &mut dyn AdjointCx) {
    let Some(cotangent) = cx.cotangent() else { return };
    let (from, to) = (cx.operand_type(0), cx.result_type());
    if from.is_float() && to.is_float() && from != to {
        let part = cx.emit(arith::float_cast(cotangent, from));
        cx.accumulate(0, part);
    } else {
        accumulate_coerced(cx, 0, cotangent, to);
    }
}
