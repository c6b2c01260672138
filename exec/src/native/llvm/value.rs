//! Operands of LLVM IR text.

use std::fmt;

use super::super::emitter::{Arg, Mem};
use crate::interp::Class;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Int,
    Ptr,
    Single,
    Double,
}

impl Type {
    /// The end of the name of an intrinsic function of this type.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Int => "i64",
            Self::Ptr => "p0",
            Self::Single => "f32",
            Self::Double => "f64",
        }
    }
}

impl From<Class> for Type {
    fn from(class: Class) -> Self {
        match class {
            Class::Int => Self::Int,
            Class::Single => Self::Single,
            Class::Double => Self::Double,
        }
    }
}

impl From<Arg> for Type {
    fn from(arg: Arg) -> Self {
        match arg {
            Arg::Int => Self::Int,
            Arg::Ptr => Self::Ptr,
            Arg::Single => Self::Single,
            Arg::Double => Self::Double,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "i64",
            Self::Ptr => "ptr",
            Self::Single => "float",
            Self::Double => "double",
        })
    }
}

/// The type of a place in memory.
pub(super) fn mem_type(mem: Mem) -> &'static str {
    match mem {
        Mem::I8 => "i8",
        Mem::I16 => "i16",
        Mem::I32 => "i32",
        Mem::I64 => "i64",
        Mem::F32 => "float",
        Mem::F64 => "double",
        Mem::Ptr => "ptr",
    }
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// The result of an instruction.
    Local(u32, Type),
    /// A parameter.
    Param(u32, Type),
    Int(i64),
    Single(u32),
    Double(u64),
    Address(usize),
    /// An address by a name, its number.
    Named(usize),
}

impl Value {
    pub(super) fn ty(self) -> Type {
        match self {
            Self::Local(_, ty) | Self::Param(_, ty) => ty,
            Self::Int(_) => Type::Int,
            Self::Single(_) => Type::Single,
            Self::Double(_) => Type::Double,
            Self::Address(_) | Self::Named(_) => Type::Ptr,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Local(number, _) => write!(f, "%{number}"),
            Self::Param(0, _) => f.write_str("%cx"),
            Self::Param(1, _) => f.write_str("%scalars"),
            Self::Param(2, _) => f.write_str("%vals"),
            Self::Param(number, _) => write!(f, "%a{}", number - 3),
            Self::Int(x) => write!(f, "{x}"),
            Self::Single(bits) => write!(f, "0x{:016X}", widened(bits)),
            Self::Double(bits) => write!(f, "0x{bits:016X}"),
            Self::Address(address) => write!(f, "inttoptr (i64 {address} to ptr)"),
            Self::Named(number) => write!(f, "@address.{number}"),
        }
    }
}

/// The bits of the `f64` of the same value as an `f32`, by which the text gives it.
fn widened(bits: u32) -> u64 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        let sign = u64::from(bits >> 31) << 63;
        return sign | (0x7ff << 52) | (u64::from(bits & 0x007f_ffff) << 29);
    }
    f64::from(x).to_bits()
}
