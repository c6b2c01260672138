//! Derivatives of arguments, for functions that Rust calls.

// Numbers are lent by their addresses.
#![allow(unsafe_code)]

use std::any::type_name;
use std::marker::PhantomData;
use std::ptr::NonNull;

use regraft_ir::{Context, Type};

use super::param::{ByMut, ByRef, ByValue, Param, Way};
use super::params::Params;
use super::passing::Passing;
use crate::error::Trap;
use crate::value::{Element, Val};

/// A parameter by which a function can be differentiated, or one without a derivative.
pub trait Active: Param {
    /// The way to pass a place for the derivative by it: `&mut f64`, `&mut [f64]`, or `()` where there is none.
    type Shadow: Param;
    /// The way to pass a direction: `f64`, `&[f64]`, or `()`.
    type Direction: Param;
}

/// Parameters by which a function can be differentiated.
pub trait ActiveParams: Params {
    /// The places for the derivatives.
    type Shadows: Params;
    /// A direction.
    type Directions: Params;
}

/// A type of numbers or truth values.
pub trait Number: Element {
    /// As of a parameter of this type.
    type Shadow: Param;
    /// As of a parameter of this type.
    type Direction: Param;
    /// As of a parameter that is a slice.
    type SliceShadow: Param;
    /// As of a parameter that is a slice.
    type SliceDirection: Param;
}

/// A number in Rust that a program writes to: `&mut f64`, a vector of one element there.
#[derive(Debug)]
pub struct InPlace<T>(PhantomData<T>);

/// Nothing: `()`.
#[derive(Debug)]
pub struct Nothing;

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            type Shadow = InPlace<$ty>;
            type Direction = ByValue<$ty>;
            type SliceShadow = ByMut<[$ty]>;
            type SliceDirection = ByRef<[$ty]>;
        }
    )*};
}
floats!(f32, f64);

macro_rules! discrete {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            type Shadow = Nothing;
            type Direction = Nothing;
            type SliceShadow = Nothing;
            type SliceDirection = Nothing;
        }
    )*};
}
discrete!(bool, i8, i16, i32, i64);

impl<T: Number> Active for ByValue<T> {
    type Shadow = T::Shadow;
    type Direction = T::Direction;
}

impl<T: Number> Active for ByRef<[T]> {
    type Shadow = T::SliceShadow;
    type Direction = T::SliceDirection;
}

impl<T: Number> Active for ByMut<[T]> {
    type Shadow = T::SliceShadow;
    type Direction = T::SliceDirection;
}

macro_rules! active {
    ($($name:ident)*) => {
        impl<$($name: Active),*> ActiveParams for ($($name,)*) {
            type Shadows = ($($name::Shadow,)*);
            type Directions = ($($name::Direction,)*);
        }
    };
}
active!(A);
active!(A B);
active!(A B C);
active!(A B C D);
active!(A B C D E);
active!(A B C D E G);
active!(A B C D E G H);
active!(A B C D E G H I);
active!(A B C D E G H I J);
active!(A B C D E G H I J K);
active!(A B C D E G H I J K L);
active!(A B C D E G H I J K L M);

impl<T: Element> Param for InPlace<T> {
    type Arg<'a> = &'a mut T;

    fn ty(ctx: &Context) -> Type {
        ctx.array_type(T::TYPE, 1)
    }

    fn way() -> Way {
        Way { array: Some((T::TYPE, 1)), is_read_only: false, rust: type_name::<T>() }
    }

    #[inline]
    fn pass(arg: &mut T, to: &mut Passing<'_>) -> Result<(), Trap> {
        // SAFETY: the number is borrowed exclusively until the call is over, and that ends the loan.
        to.pass_array(|lent| unsafe { lent.loan.begin(NonNull::from(arg), &[1]) })
    }
}

impl Param for Nothing {
    type Arg<'a> = ();

    fn ty(_: &Context) -> Type {
        Type::UNIT
    }

    fn way() -> Way {
        Way { array: None, is_read_only: false, rust: "()" }
    }

    fn pass((): (), to: &mut Passing<'_>) -> Result<(), Trap> {
        to.pass_value(Val::Unit)
    }
}
