//! Results of functions in Rust.

use regraft_ir::{Context, Type};

use crate::interp::{Returned as Raw, Scalar};
use crate::value::{Element, Val};

/// The result of a [`Signature`](super::Signature): a number or truth value, a tuple of such, a vector of
/// such, whose elements are copied, or `()`, which takes any result and drops it.
pub trait Output: Sized + 'static {
    /// The type in the program; `None` for any.
    fn ty(ctx: &Context) -> Option<Type>;

    /// Takes a result of that type.
    #[doc(hidden)]
    fn take(result: Returned) -> Option<Self>;
}

/// A result on its way out of a program.
#[derive(Debug)]
pub enum Returned {
    /// A scalar in the form that it has in a register.
    Scalar(u64),
    /// Anything else.
    Val(Val),
}

impl From<Raw> for Returned {
    #[inline]
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::Scalar(slot) => Self::Scalar(slot),
            Raw::Val(value) => Self::Val(value),
            Raw::Parts => Self::Val(Val::Unit),
        }
    }
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl Output for $ty {
            fn ty(_: &Context) -> Option<Type> {
                Some(<$ty as Element>::TYPE)
            }

            #[inline]
            fn take(result: Returned) -> Option<Self> {
                let value = match result {
                    Returned::Scalar(slot) => Scalar::of(<$ty as Element>::TYPE)?.boxed(slot),
                    Returned::Val(value) => value,
                };
                let scalar = Self::from_val(&value);
                value.discard();
                scalar
            }
        }
    )*};
}
scalars!(bool, i8, i16, i32, i64, f32, f64);

impl Output for () {
    fn ty(_: &Context) -> Option<Type> {
        None
    }

    #[inline]
    fn take(result: Returned) -> Option<Self> {
        if let Returned::Val(value) = result {
            value.discard();
        }
        Some(())
    }
}

impl<T: Element> Output for Vec<T> {
    fn ty(ctx: &Context) -> Option<Type> {
        Some(ctx.array_type(T::TYPE, 1))
    }

    fn take(result: Returned) -> Option<Self> {
        match result {
            Returned::Val(Val::Array(array)) => array.to_vec(),
            _ => None,
        }
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Element),*> Output for ($($name,)*) {
            fn ty(ctx: &Context) -> Option<Type> {
                Some(ctx.tuple_type(&[$($name::TYPE),*]))
            }

            fn take(result: Returned) -> Option<Self> {
                let Returned::Val(value) = result else { return None };
                let mut parts = value.as_fields()?.iter();
                Some(($($name::from_val(parts.next()?)?,)*))
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E G);
tuples!(A B C D E G H);
tuples!(A B C D E G H I);
