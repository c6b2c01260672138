//! Aggregates: tuples, named tuples and immutable structs, which are values made of parts.

use regraft_dialects::{core, data};
use regraft_ir::{Constant, Context, Function, Inst, Operand, Symbol, Type, TypeKind, Use, Value};

/// The types of the parts of an aggregate type; `None` for any other type.
pub(crate) fn parts(ctx: &Context, ty: Type) -> Option<Vec<Type>> {
    match ctx.kind(ty) {
        TypeKind::Tuple(types) => Some(types.to_vec()),
        TypeKind::Named(fields) => Some(fields.iter().map(|&(_, ty)| ty).collect()),
        &TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            (!def.mutable).then(|| def.fields.iter().map(|&(_, ty)| ty).collect())
        }
        _ => None,
    }
}

/// The name of a part, if it has one.
pub(crate) fn part_name(ctx: &Context, ty: Type, position: usize) -> Option<Symbol> {
    match ctx.kind(ty) {
        TypeKind::Named(fields) => Some(fields.get(position)?.0),
        &TypeKind::Struct(id) => Some(ctx.struct_def(id).fields.get(position)?.0),
        _ => None,
    }
}

/// The position, from 0, of the part that a constant names, if there is one.
pub(crate) fn position(ctx: &Context, ty: Type, field: Constant) -> Option<usize> {
    let find = |names: &[(Symbol, Type)]| match field {
        Constant::Sym(name) => names.iter().position(|&(other, _)| other == name),
        _ => index(field, names.len()),
    };
    match ctx.kind(ty) {
        TypeKind::Tuple(types) => index(field, types.len()),
        TypeKind::Named(fields) => find(fields),
        &TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            if def.mutable { None } else { find(&def.fields) }
        }
        _ => None,
    }
}

fn index(field: Constant, count: usize) -> Option<usize> {
    let Constant::I64(index) = field else { return None };
    usize::try_from(index).ok()?.checked_sub(1).filter(|&index| index < count)
}

/// Returns whether `v` makes an aggregate out of its operands.
pub(crate) fn is_construction(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(core::TUPLE | data::NAMED | data::NEW))
        && parts(f.ctx(), f.ty(v)).is_some_and(|parts| parts.len() == f.operand_count(v))
}

/// Returns whether an operand is the result of an instruction that puts an aggregate together.
pub(crate) fn is_made(f: &Function, operand: Operand) -> bool {
    operand.as_value().is_some_and(|v| is_construction(f, v))
}

/// The position of the part that a use takes out of an aggregate, if that is what it does.
pub(crate) fn projected(f: &Function, at: Use) -> Option<usize> {
    if at.index != 0 || !matches!(f.op(at.user), Some(core::GET | data::GETFIELD)) {
        return None;
    }
    let (x, field) = (f.operand(at.user, 0)?, f.operand(at.user, 1)?);
    position(f.ctx(), f.operand_type(x), f.constant(field)?)
}

/// An aggregate of type `ty` of these parts.
pub(crate) fn construct(ctx: &Context, ty: Type, parts: Vec<Operand>) -> Inst {
    match ctx.kind(ty) {
        TypeKind::Tuple(_) => core::tuple(parts),
        TypeKind::Named(_) => data::named(parts, ty),
        _ => data::new(parts, ty),
    }
}
