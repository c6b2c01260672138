//! Why a running program stops.

use std::fmt;

use crate::ir::Type;

/// A run-time error, as Julia names it. The place and the calls that led there are known to
/// the engine alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trap {
    /// Division of an integer by zero, or a quotient out of range.
    Divide,
    /// The result of checked integer arithmetic is out of the range of its type.
    Overflow {
        /// What was computed, in words: `sum`.
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
            Self::Float(x) => write!(f, "{x:?}"),
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

fn type_name(ty: Type) -> &'static str {
    Type::BUILTIN.get(ty.index()).map_or("?", |&(_, name)| name)
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Divide => f.write_str("integer division by zero or out of range"),
            Self::Overflow { what, ty } => {
                write!(f, "the {what} is out of the range of {}", type_name(*ty))
            }
            Self::Inexact { value, to } => {
                write!(f, "{value} has no equal of type {}", type_name(*to))
            }
            Self::Domain { function, value } => write!(f, "{function} is not defined at {value}"),
            Self::Bounds { index, length } => {
                write!(f, "index {index} is out of bounds 1:{length}")
            }
            Self::Argument(what) => f.write_str(what),
            Self::UndefRef => f.write_str("access to an element that was never set"),
            Self::OutOfMemory => f.write_str("out of memory"),
            Self::Unreachable => f.write_str("unreachable code was reached"),
        }
    }
}

impl std::error::Error for Trap {}
