//! Types. They are interned in a [`Context`](crate::Context), so that two types are equal if
//! and only if their ids are.

use crate::entity::INDEX_MASK;
use crate::{Const, StructId, Symbol};

/// The id of an interned type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type(pub(crate) u32);

impl Type {
    /// The dynamic type: any value, known only when the program runs.
    pub const ANY: Self = Self(0);
    /// The type of what never yields a value, such as a terminator or a `throw`.
    pub const NEVER: Self = Self(1);
    /// The type of `nothing`.
    pub const UNIT: Self = Self(2);
    /// `true` and `false`.
    pub const BOOL: Self = Self(3);
    /// 8-bit two's complement integers.
    pub const I8: Self = Self(4);
    /// 16-bit two's complement integers.
    pub const I16: Self = Self(5);
    /// 32-bit two's complement integers.
    pub const I32: Self = Self(6);
    /// 64-bit two's complement integers.
    pub const I64: Self = Self(7);
    /// IEEE 754 binary32.
    pub const F32: Self = Self(8);
    /// IEEE 754 binary64.
    pub const F64: Self = Self(9);
    /// Symbols: `:name`.
    pub const SYM: Self = Self(10);
    /// Strings.
    pub const STR: Self = Self(11);

    /// The types above with their names, in the order of their ids.
    pub const BUILTIN: [(Self, &'static str); 12] = [
        (Self::ANY, "any"),
        (Self::NEVER, "never"),
        (Self::UNIT, "unit"),
        (Self::BOOL, "bool"),
        (Self::I8, "i8"),
        (Self::I16, "i16"),
        (Self::I32, "i32"),
        (Self::I64, "i64"),
        (Self::F32, "f32"),
        (Self::F64, "f64"),
        (Self::SYM, "sym"),
        (Self::STR, "str"),
    ];

    /// Returns whether it is one of the integer types `i8` to `i64`.
    #[inline]
    pub const fn is_int(self) -> bool {
        self.0 >= Self::I8.0 && self.0 <= Self::I64.0
    }

    /// Returns whether it is `f32` or `f64`.
    #[inline]
    pub const fn is_float(self) -> bool {
        self.0 == Self::F32.0 || self.0 == Self::F64.0
    }

    /// Returns whether it is an integer or a float type.
    #[inline]
    pub const fn is_number(self) -> bool {
        self.0 >= Self::I8.0 && self.0 <= Self::F64.0
    }

    /// Returns whether a value of it is one machine scalar: a bool, an integer or a float.
    #[inline]
    pub const fn is_scalar(self) -> bool {
        self.0 >= Self::BOOL.0 && self.0 <= Self::F64.0
    }

    /// The width of an integer or float type in bits.
    pub const fn bits(self) -> Option<u32> {
        match self {
            Self::I8 => Some(8),
            Self::I16 => Some(16),
            Self::I32 | Self::F32 => Some(32),
            Self::I64 | Self::F64 => Some(64),
            _ => None,
        }
    }

    /// Returns whether a value of this type may be used where one of type `to` is expected without
    /// any conversion: equal types, anything as `any`, and `never` (which has no values) as
    /// anything.
    #[inline]
    pub const fn is_assignable_to(self, to: Self) -> bool {
        self.0 == to.0 || to.0 == Self::ANY.0 || self.0 == Self::NEVER.0
    }

    /// A dense index for side tables.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & INDEX_MASK) as usize
    }
}

/// The parts that a type is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// One of [`Type::BUILTIN`].
    Builtin,
    /// `tuple<i64, f64>`.
    Tuple(Box<[Type]>),
    /// `{a: f64, b: i64}`, a named tuple; the order of the fields counts.
    Named(Box<[(Symbol, Type)]>),
    /// `@P`, a nominal struct; [`StructDef`] tells its fields.
    Struct(StructId),
    /// `array<f64, 2>`: dense, column-major, an object.
    Array {
        /// The type of the elements.
        element: Type,
        /// The number of dimensions, at least 1.
        rank: u8,
    },
    /// `ref<f64>`: a one-cell object.
    Ref(Type),
    /// `fn<@f>`: the type of the function value `@f` alone.
    Fn(Symbol),
    /// `val<:f>`: a constant as a type.
    Val(Const),
    /// `type<f64>`: the type of the type value `!f64` alone.
    TypeOf(Type),
}

/// The size of the text that a type stands for, although its parts are shared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TypeSize {
    pub(crate) parts: u32,
    pub(crate) depth: u32,
}

impl TypeSize {
    /// The largest type that is made for a result out of smaller ones.
    pub(crate) const MAX_INFERRED: Self = Self { parts: 1 << 16, depth: 200 };
    /// The largest type that is written down in full. Much more than can be inferred, since what
    /// a text states has to be printed again.
    pub(crate) const MAX_WRITTEN: Self = Self { parts: 1 << 24, depth: 1 << 9 };
    pub(crate) const ONE: Self = Self { parts: 1, depth: 0 };

    /// Returns whether it is larger in one way or the other.
    pub(crate) fn exceeds(self, other: Self) -> bool {
        self.parts > other.parts || self.depth > other.depth
    }

    /// The size of a type with these parts.
    pub(crate) fn around(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self { parts: 1, depth: 1 }, |whole, part| Self {
            parts: whole.parts.saturating_add(part.parts),
            depth: whole.depth.max(part.depth.saturating_add(1)),
        })
    }
}

/// A type as it is interned. Its size follows from its kind.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct SizedType {
    pub(crate) kind: TypeKind,
    pub(crate) size: TypeSize,
}

/// A nominal struct type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StructDef {
    /// Its name, without the `@`.
    pub name: Symbol,
    /// True if it is an object whose fields can be set, rather than a value.
    pub mutable: bool,
    /// Field names and types, in order.
    pub fields: Box<[(Symbol, Type)]>,
    /// For a closure, the function that runs when the struct is called; the struct itself is
    /// its first argument.
    pub call: Option<Symbol>,
}

impl StructDef {
    /// The position and type of a field. O(fields).
    pub fn field(&self, name: Symbol) -> Option<(usize, Type)> {
        let index = self.fields.iter().position(|&(field, _)| field == name)?;
        Some((index, self.fields[index].1))
    }
}
