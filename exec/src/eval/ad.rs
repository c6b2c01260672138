//! `ad`: tangents whose types are not known before the program runs.

use super::EvalCx;
use crate::error::Trap;
use crate::value::{Shared, Tangents, Val};

/// The operations, for the values of this program.
fn tangents<'a>(cx: &'a EvalCx<'_>) -> Tangents<'a> {
    Tangents::new(cx.ctx, cx.host)
}

pub(super) fn zero(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).zero(x)
}

pub(super) fn shadow(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [tangent] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).shadow(tangent)
}

pub(super) fn cotangent(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [tangent] = args else { return Err(cx.wrong_types(args)) };
    let cotangent = tangents(cx).cotangent(tangent)?;
    tangents(cx).unbox(&cotangent, cx.ty)
}

pub(super) fn join(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [shadow, cotangent] = args else { return Err(cx.wrong_types(args)) };
    let tangent = tangents(cx).join(shadow, cotangent)?;
    // A cotangent that is not there is zero.
    tangents(cx).unbox(&tangent, cx.ty)
}

pub(super) fn add(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x, y] = args else { return Err(cx.wrong_types(args)) };
    let sum = tangents(cx).sum(x, y)?;
    tangents(cx).unbox(&sum, cx.ty)
}

pub(super) fn unbox(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).unbox(x, cx.ty)
}

pub(super) fn accumulate(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [shadow, tangent] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).accumulate(shadow, tangent)?;
    Ok(Val::Unit)
}

pub(super) fn clear(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [shadow] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).clear(shadow)?;
    Ok(Val::Unit)
}

pub(super) fn copy(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x] = args else { return Err(cx.wrong_types(args)) };
    tangents(cx).copy(x)
}

pub(super) fn ignore(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    match args {
        [x] => Ok(x.clone()),
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn global_shadow(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [x, Val::I64(level)] = args else { return Err(cx.wrong_types(args)) };
    let level = in_reach(*level);
    tangents(cx).global_shadow(x, level)
}

pub(super) fn begin(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::I64(level)] = args else { return Err(cx.wrong_types(args)) };
    cx.host.begin_derivative(in_reach(*level));
    Ok(Val::Unit)
}

pub(super) fn end(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::I64(level)] = args else { return Err(cx.wrong_types(args)) };
    cx.host.end_derivative(in_reach(*level));
    Ok(Val::Unit)
}

/// Nobody differentiates more often than that; any other level is taken for the nearest.
fn in_reach(level: i64) -> usize {
    level.clamp(1, 256) as usize
}

pub(super) fn total(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow)] = args else { return Err(cx.wrong_types(args)) };
    // Of floats, the sum begins with the first one, as code that adds them up would.
    let mut total = Val::Unit;
    for i in 0..shadow.len() {
        if let Some(element) = shadow.get(i) {
            let part = tangents(cx).cotangent(&element)?;
            total = tangents(cx).sum(&total, &part)?;
        }
    }
    tangents(cx).unbox(&total, cx.ty)
}

pub(super) fn uncopy(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(dest), source, Val::I64(count)] = args else {
        return Err(cx.wrong_types(args));
    };
    let source = match source {
        Val::Array(source) => Some(source),
        Val::Unit => None,
        _ => return Err(cx.wrong_types(args)),
    };
    let least = source.map_or(dest.len(), |source| source.len().min(dest.len()));
    let count = usize::try_from(*count).unwrap_or(0);
    if count > least {
        return Err(super::core::bounds(count as i64, least));
    }
    // An array that was copied to itself has stayed what it was.
    if source.is_some_and(|source| Shared::ptr_eq(source, dest)) {
        return Ok(Val::Unit);
    }
    for i in 0..count {
        let Some(tangent) = dest.get(i) else { continue };
        let shadow = tangents(cx).shadow(&tangent)?;
        let part = tangents(cx).cotangent(&tangent)?;
        if let Some(source) = source {
            let old = source.get(i).unwrap_or(Val::Unit);
            let sum = tangents(cx).sum(&tangents(cx).cotangent(&old)?, &part)?;
            let joined = tangents(cx).join(&tangents(cx).shadow(&old)?, &sum)?;
            source.set(i, tangents(cx).unbox(&joined, source.element())?);
        }
        let zero = tangents(cx).scale(&part, 0.0)?;
        let zero = tangents(cx).zero(&zero)?;
        let left = tangents(cx).join(&shadow, &zero)?;
        dest.set(i, tangents(cx).unbox(&left, dest.element())?);
    }
    Ok(Val::Unit)
}
