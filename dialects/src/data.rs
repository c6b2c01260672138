//! `data`: named tuples, structs and their fields.
//!
//! A closure is a struct of what it captures, whose declaration names the function to call.
//!
//! ```
//! use regraft_dialects::{context, data};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[ctx.named_type(&[(ctx.symbol("x"), Type::F64)])], Type::F64);
//! let name = b.function().constant_id(regraft_ir::Constant::Sym(ctx.symbol("x")));
//! let x = b.push(data::getfield(b.param(0), name))?;
//! assert_eq!(b.function().ty(x), Type::F64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::ir::{Constant, Effects, Fold, InstView, OperandSet, Type, TypeKind};
use crate::types::{field_type, field_types};

/// The symbol in a field of type `any` that has no value yet. Whoever makes objects before all
/// their fields are known puts it there; no program can write it.
pub const UNDEFINED_FIELD: &str = "#undef";

crate::dialect! {
    /// Named tuples, structs and their fields.
    dialect data = 4;

    /// A named tuple of its operands; the names are those of the declared type.
    ///
    /// An operand of type `any` goes through `core.typeassert` first unless its field is `any`
    /// too, so that this never traps.
    ///
    /// `%3: {a: f64, b: i64} = data.named %1, %2`
    NAMED = named(; values: _...) -> declared [PURE] { verify: Some(verify_named) };

    /// A value of an immutable struct type, from its fields in order; of no fields, the value of a
    /// type `val<..>`. Operands of type `any` are as in `data.named`.
    ///
    /// `%3: @Point = data.new %1, %2`
    NEW = new(; fields: _...) -> declared [PURE] { verify: Some(verify_new) };

    /// A new object of a mutable struct type, from its fields in order. Operands of type `any`
    /// are as in `data.named`.
    ///
    /// `%3: @Counter = data.new_object 0`
    NEW_OBJECT = new_object(; fields: _...) -> declared {
        effects: Effects { allocates: true, ..Effects::NONE },
        verify: Some(verify_new),
    };

    /// A field of a struct or named tuple, or an element of a tuple, by its index (from 1) or
    /// its name.
    ///
    /// With a constant field the type of the result is that of the field; with any other, it
    /// is the type that all of them share, or `any`. Traps if there is no such field
    /// (`FieldError` for a name, `BoundsError` for an index). On values and with a constant
    /// index, `core.get` says more: it neither traps nor reads memory.
    ///
    /// `%2: f64 = data.getfield %1, :x`
    GETFIELD = getfield(x: _, field: _) -> (fn getfield_type) [MAY_TRAP] {
        effects: Effects { reads: OperandSet::one(0), ..Effects::NONE },
    };

    /// Sets a field of an object of a mutable struct type, by its index (from 1) or its name.
    ///
    /// Traps if there is no such field (`FieldError`, `BoundsError`), or if it is of another
    /// type than the value (`TypeError`).
    ///
    /// `data.setfield %1, :count, %2`
    SETFIELD = setfield(x: _, field: _, value: _) -> unit [MAY_TRAP] {
        effects: Effects { writes: OperandSet::one(0), ..Effects::NONE },
        verify: Some(verify_setfield),
    };

    /// The number of elements of a tuple or named tuple, or of fields of a struct; 0 for any
    /// other value.
    ///
    /// `%2: i64 = data.fieldcount %1`
    FIELDCOUNT = fieldcount(x: _) -> i64 [PURE] { fold: Some(fold_fieldcount) };

    /// True if a struct or named tuple has a field of that name.
    ///
    /// `%2: bool = data.hasfield %1, :x`
    HASFIELD = hasfield(x: _, name: sym) -> bool [PURE] { fold: Some(fold_hasfield) };
}

fn verify_fields(view: &InstView<'_>, fields: &[Type]) -> Result<(), String> {
    let (ctx, have) = (view.ctx, view.types.len());
    if have != fields.len() {
        return Err(format!(
            "{} has {} fields, found {have} values",
            ctx.type_text(view.ty),
            fields.len()
        ));
    }
    for (i, (&have, &want)) in view.types.iter().zip(fields).enumerate() {
        if !have.is_assignable_to(want) {
            return Err(format!(
                "field {} of {} is of type {}, found {}",
                i + 1,
                ctx.type_text(view.ty),
                ctx.type_text(want),
                ctx.type_text(have)
            ));
        }
    }
    Ok(())
}

fn verify_named(view: &InstView<'_>) -> Result<(), String> {
    match view.ctx.kind(view.ty) {
        TypeKind::Named(fields) => {
            let types: Vec<Type> = fields.iter().map(|&(_, ty)| ty).collect();
            verify_fields(view, &types)
        }
        _ => Err(format!(
            "`data.named` makes a named tuple such as `{{a: f64}}`, found {} as its type",
            view.ctx.type_text(view.ty)
        )),
    }
}

fn verify_new(view: &InstView<'_>) -> Result<(), String> {
    let wants_mutable = view.def.op == NEW_OBJECT;
    if !wants_mutable && view.types.is_empty() && matches!(view.ctx.kind(view.ty), TypeKind::Val(_))
    {
        // The only value of a `val<3>` has no fields.
        return Ok(());
    }
    let kind = if wants_mutable { "a mutable" } else { "an immutable" };
    match view.ctx.struct_of(view.ty) {
        Some(def) if def.mutable == wants_mutable => {
            let types: Vec<Type> = def.fields.iter().map(|&(_, ty)| ty).collect();
            verify_fields(view, &types)
        }
        _ => Err(format!(
            "`{}` makes a value of {kind} struct type, found {} as its type",
            view.def.mnemonic(),
            view.ctx.type_text(view.ty)
        )),
    }
}

fn getfield_type(view: &InstView<'_>) -> Result<Type, String> {
    let ty = view.types[0];
    verify_field_operand(view)?;
    if ty == Type::ANY {
        return Ok(Type::ANY);
    }
    let Some(types) = field_types(view.ctx, ty) else {
        return Err(format!("{} has no fields", view.ctx.type_text(ty)));
    };
    // A constant that names no field traps like any other value that names none: a pass may have
    // found out that it is constant.
    if let Some(field) = view.constant(1)
        && let Ok(ty) = field_type(view.ctx, ty, field)
    {
        return Ok(ty);
    }
    Ok(match types.split_first() {
        Some((&first, rest)) if rest.iter().all(|&ty| ty == first) => first,
        _ => Type::ANY,
    })
}

fn verify_field_operand(view: &InstView<'_>) -> Result<(), String> {
    match view.types[1] {
        Type::I64 | Type::SYM | Type::ANY => Ok(()),
        other => Err(format!(
            "a field is named by an i64 or a symbol, found {}",
            view.ctx.type_text(other)
        )),
    }
}

fn verify_setfield(view: &InstView<'_>) -> Result<(), String> {
    let (ctx, ty) = (view.ctx, view.types[0]);
    verify_field_operand(view)?;
    if ty == Type::ANY {
        return Ok(());
    }
    if !ctx.struct_of(ty).is_some_and(|def| def.mutable) {
        return Err(format!(
            "`data.setfield` works on mutable structs, found {}",
            ctx.type_text(ty)
        ));
    }
    // Whether there is such a field, and whether the value fits it, shows when the program runs:
    // a pass may turn any field operand into a constant.
    Ok(())
}

/// `data.fieldcount` of a known type.
fn fold_fieldcount(view: &InstView<'_>) -> Option<Fold> {
    let ty = view.types[0];
    if matches!(ty, Type::ANY | Type::NEVER) {
        return None;
    }
    let count = field_types(view.ctx, ty).map_or(0, |fields| fields.len());
    Some(Fold::Constant(Constant::I64(count as i64)))
}

/// `data.hasfield` of a known type and name.
fn fold_hasfield(view: &InstView<'_>) -> Option<Fold> {
    let (ctx, ty) = (view.ctx, view.types[0]);
    if matches!(ty, Type::ANY | Type::NEVER) {
        return None;
    }
    let Some(Constant::Sym(name)) = view.constant(1) else { return None };
    let has = match ctx.kind(ty) {
        TypeKind::Named(fields) => fields.iter().any(|&(field, _)| field == name),
        &TypeKind::Struct(id) => ctx.struct_def(id).field(name).is_some(),
        _ => false,
    };
    Some(Fold::Constant(Constant::Bool(has)))
}
