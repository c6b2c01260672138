//! The conversions between scalar types.

use crate::ir::{InstView, Type};

/// Checks the declared result of a conversion, unless a type is not known.
fn verify(
    view: &InstView<'_>,
    what: &str,
    fits: impl Fn(Type, Type) -> bool,
) -> Result<(), String> {
    let (from, to) = (view.types[0], view.ty);
    if to != Type::ANY && (from == Type::ANY || fits(from, to)) {
        return Ok(());
    }
    let (name, to) = (view.def.mnemonic(), view.ctx.type_text(to));
    let from = view.ctx.type_text(from);
    Err(format!("`{name}` makes {what}, found {to} from {from}"))
}

/// The width in bits; a bool has one.
fn width(ty: Type) -> u32 {
    if ty == Type::BOOL { 1 } else { ty.bits().unwrap_or(0) }
}

fn is_bits(ty: Type) -> bool {
    ty.is_int() || ty == Type::BOOL
}

pub(crate) fn verify_wrap(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "a narrower integer or bool", |from, to| is_bits(to) && width(to) <= width(from))
}

pub(crate) fn verify_sext(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "a wider integer", |from, to| to.is_int() && width(to) >= width(from))
}

pub(crate) fn verify_zext(view: &InstView<'_>) -> Result<(), String> {
    verify_sext(view)
}

pub(crate) fn verify_int_to_float(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "a float", |_, to| to.is_float())
}

pub(crate) fn verify_float_to_int(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "an integer", |_, to| to.is_int())
}

pub(crate) fn verify_float_cast(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "a float", |_, to| to.is_float())
}

pub(crate) fn verify_bitcast(view: &InstView<'_>) -> Result<(), String> {
    verify(view, "a number type of the same width", |from, to| {
        to.is_number() && to.bits() == from.bits()
    })
}
