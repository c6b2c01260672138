//! `ad`: what is done to the elements of shadows of arrays, one after the other.

use regraft_ir::Type;

use super::ad::tangents;
use super::context::EvalCx;
use super::mem::{check_element, offset};
use crate::error::Trap;
use crate::value::{Array, Buffer, Shared, Val};

pub(super) fn total(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow)] = args else { return Err(cx.wrong_types(args)) };
    // Of floats, the sum begins with the first one, as code that adds them up would.
    if let Some(doubles) = shadow.buffer::<f64>() {
        let all = (0..doubles.len()).filter_map(|i| doubles.get(i));
        let total = all.reduce(|total, x| total + x).map_or(Val::Unit, Val::F64);
        return tangents(cx).unbox(&total, cx.ty);
    }
    let mut total = Val::Unit;
    for i in 0..shadow.len() {
        if let Some(element) = shadow.get(i) {
            let part = tangents(cx).cotangent(&element)?;
            total = tangents(cx).sum(&total, &part)?;
        }
    }
    tangents(cx).unbox(&total, cx.ty)
}

pub(super) fn spread(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow), cotangent] = args else { return Err(cx.wrong_types(args)) };
    if let (Some(doubles), &Val::F64(x)) = (shadow.buffer::<f64>(), cotangent) {
        change(doubles, doubles.len(), |_, part| part + x);
        return Ok(Val::Unit);
    }
    for i in 0..shadow.len() {
        let Some(element) = shadow.get(i) else { continue };
        let part = tangents(cx).cotangent(&element)?;
        let sum = tangents(cx).sum(&part, cotangent)?;
        set_cotangent(cx, shadow, i, &element, &sum)?;
    }
    Ok(Val::Unit)
}

pub(super) fn uncopy(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let (dest, source, count) = copied(cx, args)?;
    let from = source.map(|source| source.buffer::<f64>());
    if let (Some(dest), None | Some(Some(_))) = (dest.buffer::<f64>(), from) {
        if let Some(source) = from.flatten() {
            change(source, count, |i, old| old + dest.get(i).unwrap_or(0.0));
        }
        change(dest, count, |_, _| 0.0);
        return Ok(Val::Unit);
    }
    for i in 0..count {
        let Some(tangent) = dest.get(i) else { continue };
        let part = tangents(cx).cotangent(&tangent)?;
        if let Some(source) = source {
            let old = source.get(i).unwrap_or(Val::Unit);
            let sum = tangents(cx).sum(&tangents(cx).cotangent(&old)?, &part)?;
            set_cotangent(cx, source, i, &old, &sum)?;
        }
        let zero = tangents(cx).zero(&part)?;
        set_cotangent(cx, dest, i, &tangent, &zero)?;
    }
    Ok(Val::Unit)
}

pub(super) fn recopy(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let (dest, source, count) = copied(cx, args)?;
    for i in 0..count {
        let Some(tangent) = dest.get(i) else { continue };
        let part = match source {
            Some(source) => tangents(cx).cotangent(&source.get(i).unwrap_or(Val::Unit))?,
            None => tangents(cx).zero(&tangents(cx).cotangent(&tangent)?)?,
        };
        set_cotangent(cx, dest, i, &tangent, &part)?;
    }
    Ok(Val::Unit)
}

/// Sets the first `count` elements, each its own cotangent, to what `to` makes of the position, from 0, and the element.
fn change(items: &Buffer<f64>, count: usize, to: impl Fn(usize, f64) -> f64) {
    for i in 0..count {
        if let Some(x) = items.get(i) {
            items.set(i, to(i, x));
        }
    }
}

/// The destination, the source, and the number of elements.
type Copied<'a> = (&'a Shared<Array>, Option<&'a Shared<Array>>, usize);

/// The operands of what undoes a copy. No elements count if an array was copied to itself, which has
/// stayed what it was.
fn copied<'a>(cx: &EvalCx<'_>, args: &'a [Val]) -> Result<Copied<'a>, Trap> {
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
    let same = source.is_some_and(|source| Shared::ptr_eq(source, dest));
    Ok((dest, source, if same { 0 } else { count }))
}

/// Sets an element to that of the shadow part of `old` and a cotangent.
fn set_cotangent(
    cx: &EvalCx<'_>,
    array: &Array,
    at: usize,
    old: &Val,
    cotangent: &Val,
) -> Result<(), Trap> {
    let joined = tangents(cx).join(&tangents(cx).shadow(old)?, cotangent)?;
    array.set(at, tangents(cx).unbox(&joined, array.element())?);
    Ok(())
}

pub(super) fn slot(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow), indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    let at = offset(cx, shadow, indices)?;
    shadow.get(at).map_or(Ok(Val::Unit), |element| tangents(cx).shadow(&element))
}

pub(super) fn set_slot(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow), slot, indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    let at = offset(cx, shadow, indices)?;
    // What is not known may well have no shadow.
    let is_defined = !matches!(slot, Val::Unit) || shadow.element() == Type::ANY;
    set_shadow(cx, shadow, at, is_defined.then_some(slot))?;
    Ok(Val::Unit)
}

pub(super) fn put_back(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(shadow), Val::Array(kept), Val::I64(first), Val::I64(last)] = args else {
        return Err(cx.wrong_types(args));
    };
    let least = shadow.len().min(kept.len());
    let range = first.saturating_sub(1)..*last;
    if range.start < 0 || range.end > least as i64 {
        return Err(super::core::bounds(if range.start < 0 { *first } else { *last }, least));
    }
    for at in range {
        let at = usize::try_from(at).unwrap_or(least);
        let slot = kept.get(at).map(|element| tangents(cx).shadow(&element)).transpose()?;
        set_shadow(cx, shadow, at, slot.as_ref())?;
    }
    Ok(Val::Unit)
}

/// Sets an element to that of a shadow part and a cotangent of zero, or makes it undefined.
fn set_shadow(cx: &EvalCx<'_>, array: &Array, at: usize, slot: Option<&Val>) -> Result<(), Trap> {
    let Some(slot) = slot else {
        array.unset(at);
        return Ok(());
    };
    let element = tangents(cx).unbox(slot, array.element())?;
    check_element(cx, array.element(), &element)?;
    array.set(at, element);
    Ok(())
}
