//! Small pieces of derivative code: zeros, sums, and the parts of tangents.

use std::sync::Arc;

pub(crate) use regraft_dialects::attrs::inbounds;
use regraft_dialects::{ad, arith, core, data, mem};
use regraft_ir::{Constant, Context, Diagnostic, Inst, Operand, Symbol, Type, TypeKind, Value};

use crate::tangent::{TangentType, TangentTypes};

/// Emits an instruction, and gives its value.
pub(crate) type Emit<'a> = dyn FnMut(Inst) -> Operand + 'a;

/// Runs code that emits instructions, which `insert` puts somewhere; the first error counts.
pub(crate) fn emitting<T, E: Into<Diagnostic>>(
    ctx: &Context,
    mut insert: impl FnMut(Inst) -> Result<Value, E>,
    make: impl FnOnce(&mut Emit<'_>) -> T,
) -> Result<T, Diagnostic> {
    let mut failed = None;
    let mut emit = |inst| match insert(inst) {
        Ok(new) => Operand::from(new),
        Err(error) => {
            failed.get_or_insert(error);
            ctx.constant_id(Constant::Unit).into()
        }
    };
    let made = make(&mut emit);
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(made),
    }
}

/// The part that the elements of an array, the fields of an object or the content of a ref have in its
/// shadow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TangentKind {
    /// Nothing.
    None,
    /// A float: the shadow holds its cotangent.
    Float,
    /// A value of several parts: the shadow holds its cotangent.
    Value,
    /// An object: the shadow holds its shadow.
    Shadow,
    /// Something of both.
    Mixed,
}

impl TangentKind {
    /// The kind of values of type `ty`.
    pub(crate) fn of(types: &mut TangentTypes, ty: Type) -> Self {
        if ty.is_float() {
            return Self::Float;
        }
        match (types.has_shadow(ty), types.has_cotangent(ty)) {
            (false, false) => Self::None,
            (false, true) => Self::Value,
            (true, false) => Self::Shadow,
            (true, true) => Self::Mixed,
        }
    }

    /// Returns whether it holds cotangents.
    pub(crate) fn has_cotangent(self) -> bool {
        matches!(self, Self::Float | Self::Value | Self::Mixed)
    }
}

/// The value of type unit.
pub(crate) fn nothing(ctx: &Context) -> Operand {
    ctx.constant_id(Constant::Unit).into()
}

/// A function by its name.
pub(crate) fn function(ctx: &Context, name: Symbol) -> Operand {
    ctx.constant_id(Constant::Func(name)).into()
}

/// The zero of a tangent, shadow or cotangent type of values; of objects, something that nobody
/// looks at.
pub(crate) fn zero(ctx: &Arc<Context>, ty: Type, emit: &mut Emit<'_>) -> Operand {
    let constant = |c: Constant| Operand::from(ctx.constant_id(c));
    match ty {
        Type::F64 => return constant(Constant::F64(0.0f64.to_bits())),
        Type::F32 => return constant(Constant::F32(0.0f32.to_bits())),
        Type::UNIT => return constant(Constant::Unit),
        // As a value of that type, so that what it is put into is of the type that it should be of.
        Type::ANY => return emit(core::convert(constant(Constant::Unit), ty)),
        _ => {}
    }
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => {
            let parts: Vec<Operand> = parts.iter().map(|&part| zero(ctx, part, emit)).collect();
            aggregate(ctx, ty, &parts, emit)
        }
        TypeKind::Named(fields) => {
            let parts: Vec<Operand> =
                fields.iter().map(|&(_, part)| zero(ctx, part, emit)).collect();
            aggregate(ctx, ty, &parts, emit)
        }
        _ => emit(core::undef(ty)),
    }
}

/// The shadow of zeros of a value that has one.
pub(crate) fn zero_shadow(
    of: TangentType,
    kind: TangentKind,
    v: impl Into<Operand>,
    emit: &mut Emit<'_>,
) -> Operand {
    let zero = emit(ad::zero(v.into(), of.tangent));
    // Of what is not known, the types of both are `any`.
    let is_whole = of.tangent == of.shadow && kind == TangentKind::Shadow;
    if is_whole { zero } else { emit(ad::shadow(zero, of.shadow)) }
}

/// A tuple or named tuple of these parts.
pub(crate) fn aggregate(
    ctx: &Context,
    ty: Type,
    parts: &[Operand],
    emit: &mut Emit<'_>,
) -> Operand {
    match ctx.kind(ty) {
        TypeKind::Named(_) => emit(data::named(parts.iter().copied(), ty)),
        _ => emit(core::tuple(parts.iter().copied())),
    }
}

/// The types of the parts of a tuple or named tuple type.
pub(crate) fn part_types(ctx: &Context, ty: Type) -> Vec<Type> {
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.to_vec(),
        TypeKind::Named(fields) => fields.iter().map(|&(_, part)| part).collect(),
        _ => Vec::new(),
    }
}

/// A part of a tuple or named tuple, counted from 0.
pub(crate) fn part(ctx: &Context, of: Operand, index: usize, emit: &mut Emit<'_>) -> Operand {
    let index = ctx.constant_id(Constant::I64(index as i64 + 1));
    emit(core::get(of, index))
}

/// The sum of two cotangents of a type.
pub(crate) fn sum(ty: Type, a: Operand, b: Operand, emit: &mut Emit<'_>) -> Operand {
    if ty.is_float() { emit(arith::add(a, b)) } else { emit(ad::add(a, b, ty)) }
}

/// The shadow part of a tangent.
pub(crate) fn shadow_part(
    ctx: &Arc<Context>,
    of: TangentType,
    kind: TangentKind,
    tangent: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    match kind {
        TangentKind::Shadow => tangent,
        TangentKind::Mixed => emit(ad::shadow(tangent, of.shadow)),
        _ => zero(ctx, of.shadow, emit),
    }
}

/// The cotangent part of a tangent.
pub(crate) fn cotangent_part(
    ctx: &Arc<Context>,
    of: TangentType,
    kind: TangentKind,
    tangent: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    match kind {
        TangentKind::Float | TangentKind::Value => tangent,
        TangentKind::Mixed => emit(ad::cotangent(tangent, of.cotangent)),
        _ => zero(ctx, of.cotangent, emit),
    }
}

/// A tangent with something added to its cotangent part.
pub(crate) fn increased(
    ctx: &Arc<Context>,
    of: TangentType,
    kind: TangentKind,
    tangent: Operand,
    cotangent: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    let old = cotangent_part(ctx, of, kind, tangent, emit);
    let new = sum(of.cotangent, old, cotangent, emit);
    let shadow = match kind {
        TangentKind::Mixed => shadow_part(ctx, of, kind, tangent, emit),
        _ => tangent,
    };
    join_parts(ctx, of, kind, shadow, new, emit)
}

/// Returns whether shadows of a type may be of different kinds from one value to the next.
pub(crate) fn may_vary(ctx: &Context, shadow: Type) -> bool {
    let mut pending = vec![shadow];
    while let Some(ty) = pending.pop() {
        if ty == Type::ANY {
            return true;
        }
        pending.extend(part_types(ctx, ty));
    }
    false
}

/// A shadow of type `ty` without the parts that [may be of different kinds](may_vary).
pub(crate) fn lasting(
    ctx: &Arc<Context>,
    ty: Type,
    shadow: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    if ty == Type::ANY {
        return zero(ctx, ty, emit);
    }
    if !may_vary(ctx, ty) {
        return shadow;
    }
    let mut made = Vec::new();
    for (i, part_type) in part_types(ctx, ty).into_iter().enumerate() {
        let old = part(ctx, shadow, i, emit);
        made.push(lasting(ctx, part_type, old, emit));
    }
    aggregate(ctx, ty, &made, emit)
}

/// The tangent of two parts.
pub(crate) fn join_parts(
    ctx: &Arc<Context>,
    of: TangentType,
    kind: TangentKind,
    shadow: Operand,
    cotangent: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    match kind {
        TangentKind::Float | TangentKind::Value => cotangent,
        TangentKind::Shadow => shadow,
        TangentKind::Mixed => emit(ad::join(shadow, cotangent, of.tangent)),
        TangentKind::None => zero(ctx, of.tangent, emit),
    }
}

/// The element type of an array or ref type; `any` of `any`.
pub(crate) fn element_type(ctx: &Context, ty: Type) -> Type {
    match *ctx.kind(ty) {
        TypeKind::Array { element, .. } | TypeKind::Ref(element) => element,
        _ => Type::ANY,
    }
}

/// The index from 0 and the type of a field of a struct, named tuple or tuple.
pub(crate) fn field_of(ctx: &Context, ty: Type, field: Constant) -> Option<(usize, Type)> {
    let fields: Vec<(Option<Symbol>, Type)> = match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.iter().map(|&part| (None, part)).collect(),
        TypeKind::Named(fields) => fields.iter().map(|&(name, ty)| (Some(name), ty)).collect(),
        &TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            def.fields.iter().map(|&(name, ty)| (Some(name), ty)).collect()
        }
        _ => return None,
    };
    let index = match field {
        Constant::I64(index) => usize::try_from(index).ok()?.checked_sub(1)?,
        Constant::Sym(name) => fields.iter().position(|&(field, _)| field == Some(name))?,
        _ => return None,
    };
    Some((index, fields.get(index)?.1))
}

/// A tuple or named tuple with one part replaced.
pub(crate) fn replace_part(
    ctx: &Context,
    ty: Type,
    old: Operand,
    index: usize,
    new: Operand,
    emit: &mut Emit<'_>,
) -> Operand {
    let count = part_types(ctx, ty).len();
    let made: Vec<Operand> =
        (0..count).map(|i| if i == index { new } else { part(ctx, old, i, emit) }).collect();
    aggregate(ctx, ty, &made, emit)
}

/// The placeholder of a value that is not there on some ways: something of its type, so that code which
/// never looks at it can be moved freely.
pub(crate) fn placeholder(ctx: &Arc<Context>, ty: Type, emit: &mut Emit<'_>) -> Operand {
    if let Some(zero) = Constant::int(ty, 0) {
        return ctx.constant_id(zero).into();
    }
    match ty {
        Type::BOOL => return ctx.constant_id(Constant::Bool(false)).into(),
        Type::F64 | Type::F32 | Type::UNIT | Type::ANY => {
            return zero(ctx, ty, emit);
        }
        _ => {}
    }
    match ctx.kind(ty).clone() {
        TypeKind::Array { rank, .. } => {
            let zero = ctx.constant_id(Constant::I64(0));
            emit(mem::alloc(vec![zero; usize::from(rank)], ty))
        }
        TypeKind::Ref(element) => {
            let content = placeholder(ctx, element, emit);
            let content = emit(core::convert(content, element));
            emit(mem::ref_new(content))
        }
        TypeKind::Tuple(parts) => {
            let parts: Vec<Operand> =
                parts.iter().map(|&part| placeholder(ctx, part, emit)).collect();
            emit(core::tuple(parts))
        }
        TypeKind::Named(fields) => {
            let parts: Vec<Operand> =
                fields.iter().map(|&(_, part)| placeholder(ctx, part, emit)).collect();
            emit(data::named(parts, ty))
        }
        _ => emit(core::undef(ty)),
    }
}
