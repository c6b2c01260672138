//! `ad`: tangents whose types are not known before the program runs.

use super::context::EvalCx;
use crate::error::Trap;
use crate::tangent::Tangents;
use crate::value::Val;

/// The operations, for the values of this program.
pub(super) fn tangents<'a>(cx: &'a EvalCx<'_>) -> Tangents<'a> {
    cx.host.tangents(cx.ctx)
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
    let [x] = args else { return Err(cx.wrong_types(args)) };
    Ok(x.clone())
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
