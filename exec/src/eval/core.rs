//! `core`: tuples, types, errors, output.

use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Type, TypeKind};

use super::EvalCx;
use super::scalars::scalar_constant;
use crate::error::Trap;
use crate::value::{Val, egal, print_within};

pub(super) fn tuple(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    cx.reserve_fields(args.len())?;
    Ok(Val::tuple(args.iter().cloned()))
}

pub(super) fn get(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value, Val::I64(index)] = args else { return Err(cx.wrong_types(args)) };
    let Some(items) = value.as_fields() else { return Err(cx.wrong_types(args)) };
    let item = usize::try_from(*index).ok().and_then(|index| items.get(index.checked_sub(1)?));
    item.cloned().ok_or_else(|| bounds(*index, items.len()))
}

/// An index that is out of bounds.
pub(super) fn bounds(index: i64, length: usize) -> Trap {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    regraft_dialects::semantics::Trap::Bounds { index, length }.into()
}

pub(super) fn select(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    match args {
        [Val::Bool(condition), x, y] => Ok(if *condition { x.clone() } else { y.clone() }),
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn convert(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    if value.is_a(cx.ctx, cx.ty) {
        return Ok(value.clone());
    }
    let converted = scalar_constant(value).and_then(|x| eval_scalar(cx.def.op, &[x], cx.ty));
    match converted {
        Some(result) => Ok(Val::constant(cx.ctx, result?)),
        None => {
            let (have, want) = (value.type_of(cx.ctx), cx.ty);
            let (have, want) = (cx.ctx.type_text(have), cx.ctx.type_text(want));
            Err(Trap::new(
                "MethodError",
                format!("cannot convert a value of type {have} to {want}"),
            ))
        }
    }
}

pub(super) fn typeassert(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    if value.is_a(cx.ctx, cx.ty) {
        return Ok(value.clone());
    }
    let (have, want) = (value.type_of(cx.ctx), cx.ty);
    let (have, want) = (cx.ctx.type_text(have), cx.ctx.type_text(want));
    Err(Trap::type_error(format!("in typeassert, expected {want}, found a value of type {have}")))
}

pub(super) fn isa(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    match args {
        &[ref value, Val::Type(ty)] => Ok(Val::Bool(value.is_a(cx.ctx, ty))),
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn type_of(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value] = args else { return Err(cx.wrong_types(args)) };
    // Where the type is known exactly, the declared result says it: that also holds for tuples
    // that are nested deeper than `type_of` looks.
    match cx.ctx.kind(cx.ty) {
        &TypeKind::TypeOf(ty) => Ok(Val::Type(ty)),
        _ => Ok(Val::Type(value.type_of(cx.ctx))),
    }
}

pub(super) fn same(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    match args {
        [x, y] => Ok(Val::Bool(egal(x, y))),
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn throw(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    Err(Trap::thrown(cx.ctx, args.first().unwrap_or(&Val::Unit)))
}

/// What `print` writes for a value, if there is memory for it.
fn printed(cx: &EvalCx<'_>, value: &Val) -> Result<String, Trap> {
    match print_within(cx.ctx, value, cx.host.remaining()) {
        Some(text) => Ok(text),
        None => Err(cx.host.memory_exceeded()),
    }
}

pub(super) fn print(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    for arg in args {
        let text = printed(cx, arg)?;
        cx.host.print(&text)?;
    }
    Ok(Val::Unit)
}

pub(super) fn println(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    print(cx, args)?;
    cx.host.print("\n")?;
    Ok(Val::Unit)
}

pub(super) fn string(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let mut text = String::new();
    for arg in args {
        let part = printed(cx, arg)?;
        cx.host.reserve(text.len() + part.len())?;
        text.push_str(&part);
    }
    debug_assert!(cx.ty == Type::STR);
    Ok(Val::str(text))
}
