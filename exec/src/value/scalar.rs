//! Scalars as they stand in slots of 8 bytes: in registers of the compact form, and as parts of unboxed elements.

use regraft_ir::Type;

use super::offsets::tag_of;
use super::val::Val;

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Scalar {
    /// All of them: each at the place that is its number.
    pub(crate) const ALL: [Self; 7] =
        [Self::Bool, Self::I8, Self::I16, Self::I32, Self::I64, Self::F32, Self::F64];

    /// The scalar of a type; `None` if its values live in the other register file.
    #[inline]
    pub(crate) fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::BOOL => Self::Bool,
            Type::I8 => Self::I8,
            Type::I16 => Self::I16,
            Type::I32 => Self::I32,
            Type::I64 => Self::I64,
            Type::F32 => Self::F32,
            Type::F64 => Self::F64,
            _ => return None,
        })
    }

    /// The tag of a value that is such a scalar.
    pub(crate) fn tag(self) -> u8 {
        tag_of(&self.boxed(0))
    }

    pub(crate) fn ty(self) -> Type {
        match self {
            Self::Bool => Type::BOOL,
            Self::I8 => Type::I8,
            Self::I16 => Type::I16,
            Self::I32 => Type::I32,
            Self::I64 => Type::I64,
            Self::F32 => Type::F32,
            Self::F64 => Type::F64,
        }
    }

    pub(crate) fn is_int(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    /// The value in a slot.
    #[inline]
    pub(crate) fn boxed(self, slot: u64) -> Val {
        match self {
            Self::Bool => Val::Bool(slot != 0),
            Self::I8 => Val::I8(slot as i8),
            Self::I16 => Val::I16(slot as i16),
            Self::I32 => Val::I32(slot as i32),
            Self::I64 => Val::I64(slot as i64),
            Self::F32 => Val::F32(f32::from_bits(slot as u32)),
            Self::F64 => Val::F64(f64::from_bits(slot)),
        }
    }

    /// The slot of a value, if it is of this type.
    #[inline]
    pub(crate) fn unboxed(self, value: &Val) -> Option<u64> {
        Some(match (self, value) {
            (Self::Bool, Val::Bool(x)) => u64::from(*x),
            (Self::I8, Val::I8(x)) => *x as u64,
            (Self::I16, Val::I16(x)) => *x as u64,
            (Self::I32, Val::I32(x)) => *x as u64,
            (Self::I64, Val::I64(x)) => *x as u64,
            (Self::F32, Val::F32(x)) => u64::from(x.to_bits()),
            (Self::F64, Val::F64(x)) => x.to_bits(),
            _ => return None,
        })
    }
}
