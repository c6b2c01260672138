//! Derivatives of operations that are known only when the program runs: fields of values of unknown type and numbers of
//! arguments, as calls.
//!
//! ```text
//! %3: any = data.getfield %1, :x    =>    %3: any = core.apply @getfield, %1, :x
//! ```
//!
//! The place of the tangent of a field follows from the type of the whole. A call is resolved by the
//! running program, which knows it, and so is the derivative of a call.
//!
//! So is a call whose number of arguments is known then: of tuples of these, a call follows that can be
//! resolved.
//!
//! ```text
//! %4: any = core.splat %1, %2, %3   =>    %5: any = core.apply @tuple_of, %3
//!                                         %4: any = core.apply @call_tuple, %1, %2, %5
//! ```
//!
//! If the type is known and the name or number of the field is not, all fields are read, and one
//! is selected; or all are set, but one. An index that is out of range is told by the op itself, of which no derivative is
//! taken.

use regraft_dialects::{ad, core, data};
use regraft_ir::{Constant, Context, Function, IrResult, Module, Operand, Type, TypeKind, Value};

/// Tuples of more elements stay as they are.
const MAX_COUNT: usize = 64;

/// Rewrites all of them. O(size).
pub(super) fn resolve(module: &mut Module) -> IrResult<()> {
    for id in module.ids().to_vec() {
        if let Some(f) = module.get_mut(id) {
            in_function(f)?;
        }
    }
    Ok(())
}

fn in_function(f: &mut Function) -> IrResult<()> {
    let insts: Vec<_> = f.all_insts().collect();
    for v in insts {
        let name = match f.op(v) {
            Some(core::SPLAT) => {
                late_call(f, v)?;
                continue;
            }
            Some(data::GETFIELD) => "getfield",
            Some(data::SETFIELD) => "setfield!",
            _ => continue,
        };
        let operands: Vec<Operand> = f.operands(v).collect();
        if f.operand_type(operands[0]) != Type::ANY {
            match (name, operands[1].as_const()) {
                (_, Some(field)) => {
                    // There is no derivative of what stops the program.
                    let field = f.ctx().constant(field);
                    if !has_field(f.ctx(), f.operand_type(operands[0]), field) {
                        let constant = f.insert(v, ad::ignore(operands[0]).at(f.loc(v)))?;
                        f.set_operand(v, 0, constant)?;
                    }
                }
                ("getfield", None) => select_field(f, v, operands[0], operands[1])?,
                _ => set_selected(f, v, [operands[0], operands[1], operands[2]])?,
            }
            continue;
        }
        let callee = f.constant_id(Constant::Func(f.ctx().symbol(name)));
        let call = core::apply(callee, operands, Type::ANY).at(f.loc(v));
        if f.ty(v) == Type::ANY {
            f.replace(v, call)?;
        } else {
            f.insert(v, call)?;
            let unit = f.constant_id(Constant::Unit);
            f.replace_all_uses(v, unit)?;
            f.delete(v)?;
        }
    }
    Ok(())
}

/// Makes a tuple of each collection of arguments that is not known to be one, and a call with these.
fn late_call(f: &mut Function, v: Value) -> IrResult<()> {
    let (ctx, loc) = (f.ctx().clone(), f.loc(v));
    let named = |name: &str| Operand::from(ctx.constant_id(Constant::Func(ctx.symbol(name))));
    let mut operands: Vec<Operand> = f.operands(v).collect();
    for collection in &mut operands[1..] {
        if !matches!(ctx.kind(f.operand_type(*collection)), TypeKind::Tuple(_)) {
            let tuple = core::apply(named("#tuple_of"), [*collection], Type::ANY);
            *collection = f.insert(v, tuple.at(loc))?.into();
        }
    }
    f.replace(v, core::apply(named("#call_tuple"), operands, Type::ANY).at(loc))?;
    Ok(())
}

/// The names or numbers of the fields of an immutable type.
fn fields_of(ctx: &Context, ty: Type, by: Type) -> Vec<Constant> {
    let names: Vec<_> = match ctx.kind(ty) {
        TypeKind::Tuple(parts) if by == Type::I64 => vec![None; parts.len()],
        TypeKind::Named(fields) => fields.iter().map(|&(name, _)| Some(name)).collect(),
        &TypeKind::Struct(id) => {
            ctx.struct_def(id).fields.iter().map(|&(name, _)| Some(name)).collect()
        }
        _ => Vec::new(),
    };
    let field = |(i, name): (usize, Option<_>)| match name {
        Some(name) if by == Type::SYM => Constant::Sym(name),
        _ => Constant::I64(i as i64 + 1),
    };
    names.into_iter().enumerate().map(field).collect()
}

/// Returns whether a type has a field of this name or number.
fn has_field(ctx: &Context, ty: Type, field: Constant) -> bool {
    let by = if matches!(field, Constant::Sym(_)) { Type::SYM } else { Type::I64 };
    fields_of(ctx, ty, by).contains(&field)
}

/// Reads all fields of `whole` and selects the one that `field` names.
fn select_field(f: &mut Function, v: Value, whole: Operand, field: Operand) -> IrResult<()> {
    let (ty, loc) = (f.ty(v), f.loc(v));
    let by = f.operand_type(field);
    let fields = fields_of(&f.ctx().clone(), f.operand_type(whole), by);
    if fields.is_empty() || fields.len() > MAX_COUNT || !matches!(by, Type::I64 | Type::SYM) {
        return Ok(());
    }
    let constant = f.insert(v, ad::ignore(whole).at(loc))?;
    let told = f.insert(v, data::getfield(constant, field).at(loc))?;
    // It is selected only if there is no such field, and nobody comes here then.
    let mut found: Operand = f.insert(v, ad::ignore(told).at(loc))?.into();
    for (i, name) in fields.into_iter().enumerate() {
        let index = f.constant_id(Constant::I64(i as i64 + 1));
        let read = match f.ctx().struct_of(f.operand_type(whole)) {
            Some(_) => data::getfield(whole, index),
            None => core::get(whole, index),
        };
        let mut part = f.insert(v, read.at(loc))?;
        if f.ty(part) != ty {
            part = f.insert(v, core::convert(part, ty).at(loc))?;
        }
        let name = f.constant_id(name);
        let is_it = f.insert(v, core::same(field, name).at(loc))?;
        found = f.insert(v, core::select(is_it, part, found).at(loc))?.into();
    }
    f.replace_all_uses(v, found)?;
    f.delete(v)
}

/// Sets all fields of a mutable struct, all but the one that `field` names to what they are.
fn set_selected(f: &mut Function, v: Value, operands: [Operand; 3]) -> IrResult<()> {
    let [whole, field, new] = operands;
    let (ctx, loc) = (f.ctx().clone(), f.loc(v));
    let Some(def) = ctx.struct_of(f.operand_type(whole)) else { return Ok(()) };
    let by = f.operand_type(field);
    let fields = fields_of(&ctx, f.operand_type(whole), by);
    if fields.is_empty() || fields.len() > MAX_COUNT || by != Type::SYM {
        return Ok(());
    }
    // Traps if there is no such field.
    let constant = f.insert(v, ad::ignore(whole).at(loc))?;
    f.insert(v, data::getfield(constant, field).at(loc))?;
    let boxed = f.insert(v, core::convert(new, Type::ANY).at(loc))?;
    for (name, (_, ty)) in fields.into_iter().zip(def.fields.clone()) {
        let name = f.constant_id(name);
        let is_it = f.insert(v, core::same(field, name).at(loc))?;
        let old = f.insert(v, data::getfield(whole, name).at(loc))?;
        let found = if f.operand_type(new) == ty {
            f.insert(v, core::select(is_it, new, old).at(loc))?
        } else {
            let old = f.insert(v, core::convert(old, Type::ANY).at(loc))?;
            let found = f.insert(v, core::select(is_it, boxed, old).at(loc))?;
            if ty == Type::ANY { found } else { f.insert(v, core::typeassert(found, ty).at(loc))? }
        };
        f.insert(v, data::setfield(whole, name, found).at(loc))?;
    }
    let unit = f.constant_id(Constant::Unit);
    f.replace_all_uses(v, unit)?;
    f.delete(v)
}
