//! Constants, interned in a [`Context`](crate::Context).

use crate::{Symbol, Type};

/// The value of a constant operand or of an attribute.
///
/// Floats are kept as bits: two constants are the same if and only if they are the same bit for
/// bit, so that `0.0` and `-0.0` differ and a NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// `nothing`.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `3i8`.
    I8(i8),
    /// `3i16`.
    I16(i16),
    /// `3i32`.
    I32(i32),
    /// `3`.
    I64(i64),
    /// `1.0f32`, as bits.
    F32(u32),
    /// `1.0`, as bits.
    F64(u64),
    /// `:name`.
    Sym(Symbol),
    /// `"text"`.
    Str(Symbol),
    /// `@f`, the function of that name.
    Func(Symbol),
    /// `!f64`, a type as a value.
    Type(Type),
}

impl Constant {
    /// The zero of a scalar type, which is `false` for `bool`; `None` for other types.
    pub const fn zero(ty: Type) -> Option<Self> {
        match ty {
            Type::BOOL => Some(Self::Bool(false)),
            Type::F32 | Type::F64 => Self::float(ty, 0.0),
            _ => Self::int(ty, 0),
        }
    }

    /// The constant of an integer type nearest to `value` under wrapping; `None` if `ty` is no
    /// integer type.
    pub const fn int(ty: Type, value: i64) -> Option<Self> {
        Some(match ty {
            Type::I8 => Self::I8(value as i8),
            Type::I16 => Self::I16(value as i16),
            Type::I32 => Self::I32(value as i32),
            Type::I64 => Self::I64(value),
            _ => return None,
        })
    }

    /// The constant of a float type nearest to `value`; `None` if `ty` is no float type.
    pub const fn float(ty: Type, value: f64) -> Option<Self> {
        Some(match ty {
            Type::F32 => Self::F32((value as f32).to_bits()),
            Type::F64 => Self::F64(value.to_bits()),
            _ => return None,
        })
    }

    /// The value of an integer constant of any width.
    pub const fn as_int(self) -> Option<i64> {
        Some(match self {
            Self::I8(x) => x as i64,
            Self::I16(x) => x as i64,
            Self::I32(x) => x as i64,
            Self::I64(x) => x,
            _ => return None,
        })
    }

    /// The value of a float constant of any width (exactly: an `f32` is widened).
    pub const fn as_float(self) -> Option<f64> {
        Some(match self {
            Self::F32(bits) => f32::from_bits(bits) as f64,
            Self::F64(bits) => f64::from_bits(bits),
            _ => return None,
        })
    }
}

impl From<bool> for Constant {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// There is no such conversion of an `i32`, so that a plain number is an `i64`.
impl From<i64> for Constant {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<f32> for Constant {
    fn from(value: f32) -> Self {
        Self::F32(value.to_bits())
    }
}

impl From<f64> for Constant {
    fn from(value: f64) -> Self {
        Self::F64(value.to_bits())
    }
}
