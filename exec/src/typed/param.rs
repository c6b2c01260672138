//! The ways to pass an argument.

// Slices are lent by their addresses.
#![allow(unsafe_code)]

use std::any::type_name;
use std::marker::PhantomData;
use std::ptr::NonNull;

use regraft_ir::{Context, Type};

use super::passing::Passing;
use crate::error::Trap;
use crate::value::{Dims, Element};

/// A parameter of a [`Signature`](super::Signature).
pub trait Param: 'static {
    /// The argument in Rust.
    type Arg<'a>;

    /// The type in the program.
    fn ty(ctx: &Context) -> Type;

    /// The way in which it is passed.
    fn way() -> Way;

    /// The same argument, for a shorter time.
    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b>;

    /// The lengths of an argument that is lent as an array; none of another one.
    fn lengths(arg: &Self::Arg<'_>) -> Dims {
        let _ = arg;
        Dims::new()
    }

    /// Writes an argument to its register.
    #[doc(hidden)]
    fn pass(arg: Self::Arg<'_>, to: &mut Passing<'_>) -> Result<(), Trap>;
}

/// The way in which an argument is passed.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The type of the elements and the rank, if it is lent as an array.
    pub array: Option<(Type, u8)>,
    /// True if it is lent and may not be written to.
    pub is_read_only: bool,
    /// The type in Rust, without the reference.
    pub rust: &'static str,
}

/// A number or truth value.
#[derive(Debug)]
pub struct ByValue<T>(PhantomData<T>);

/// What is lent, and not written to: `&[T]`.
#[derive(Debug)]
pub struct ByRef<P: ?Sized>(PhantomData<P>);

/// What is lent, and may be written to: `&mut [T]`.
#[derive(Debug)]
pub struct ByMut<P: ?Sized>(PhantomData<P>);

/// Elements in memory order, the first index running fastest, that can be lent to a program as an array.
pub trait Lend: sealed::Sealed + 'static {
    /// The type of the elements.
    type Element: Element;
    /// One length for each dimension.
    type Lengths: AsRef<[usize]>;
    /// The number of dimensions.
    const RANK: u8;

    /// The lengths.
    fn lengths(&self) -> Self::Lengths;

    /// The elements; `None` if they are in another order.
    #[doc(hidden)]
    fn elements(&self) -> Option<&[Self::Element]>;

    /// The same, to be written to.
    #[doc(hidden)]
    fn elements_mut(&mut self) -> Option<&mut [Self::Element]>;
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl<T: crate::value::Element> Sealed for [T] {}
}

impl<T: Element> Lend for [T] {
    type Element = T;
    type Lengths = [usize; 1];
    const RANK: u8 = 1;

    #[inline]
    fn lengths(&self) -> [usize; 1] {
        [self.len()]
    }

    #[inline]
    fn elements(&self) -> Option<&[T]> {
        Some(self)
    }

    #[inline]
    fn elements_mut(&mut self) -> Option<&mut [T]> {
        Some(self)
    }
}

impl<T: Element> Param for ByValue<T> {
    type Arg<'a> = T;

    fn ty(_: &Context) -> Type {
        T::TYPE
    }

    fn way() -> Way {
        Way { array: None, is_read_only: false, rust: type_name::<T>() }
    }

    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
        arg
    }

    #[inline]
    fn pass(arg: T, to: &mut Passing<'_>) -> Result<(), Trap> {
        to.pass_scalar(arg)
    }
}

impl<P: Lend + ?Sized> Param for ByRef<P> {
    type Arg<'a> = &'a P;

    fn ty(ctx: &Context) -> Type {
        ctx.array_type(P::Element::TYPE, P::RANK)
    }

    fn way() -> Way {
        let array = Some((P::Element::TYPE, P::RANK));
        Way { array, is_read_only: true, rust: type_name::<P>() }
    }

    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
        arg
    }

    fn lengths(arg: &&P) -> Dims {
        Dims::from_slice(P::lengths(arg).as_ref())
    }

    #[inline]
    fn pass(arg: &P, to: &mut Passing<'_>) -> Result<(), Trap> {
        to.pass_array(|lent| {
            let (items, lengths) = (arg.elements()?, arg.lengths());
            if lent.copies {
                return lent.loan.begin_with_copy(items, lengths.as_ref());
            }
            // SAFETY: the elements are borrowed until the call is over, and that ends the loan. They are
            // not written to, as `read_only` has found.
            unsafe { lent.loan.begin(NonNull::from(items).cast::<P::Element>(), lengths.as_ref()) }
        })
    }
}

impl<P: Lend + ?Sized> Param for ByMut<P> {
    type Arg<'a> = &'a mut P;

    fn ty(ctx: &Context) -> Type {
        ctx.array_type(P::Element::TYPE, P::RANK)
    }

    fn way() -> Way {
        let array = Some((P::Element::TYPE, P::RANK));
        Way { array, is_read_only: false, rust: type_name::<P>() }
    }

    fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
        arg
    }

    fn lengths(arg: &&mut P) -> Dims {
        Dims::from_slice(P::lengths(arg).as_ref())
    }

    #[inline]
    fn pass(arg: &mut P, to: &mut Passing<'_>) -> Result<(), Trap> {
        to.pass_array(|lent| {
            let lengths = arg.lengths();
            let items = arg.elements_mut()?;
            // SAFETY: the elements are borrowed exclusively until the call is over, and that ends the loan.
            unsafe { lent.loan.begin(NonNull::from(items).cast::<P::Element>(), lengths.as_ref()) }
        })
    }
}
