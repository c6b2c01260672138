//! Questions about types that declarations of several dialects ask.

use crate::ir::{Constant, Interned, Type, TypeKind};

/// A type as a message names it.
pub(crate) fn describe(ctx: &Interned, ty: Type) -> String {
    format!("a value of type {}", ctx.type_text(ty))
}

/// Checks that a value of type `have` may stand where `want` is expected, at least if it turns out
/// to be of the right type when the program runs.
pub(crate) fn check_fits(have: Type, want: Type) -> Result<(), ()> {
    if have == Type::ANY || have.is_assignable_to(want) { Ok(()) } else { Err(()) }
}

/// Returns whether every value of type `ty` has exactly this type, so that no other type describes it
/// better. A tuple of `any` may turn out to be a `tuple<i64>`; an array of `any` is just that.
pub fn is_exact(ctx: &Interned, ty: Type) -> bool {
    let mut todo = vec![ty];
    while let Some(ty) = todo.pop() {
        match ctx.kind(ty) {
            TypeKind::Builtin if ty == Type::ANY || ty == Type::NEVER => return false,
            TypeKind::Tuple(elements) => todo.extend(elements.iter().copied()),
            TypeKind::Named(fields) => todo.extend(fields.iter().map(|&(_, field)| field)),
            _ => {}
        }
    }
    true
}

/// Returns whether every value of type `a` is also of type `b`, as `core.isa` and
/// `core.typeassert` ask of the type of a value.
///
/// Everything is of type `any`. Tuples are covariant, as in Julia: a `tuple<i64>` is a
/// `tuple<any>`. So are named tuples of the same names. All other types are of their own type
/// alone. O(size of the types).
pub fn is_subtype(ctx: &Interned, a: Type, b: Type) -> bool {
    let mut todo = vec![(a, b)];
    while let Some((a, b)) = todo.pop() {
        if a.is_assignable_to(b) {
            continue;
        }
        match (ctx.kind(a), ctx.kind(b)) {
            (TypeKind::Tuple(a), TypeKind::Tuple(b)) if a.len() == b.len() => {
                todo.extend(a.iter().copied().zip(b.iter().copied()));
            }
            (TypeKind::Named(a), TypeKind::Named(b))
                if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0) =>
            {
                todo.extend(a.iter().zip(b).map(|(a, b)| (a.1, b.1)));
            }
            _ => return false,
        }
    }
    true
}

/// The types of the elements of a tuple or named tuple, or of the fields of a struct; `None` of what has none. O(fields).
pub fn field_types(ctx: &Interned, ty: Type) -> Option<Vec<Type>> {
    match ctx.kind(ty) {
        TypeKind::Tuple(elements) => Some(elements.to_vec()),
        TypeKind::Named(fields) => Some(fields.iter().map(|&(_, field)| field).collect()),
        &TypeKind::Struct(id) => {
            Some(ctx.struct_def(id).fields.iter().map(|&(_, field)| field).collect())
        }
        _ => None,
    }
}

/// The most parts of an element that arrays keep unboxed.
pub const MOST_UNBOXED: usize = 16;

/// The most levels of tuples and structs in one another of an element that arrays keep unboxed.
const MOST_LEVELS: usize = 8;

/// The types of the parts of a value of which arrays keep the parts side by side, in place of the value; `None` if they keep the
/// value. That of a tuple, named tuple or immutable struct is unboxed if it has at most 16 parts, each a scalar or `nothing`, and one
/// scalar at least. The parts of what is in it take its place. O(parts).
pub fn unboxed_parts(ctx: &Interned, element: Type) -> Option<Vec<Type>> {
    fn add(ctx: &Interned, ty: Type, levels: usize, parts: &mut Vec<Type>) -> Option<()> {
        if ty.is_scalar() || ty == Type::UNIT {
            parts.push(ty);
            return (parts.len() <= MOST_UNBOXED).then_some(());
        }
        if let &TypeKind::Struct(id) = ctx.kind(ty)
            && ctx.struct_def(id).mutable
        {
            return None;
        }
        let fields = field_types(ctx, ty).filter(|fields| !fields.is_empty() && levels > 0)?;
        fields.into_iter().try_for_each(|field| add(ctx, field, levels - 1, parts))
    }
    if element.is_scalar() {
        return None;
    }
    let mut parts = Vec::new();
    add(ctx, element, MOST_LEVELS, &mut parts)?;
    parts.iter().any(|part| part.is_scalar()).then_some(parts)
}

/// Returns whether an element of this type has a value before it is set: it is a scalar, or unboxed. O(parts).
pub fn starts_defined(ctx: &Interned, element: Type) -> bool {
    element.is_scalar() || unboxed_parts(ctx, element).is_some()
}

/// The type of the field of a tuple, named tuple or struct that an index (from 1) or a symbol
/// names.
///
/// # Errors
/// If there is no such field: a sentence that says so.
pub fn field_type(ctx: &Interned, ty: Type, field: Constant) -> Result<Type, String> {
    let Some(types) = field_types(ctx, ty) else {
        return Err(format!("{} has no fields", ctx.type_text(ty)));
    };
    match field {
        Constant::I64(index) => usize::try_from(index)
            .ok()
            .and_then(|index| types.get(index.checked_sub(1)?).copied())
            .ok_or_else(|| {
                let (ty, count) = (ctx.type_text(ty), types.len());
                format!("{ty} has {count} fields and no field {index}")
            }),
        Constant::Sym(name) => {
            let found = match ctx.kind(ty) {
                TypeKind::Named(fields) => {
                    fields.iter().find(|&&(field, _)| field == name).map(|&(_, ty)| ty)
                }
                &TypeKind::Struct(id) => ctx.struct_def(id).field(name).map(|(_, ty)| ty),
                _ => None,
            };
            found.ok_or_else(|| {
                let names = field_names(ctx, ty);
                let hint = crate::ir::suggest(ctx.str(name), names.iter().map(String::as_str))
                    .map_or(String::new(), |near| format!(", did you mean `{near}`?"));
                format!("{} has no field `{}`{hint}", ctx.type_text(ty), ctx.str(name))
            })
        }
        other => Err(format!(
            "a field is named by an i64 or a symbol, found {}",
            ctx.constant_text(other)
        )),
    }
}

fn field_names(ctx: &Interned, ty: Type) -> Vec<String> {
    let text = |name| ctx.str(name).to_owned();
    match ctx.kind(ty) {
        TypeKind::Named(fields) => fields.iter().map(|&(name, _)| text(name)).collect(),
        &TypeKind::Struct(id) => {
            ctx.struct_def(id).fields.iter().map(|&(name, _)| text(name)).collect()
        }
        _ => Vec::new(),
    }
}
