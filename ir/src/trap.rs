//! Run-time errors.

use std::fmt;

use crate::Type;

/// A run-time error, as Julia names it. The place and the calls that led there are known to
/// the engine alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trap {
    /// Division of an integer by zero, or a quotient out of range.
    Divide,
    /// The result of checked integer arithmetic is out of the range of its type.
    Overflow {
        /// The name of the result: `sum`.
        what: &'static str,
        /// The type that it does not fit.
        ty: Type,
    },
    /// A number has no equal of another type.
    Inexact {
        /// The number.
        value: Number,
        /// The type.
        to: Type,
    },
    /// A function is not defined (as a real number) for an argument.
    Domain {
        /// The name of the function.
        function: &'static str,
        /// The argument.
        value: Number,
    },
    /// An index is out of bounds.
    Bounds {
        /// The index, counted from 1.
        index: i64,
        /// The number of elements along that dimension, or of all.
        length: i64,
    },
    /// An argument does not make sense.
    Argument(&'static str),
    /// An element was read before it was set.
    UndefRef,
    /// More memory was asked for than there is.
    OutOfMemory,
    /// Control got to where it should not.
    Unreachable,
}

/// A number in a message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer of any width.
    Int(i64),
    /// A float; an `f32` is widened.
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Float(x) if x.is_nan() => f.write_str("NaN"),
            Self::Float(x) if x.is_infinite() => f.write_str(if *x < 0.0 { "-Inf" } else { "Inf" }),
            Self::Float(x) if *x == 0.0 || (1e-4..1e6).contains(&x.abs()) => write!(f, "{x:?}"),
            Self::Float(x) => {
                let text = format!("{x:e}");
                match text.split_once('e') {
                    Some((digits, power)) if !digits.contains('.') => {
                        write!(f, "{digits}.0e{power}")
                    }
                    _ => f.write_str(&text),
                }
            }
        }
    }
}

impl Trap {
    /// The name of the error: `DivideError`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Divide => "DivideError",
            Self::Overflow { .. } => "OverflowError",
            Self::Inexact { .. } => "InexactError",
            Self::Domain { .. } => "DomainError",
            Self::Bounds { .. } => "BoundsError",
            Self::Argument(_) => "ArgumentError",
            Self::UndefRef => "UndefRefError",
            Self::OutOfMemory => "OutOfMemoryError",
            Self::Unreachable => "UnreachableError",
        }
    }
}

/// A number type (or `Bool`) as Julia names it.
pub fn number_name(ty: Type) -> &'static str {
    match ty {
        Type::BOOL => "Bool",
        Type::I8 => "Int8",
        Type::I16 => "Int16",
        Type::I32 => "Int32",
        Type::I64 => "Int64",
        Type::F32 => "Float32",
        Type::F64 => "Float64",
        _ => "?",
    }
}

/// The reason why a function is not defined somewhere, as Julia says it.
fn reason(function: &str) -> String {
    match function {
        "sqrt" | "log" | "log2" | "log10" => format!(
            "{function} was called with a negative real argument but will only return a complex \
             result if called with a complex argument. Try {function}(Complex(x))."
        ),
        "log1p" => "log1p was called with a real argument < -1 but will only return a complex \
                    result if called with a complex argument. Try log1p(Complex(x))."
            .to_owned(),
        "sin" | "cos" | "tan" | "sinpi" | "cospi" => {
            format!("{function}(x) is only defined for finite x.")
        }
        "asin" | "acos" => format!("{function}(x) is not defined for |x| > 1."),
        "acosh" => "acosh(x) is only defined for x ≥ 1.".to_owned(),
        "atanh" => "atanh(x) is only defined for |x| ≤ 1.".to_owned(),
        "the power to a fraction" => {
            "Exponentiation yielding a complex result requires a complex argument.\nReplace x^y \
             with (x+0im)^y, Complex(x)^y, or similar."
                .to_owned()
        }
        "the power to a negative integer" => {
            "Cannot raise an integer x to a negative power.\nMake x a float by adding a zero \
             decimal (e.g., 2.0^-n instead of 2^-n) or write 1/x^n or float(x)^-n."
                .to_owned()
        }
        other => format!("{other} is not defined there."),
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Domain { function, value } = self {
            return write!(f, "{} with {value}:\n{}", self.name(), reason(function));
        }
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Divide => f.write_str("integer division error"),
            Self::Overflow { what, ty } => {
                write!(f, "the {what} is out of the range of {}", number_name(*ty))
            }
            Self::Inexact { value, to } => write!(f, "{}({value})", number_name(*to)),
            Self::Domain { .. } => Ok(()),
            Self::Bounds { index, length } => {
                write!(f, "attempt to access {length} elements at index [{index}]")
            }
            Self::Argument(what) => f.write_str(what),
            Self::UndefRef => f.write_str("access to undefined reference"),
            Self::OutOfMemory => f.write_str("out of memory"),
            Self::Unreachable => f.write_str("unreachable code was reached"),
        }
    }
}

impl std::error::Error for Trap {}
