//! `data`: named tuples, structs and their fields.

use regraft_ir::{Context, Symbol, Type, TypeKind, suggest};
use smallvec::SmallVec;

use super::context::EvalCx;
use super::core::bounds_of;
use crate::error::{ErrorKind, Trap};
use crate::value::Val;

pub(super) fn named(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let TypeKind::Named(fields) = cx.ctx.kind(cx.ty) else { return Err(cx.wrong_types(args)) };
    check_fields(cx, args, fields.iter().map(|&(_, ty)| ty))?;
    let make = || Some(Val::named_shape(cx.ctx, fields.iter().map(|&(name, _)| name)));
    let shape = cx.host.shape(cx.ty, make).unwrap_or(cx.ty);
    Ok(Val::named_of(shape, args.iter().cloned().collect()))
}

pub(super) fn new(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let Some(def) = cx.ctx.struct_of(cx.ty) else {
        // The value of a type such as `val<3>`.
        let is_val = args.is_empty() && matches!(cx.ctx.kind(cx.ty), TypeKind::Val(_));
        return if is_val { Ok(Val::structure(cx.ty, [])) } else { Err(cx.wrong_types(args)) };
    };
    check_fields(cx, args, def.fields.iter().map(|&(_, ty)| ty))?;
    let items = args.iter().cloned();
    Ok(if def.mutable { Val::object(cx.ty, items) } else { Val::structure(cx.ty, items) })
}

/// Checks the values of new fields against their types, and that there is memory for them.
fn check_fields(
    cx: &EvalCx<'_>,
    args: &[Val],
    types: impl ExactSizeIterator<Item = Type>,
) -> Result<(), Trap> {
    if types.len() != args.len() {
        return Err(cx.wrong_types(args));
    }
    for (i, (arg, ty)) in args.iter().zip(types).enumerate() {
        if !arg.is_a(cx.ctx, ty) {
            return Err(wrong_field(cx, &(i + 1).to_string(), cx.ty, ty, arg));
        }
    }
    cx.reserve_fields(args.len())
}

fn wrong_field(cx: &EvalCx<'_>, field: &str, of: Type, want: Type, value: &Val) -> Trap {
    let text = |ty| cx.texts().type_text(ty);
    let (of, want, have) = (text(of), text(want), text(value.type_of(cx.ctx)));
    Trap::type_error(format!(
        "field {field} of {of} is of type {want}, found a value of type {have}"
    ))
}

/// The type that says which fields a value has.
fn type_with_fields(value: &Val) -> Option<Type> {
    match value {
        Val::Struct(fields) | Val::Named(fields) => Some(fields.ty()),
        Val::Object(object) => Some(object.ty()),
        _ => None,
    }
}

/// The names and types of the fields of a value, if they have names.
fn named_fields(ctx: &Context, value: &Val) -> SmallVec<[(Symbol, Type); 8]> {
    let Some(ty) = type_with_fields(value) else { return SmallVec::new() };
    match ctx.kind(ty) {
        TypeKind::Named(fields) => fields.iter().copied().collect(),
        _ => ctx.struct_of(ty).map_or(SmallVec::new(), |def| def.fields.iter().copied().collect()),
    }
}

/// The position, from 0, of the field that an operand names, and its declared type if it is named by its name.
fn field_of(
    cx: &mut EvalCx<'_>,
    args: &[Val],
    count: usize,
) -> Result<(usize, Option<Type>), Trap> {
    match args {
        [value, Val::I64(index), ..] => {
            let at = usize::try_from(*index).ok().and_then(|index| index.checked_sub(1));
            let at = at.filter(|&at| at < count).ok_or_else(|| bounds_of(cx, value, *index))?;
            Ok((at, None))
        }
        [value, Val::Sym(name), ..] => {
            let ctx = cx.ctx;
            let find = || {
                let fields = named_fields(ctx, value);
                let index = fields.iter().position(|(other, _)| other == name)?;
                Some((index, fields[index].1))
            };
            let field = match type_with_fields(value) {
                Some(ty) => cx.host.field(ty, *name, find),
                None => None,
            };
            let (at, ty) = field.ok_or_else(|| no_field(cx, value, *name))?;
            Ok((at, Some(ty)))
        }
        _ => Err(cx.wrong_types(args)),
    }
}

#[cold]
fn no_field(cx: &EvalCx<'_>, value: &Val, name: Symbol) -> Trap {
    let (ty, name) = (cx.texts().type_of(value), cx.ctx.str(name));
    let trap = Trap::new("FieldError", format!("type {ty} has no field `{name}`"));
    let names = named_fields(cx.ctx, value);
    match suggest(name, names.iter().map(|&(name, _)| cx.ctx.str(name))) {
        Some(near) => trap.help(format!("did you mean `{near}`?")),
        None => trap,
    }
}

pub(super) fn getfield(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let Some(value) = args.first() else { return Err(cx.wrong_types(args)) };
    if let Some(items) = value.as_fields() {
        return Ok(items[field_of(cx, args, items.len())?.0].clone());
    }
    let Val::Object(object) = value else {
        return Err(match args {
            [_, Val::Sym(name)] => no_field(cx, value, *name),
            _ => cx.wrong_types(args),
        });
    };
    let (index, _) = field_of(cx, args, object.len())?;
    object.get(index).ok_or_else(|| bounds_of(cx, value, index as i64 + 1))
}

pub(super) fn setfield(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Object(object), _, value] = args else {
        return Err(match args.first() {
            Some(of) if of.as_fields().is_some() => {
                let ty = cx.texts().type_of(of);
                let message = format!("setfield!: immutable struct of type {ty} cannot be changed");
                Trap::of_kind(ErrorKind::Thrown, message)
            }
            _ => cx.wrong_types(args),
        });
    };
    let (index, want) = field_of(cx, args, object.len())?;
    let field = || named_fields(cx.ctx, &args[0]).get(index).copied();
    let want = want.or_else(|| field().map(|(_, ty)| ty)).unwrap_or(Type::ANY);
    if !value.is_a(cx.ctx, want) {
        let name = field().map_or("", |(name, _)| cx.ctx.str(name));
        return Err(wrong_field(cx, &format!("`{name}`"), object.ty(), want, value));
    }
    object.set(index, value.clone());
    Ok(Val::Unit)
}

pub(super) fn fieldcount(_: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let count = match args {
        [Val::Object(object)] => object.len(),
        [value] => value.as_fields().map_or(0, <[Val]>::len),
        _ => 0,
    };
    Ok(Val::I64(count as i64))
}

pub(super) fn hasfield(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [value, Val::Sym(name)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::Bool(named_fields(cx.ctx, value).iter().any(|(other, _)| other == name)))
}
