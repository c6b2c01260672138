//! The forms in which parameters and results stand in C.

use regraft_ir::{Context, Diagnostic, FuncId, Function, Module, Symbol, Type, TypeKind};

use super::super::read_only::is_read_only;
use crate::interp::Scalar;
use crate::value::{Val, type_name};

/// The form of a parameter or of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// There is nothing in C: the type has one value.
    Nothing,
    /// A number or truth value.
    Scalar(Type),
    /// An array of numbers or truth values.
    Array {
        /// The type of the elements.
        element: Type,
        /// The number of dimensions.
        rank: u8,
        /// True if the function only reads it.
        is_read_only: bool,
    },
    /// A tuple or immutable struct of numbers and truth values, with the names of its fields.
    Fields(Vec<(String, Type)>),
}

/// The function of that name in a module.
pub(super) fn find(module: &Module, name: &str) -> Result<FuncId, Diagnostic> {
    let found = module.find(module.ctx().symbol(name));
    found.ok_or_else(|| Diagnostic::error(format!("there is no function @{name}")))
}

/// The forms of the parameters of a function.
///
/// # Errors
/// If a type has none, with the number of its parameter.
pub(super) fn params(module: &Module, id: FuncId) -> Result<Vec<Form>, Diagnostic> {
    let Some(f) = module.get(id) else { return Ok(Vec::new()) };
    let types = f.param_types();
    let form = |(at, &ty): (usize, &Type)| {
        if only_value(f.ctx(), ty).is_some() {
            return Ok(Form::Nothing);
        }
        if let Some(form) = number_or_array(f.ctx(), ty, is_read_only(module, id, at)) {
            return Ok(form);
        }
        let name = param_name(f, at).map_or(String::new(), |name| format!(" (`{name}`)"));
        let ty = type_name(f.ctx(), ty);
        let message = format!("argument {}{name} is of type {ty}, which has no form in C", at + 1);
        let help = "numbers, truth values and arrays of these have one";
        Err(Diagnostic::error(message).help(help))
    };
    types.iter().enumerate().map(form).collect()
}

/// The form of the result of a function.
///
/// # Errors
/// If its type has none.
pub(super) fn result(f: &Function) -> Result<Form, Diagnostic> {
    let (ctx, ty) = (f.ctx(), f.ret_type());
    if only_value(ctx, ty).is_some() || ty == Type::NEVER {
        return Ok(Form::Nothing);
    }
    let form = number_or_array(ctx, ty, false).or_else(|| fields(ctx, ty));
    form.ok_or_else(|| {
        let message =
            format!("the result is of type {}, which has no form in C", type_name(ctx, ty));
        let help =
            "numbers, truth values, arrays of these, and tuples and structs of numbers have one";
        Diagnostic::error(message).help(help)
    })
}

/// The name of a parameter, if it has one.
pub(super) fn param_name(f: &Function, at: usize) -> Option<&str> {
    f.value_name(f.param(f.entry()?, at)?)
}

fn number_or_array(ctx: &Context, ty: Type, is_read_only: bool) -> Option<Form> {
    if Scalar::of(ty).is_some() {
        return Some(Form::Scalar(ty));
    }
    match *ctx.kind(ty) {
        TypeKind::Array { element, rank } if Scalar::of(element).is_some() => {
            Some(Form::Array { element, rank, is_read_only })
        }
        _ => None,
    }
}

fn fields(ctx: &Context, ty: Type) -> Option<Form> {
    let name = |&(name, ty): &(Symbol, Type)| (ctx.str(name).to_owned(), ty);
    let fields: Vec<(String, Type)> = match ctx.kind(ty) {
        TypeKind::Tuple(types) => {
            (1..).zip(types).map(|(number, &ty)| (format!("_{number}"), ty)).collect()
        }
        TypeKind::Named(fields) => fields.iter().map(name).collect(),
        _ => {
            let def = ctx.struct_of(ty).filter(|def| !def.mutable)?;
            def.fields.iter().map(name).collect()
        }
    };
    fields.iter().all(|&(_, ty)| Scalar::of(ty).is_some()).then_some(Form::Fields(fields))
}

/// The value of a type that has just one: nothing, an empty tuple, a function, a closure without captures.
pub(super) fn only_value(ctx: &Context, ty: Type) -> Option<Val> {
    if ty == Type::UNIT {
        return Some(Val::Unit);
    }
    match ctx.kind(ty) {
        TypeKind::Tuple(types) if types.is_empty() => Some(Val::tuple([])),
        &TypeKind::Fn(name) => Some(Val::Func(name)),
        _ => {
            let def = ctx.struct_of(ty)?;
            (def.fields.is_empty() && !def.mutable).then(|| Val::structure(ty, []))
        }
    }
}
