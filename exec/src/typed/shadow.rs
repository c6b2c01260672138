//! Derivatives of arguments, for functions that Rust calls.

// Numbers are lent by their addresses.
#![allow(unsafe_code)]

use std::any::type_name;
use std::marker::PhantomData;
use std::ptr::NonNull;

use regraft_ir::{Context, Type};

use super::output::Output;
use super::param::{ByMut, ByRef, ByValue, Param, Way};
use super::params::{Params, for_each_count};
use super::passing::Passing;
use crate::error::Trap;
use crate::value::Dims;
use crate::value::{Element, Val};

/// A parameter by which a function can be differentiated, or one without a derivative.
pub trait Active: Param {
    /// The way to pass a place for the derivative by it: `&mut f64`, `&mut [f64]`, or `()` where there is none.
    type Shadow: Param;
    /// The way to pass a direction: `f64`, `&[f64]`, or `()`.
    type Direction: Param;
    /// The derivative by it: `f64`, `Vec<f64>`, or `()`.
    type Gradient;

    /// A derivative of zero, for an argument.
    fn zero(arg: &Self::Arg<'_>) -> Self::Gradient;

    /// A derivative as a place that is passed.
    fn place(gradient: &mut Self::Gradient) -> <Self::Shadow as Param>::Arg<'_>;
}

/// Parameters by which a function can be differentiated.
pub trait ActiveParams: Params {
    /// The places for the derivatives.
    type Shadows: Params;
    /// A direction.
    type Directions: Params;
    /// The derivatives, a tuple.
    type Gradient;

    /// Derivatives of zero, for arguments.
    fn zeros(args: &Self::Args<'_>) -> Self::Gradient;

    /// Derivatives as places that are passed.
    fn places(gradient: &mut Self::Gradient) -> <Self::Shadows as Params>::Args<'_>;
}

/// A type of numbers or truth values.
pub trait Number: Element {
    /// As of a parameter of this type.
    type Shadow: Param;
    /// As of a parameter of this type.
    type Direction: Param;
    /// As of a parameter of this type.
    type Gradient: Default;
    /// As of a parameter that is a slice.
    type SliceShadow: Param;
    /// As of a parameter that is a slice.
    type SliceDirection: Param;
    /// As of a parameter that is a slice.
    type SliceGradient;

    #[doc(hidden)]
    fn place(gradient: &mut Self::Gradient) -> <Self::Shadow as Param>::Arg<'_>;
    #[doc(hidden)]
    fn zeros(len: usize) -> Self::SliceGradient;
    #[doc(hidden)]
    fn places(gradient: &mut Self::SliceGradient) -> <Self::SliceShadow as Param>::Arg<'_>;
}

/// A number in Rust that a program writes to: `&mut f64`, a vector of one element there.
#[derive(Debug)]
pub struct InPlace<T>(PhantomData<T>);

/// Nothing: `()`.
#[derive(Debug)]
pub struct Nothing;

/// What is passed as by `P`, and is a constant to derivatives: `()` stands in place of its shadow.
#[derive(Debug)]
pub struct Fixed<P>(PhantomData<P>);

/// The result of a function that has a gradient: a number, or `()` if only the gradient is wanted.
pub trait Valued: Output {
    /// True if the value is computed.
    const HAS_VALUE: bool;
}

impl<T: Element + Output> Valued for T {
    const HAS_VALUE: bool = true;
}

impl Valued for () {
    const HAS_VALUE: bool = false;
}

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            type Shadow = InPlace<$ty>;
            type Direction = ByValue<$ty>;
            type Gradient = $ty;
            type SliceShadow = ByMut<[$ty]>;
            type SliceDirection = ByRef<[$ty]>;
            type SliceGradient = Vec<$ty>;

            fn place(gradient: &mut $ty) -> &mut $ty {
                gradient
            }

            fn zeros(len: usize) -> Vec<$ty> {
                vec![0.0; len]
            }

            fn places(gradient: &mut Vec<$ty>) -> &mut [$ty] {
                gradient
            }
        }
    )*};
}
floats!(f32, f64);

macro_rules! discrete {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            type Shadow = Nothing;
            type Direction = Nothing;
            type Gradient = ();
            type SliceShadow = Nothing;
            type SliceDirection = Nothing;
            type SliceGradient = ();

            fn place((): &mut ()) {}

            fn zeros(_: usize) {}

            fn places((): &mut ()) {}
        }
    )*};
}
discrete!(bool, i8, i16, i32, i64);

impl<T: Number> Active for ByValue<T> {
    type Shadow = T::Shadow;
    type Direction = T::Direction;
    type Gradient = T::Gradient;

    fn zero(_: &T) -> T::Gradient {
        T::Gradient::default()
    }

    fn place(gradient: &mut T::Gradient) -> <T::Shadow as Param>::Arg<'_> {
        T::place(gradient)
    }
}

impl<P: Param> Active for Fixed<P> {
    type Shadow = Nothing;
    type Direction = Nothing;
    type Gradient = ();

    fn zero(_: &Self::Arg<'_>) {}

    fn place((): &mut ()) {}
}

macro_rules! slices {
    ($($way:ident),*) => {$(
        impl<T: Number> Active for $way<[T]> {
            type Shadow = T::SliceShadow;
            type Direction = T::SliceDirection;
            type Gradient = T::SliceGradient;

            fn zero(arg: &Self::Arg<'_>) -> T::SliceGradient {
                T::zeros(arg.len())
            }

            fn place(gradient: &mut T::SliceGradient) -> <T::SliceShadow as Param>::Arg<'_> {
                T::places(gradient)
            }
        }
    )*};
}
slices!(ByRef, ByMut);

macro_rules! active {
    ($($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($name: Active),*> ActiveParams for ($($name,)*) {
            type Shadows = ($($name::Shadow,)*);
            type Directions = ($($name::Direction,)*);
            type Gradient = ($($name::Gradient,)*);

            fn zeros(($($name,)*): &Self::Args<'_>) -> Self::Gradient {
                ($(<$name as Active>::zero($name),)*)
            }

            fn places(
                ($($name,)*): &mut Self::Gradient,
            ) -> <Self::Shadows as Params>::Args<'_> {
                ($(<$name as Active>::place($name),)*)
            }
        }
    };
}
for_each_count!(active);

impl<T: Element> Param for InPlace<T> {
    type Arg<'a> = &'a mut T;

    fn ty(ctx: &Context) -> Type {
        ctx.array_type(T::TYPE, 1)
    }

    fn way() -> Way {
        Way { array: Some((T::TYPE, 1)), is_read_only: false, rust: type_name::<T>() }
    }

    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
        arg
    }

    #[inline(always)]
    fn pass(arg: &mut T, to: &mut Passing<'_>) -> Result<(), Trap> {
        let lent = to.next_array()?;
        // SAFETY: the number is borrowed exclusively until the call is over, and that ends the loan.
        let array = unsafe { lent.loan.begin(NonNull::from(arg), &[1]) };
        to.pass_array(array)
    }
}

impl<P: Param> Param for Fixed<P> {
    type Arg<'a> = P::Arg<'a>;

    fn ty(ctx: &Context) -> Type {
        P::ty(ctx)
    }

    fn way() -> Way {
        P::way()
    }

    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
        P::shorten(arg)
    }

    fn lengths(arg: &Self::Arg<'_>) -> Dims {
        P::lengths(arg)
    }

    #[inline(always)]
    fn pass(arg: Self::Arg<'_>, to: &mut Passing<'_>) -> Result<(), Trap> {
        P::pass(arg, to)
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

    fn shorten<'b, 'a: 'b>((): ()) {}

    fn pass((): (), to: &mut Passing<'_>) -> Result<(), Trap> {
        to.pass_value(Val::Unit)
    }
}
