//! The values of literal arguments.

use std::ops::Range;

use regraft_exec::value::{Array, ElementType, Val, type_name};
use regraft_ir::{Constant, Context, Diagnostic, Source, Type};
use regraft_syntax::{Argument, Number};

type Placed = (Argument, Range<usize>);

/// The value of an argument, as Julia would give it: `[1, 2.0]` is an array of floats.
///
/// # Errors
/// If a number does not fit its type, or if a type is unknown.
pub(super) fn value(
    ctx: &Context,
    source: &Source,
    (argument, span): &Placed,
) -> Result<Val, Diagnostic> {
    let wrong = |message: String| Diagnostic::error(message).at(source, span.clone(), "");
    let many = |items: &[Placed]| -> Result<Vec<Val>, Diagnostic> {
        items.iter().map(|item| value(ctx, source, item)).collect()
    };
    Ok(match argument {
        Argument::Nothing => Val::Unit,
        &Argument::Bool(x) => Val::Bool(x),
        Argument::Number(x) => number(x),
        Argument::Symbol(name) => Val::Sym(ctx.symbol(name)),
        Argument::Text(text) => Val::str(text.as_str()),
        Argument::Convert(name, x) => {
            let ty = type_of_name(name).ok_or_else(|| wrong(format!("unknown type `{name}`")))?;
            convert(ctx, &number(x), ty)
                .ok_or_else(|| wrong(format!("{x} is no value of type {name}")))?
        }
        Argument::Tuple(items) => Val::tuple(many(items)?),
        Argument::Named(fields) => {
            let mut values = Vec::new();
            for (i, (name, item)) in fields.iter().enumerate() {
                if fields[..i].iter().any(|(before, _)| before == name) {
                    return Err(wrong(format!("field `{name}` is there twice")));
                }
                values.push((name.as_str(), value(ctx, source, item)?));
            }
            Val::named(ctx, values)
        }
        Argument::Vector(element, items) => {
            let items = many(items)?;
            let dims = [items.len()];
            array(ctx, element.as_deref(), items, &dims).map_err(wrong)?
        }
        Argument::Matrix(element, rows) => {
            let columns = rows[0].len();
            if rows.iter().any(|row| row.len() != columns) {
                return Err(wrong("the rows of a matrix are of equal length".to_owned()));
            }
            // Arrays are stored by column, and written by row.
            let mut items = Vec::new();
            for column in 0..columns {
                for row in rows {
                    items.push(value(ctx, source, &row[column])?);
                }
            }
            array(ctx, element.as_deref(), items, &[rows.len(), columns]).map_err(wrong)?
        }
    })
}

fn number(x: &Number) -> Val {
    match *x {
        Number::Int(x) => Val::I64(x),
        Number::Float(x) => Val::F64(x),
        Number::Float32(x) => Val::F32(x),
    }
}

/// The types by their Julia names.
fn type_of_name(name: &str) -> Option<Type> {
    Some(match name {
        "Bool" => Type::BOOL,
        "Int8" => Type::I8,
        "Int16" => Type::I16,
        "Int32" => Type::I32,
        "Int64" | "Int" => Type::I64,
        "Float32" => Type::F32,
        "Float64" => Type::F64,
        "Any" => Type::ANY,
        _ => return None,
    })
}

/// Converts a scalar, if its value is one of the type.
fn convert(ctx: &Context, x: &Val, ty: Type) -> Option<Val> {
    if ty == Type::ANY || x.type_of(ctx) == ty {
        return Some(x.clone());
    }
    let constant = match x.as_constant(ctx)? {
        Constant::Bool(x) => Constant::I64(x.into()),
        constant => constant,
    };
    let made = match (constant.as_int(), constant.as_float()) {
        (Some(int @ (0 | 1)), _) if ty == Type::BOOL => Constant::Bool(int == 1),
        (_, Some(float)) if ty == Type::BOOL && (float == 0.0 || float == 1.0) => {
            Constant::Bool(float == 1.0)
        }
        (Some(int), _) if ty.is_int() => {
            Constant::int(ty, int).filter(|made| made.as_int() == Some(int))?
        }
        (Some(int), _) if ty == Type::F32 => Constant::from(int as f32),
        (Some(int), _) if ty.is_float() => Constant::float(ty, int as f64)?,
        (_, Some(float)) if ty.is_float() => Constant::float(ty, float)?,
        // Below 2^63, what is whole is an `i64`.
        (_, Some(float)) if ty.is_int() && float.fract() == 0.0 && float.abs() < 2f64.powi(63) => {
            let int = float as i64;
            Constant::int(ty, int).filter(|made| made.as_int() == Some(int))?
        }
        _ => return None,
    };
    Some(Val::constant(ctx, made))
}

/// An array. Without an element type, numbers of different types are promoted as Julia does.
fn array(
    ctx: &Context,
    element: Option<&str>,
    items: Vec<Val>,
    dims: &[usize],
) -> Result<Val, String> {
    let element = match element {
        Some(name) => type_of_name(name).ok_or_else(|| format!("unknown type `{name}`"))?,
        None => common_type(ctx, &items),
    };
    let converted: Option<Vec<Val>> = items.iter().map(|x| convert(ctx, x, element)).collect();
    let items = converted
        .ok_or_else(|| format!("an element is no value of type {}", type_name(ctx, element)))?;
    let array = Array::of_values(ElementType::of(ctx, element), &items, dims);
    array.map(Val::from).map_err(|error| error.to_string())
}

/// The type that Julia promotes the elements of an array literal to.
fn common_type(ctx: &Context, items: &[Val]) -> Type {
    let mut types = items.iter().map(|x| x.type_of(ctx));
    let Some(first) = types.next() else { return Type::ANY };
    types.fold(first, |a, b| {
        if a == b {
            return a;
        }
        match (a.is_number(), b.is_number()) {
            (true, false) if b == Type::BOOL => a,
            (false, true) if a == Type::BOOL => b,
            (true, true) if a == Type::F64 || b == Type::F64 => Type::F64,
            (true, true) if a == Type::F32 || b == Type::F32 => Type::F32,
            (true, true) => {
                if a.bits() > b.bits() {
                    a
                } else {
                    b
                }
            }
            _ => Type::ANY,
        }
    })
}
