//! The element types of arrays, each with the way in which arrays keep such elements.

use regraft_ir::{Context, Type};

use super::unboxed_type::UnboxedType;
use super::val::Val;

/// The type of the elements of an array, with their build if they are unboxed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType {
    ty: Type,
    unboxed: Option<UnboxedType>,
}

impl ElementType {
    /// Values of any type.
    pub const ANY: Self = Self { ty: Type::ANY, unboxed: None };

    /// The element type of arrays of this type. O(parts).
    pub fn of(ctx: &Context, ty: Type) -> Self {
        let unboxed = if ty.is_scalar() { None } else { UnboxedType::of(ctx, ty) };
        Self { ty, unboxed }
    }

    /// The type of scalars or strings.
    ///
    /// # Panics
    /// If it is not a built-in type.
    pub fn builtin(ty: Type) -> Self {
        assert!(ty.is_scalar() || ty == Type::STR, "{ty:?} is built in");
        Self { ty, unboxed: None }
    }

    pub(super) fn new(ty: Type, unboxed: Option<UnboxedType>) -> Self {
        Self { ty, unboxed }
    }

    /// The type.
    #[inline]
    pub fn ty(self) -> Type {
        self.ty
    }

    /// The build of the elements, if they are unboxed.
    #[inline]
    pub fn unboxed(self) -> Option<UnboxedType> {
        self.unboxed
    }

    /// The bytes that an element takes.
    #[inline]
    pub fn size(self) -> usize {
        match (self.ty, self.unboxed) {
            (_, Some(unboxed)) => unboxed.size(),
            (Type::BOOL | Type::I8, _) => 1,
            (Type::I16, _) => 2,
            (Type::I32 | Type::F32, _) => 4,
            (Type::I64 | Type::F64, _) => 8,
            _ => size_of::<Val>(),
        }
    }
}
