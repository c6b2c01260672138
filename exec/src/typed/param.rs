//! The ways to pass an argument.

// Slices are lent by their addresses.
#![allow(unsafe_code)]

use std::any::type_name;
use std::marker::PhantomData;
use std::ptr::NonNull;

use regraft_ir::{Context, Type};

use super::passing::{Passing, too_many};
use crate::error::Trap;
use crate::value::{Dims, Element, Strides, are_in_order};

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

/// Elements that can be lent to a program as an array. In memory order, the first index running fastest, they stay where they
/// are. In another order, they are copied to this one for the time of a call, and back if they may be written to.
pub trait Lend: sealed::Sealed + 'static {
    /// The type of the elements.
    type Element: Element;
    /// One length for each dimension.
    type Lengths: AsRef<[usize]>;
    /// The number of dimensions.
    const RANK: u8;

    /// The lengths.
    fn lengths(&self) -> Self::Lengths;

    /// The address of the first element.
    #[doc(hidden)]
    fn data(&self) -> *const Self::Element;

    /// The same, to be written to.
    #[doc(hidden)]
    fn data_mut(&mut self) -> *mut Self::Element;

    /// The distances from an element to the next along each dimension, in elements; `None` if they are surely in memory order.
    #[doc(hidden)]
    fn distances(&self) -> Option<Strides>;
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
    fn data(&self) -> *const T {
        self.as_ptr()
    }

    #[inline]
    fn data_mut(&mut self) -> *mut T {
        self.as_mut_ptr()
    }

    #[inline]
    fn distances(&self) -> Option<Strides> {
        None
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

    #[inline(always)]
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

    #[inline(always)]
    fn pass(arg: &P, to: &mut Passing<'_>) -> Result<(), Trap> {
        // SAFETY: the elements are borrowed until the call is over.
        unsafe { pass_shared(arg.data(), arg.lengths().as_ref(), arg.distances(), to) }
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

    #[inline(always)]
    fn pass(arg: &mut P, to: &mut Passing<'_>) -> Result<(), Trap> {
        let (lengths, distances) = (arg.lengths(), arg.distances());
        // SAFETY: the elements are borrowed exclusively until the call is over.
        unsafe { pass_exclusive(arg.data_mut(), lengths.as_ref(), distances, to) }
    }
}

/// Lends elements that are not written to.
///
/// # Safety
/// At all indices there are elements until the call is over, which nobody writes to.
#[inline(always)]
pub(super) unsafe fn pass_shared<T: Element>(
    data: *const T,
    lengths: &[usize],
    strides: Option<Strides>,
    to: &mut Passing<'_>,
) -> Result<(), Trap> {
    let (lent, data) = (to.next_array()?, NonNull::new(data.cast_mut()).ok_or_else(too_many)?);
    // SAFETY: the caller says so, and the end of the call ends the loan. Elements that are not copied are not written
    // to, as `read_only` has found.
    let array = unsafe {
        match strides.filter(|strides| !are_in_order(lengths, strides)) {
            Some(strides) => lent.loan.begin_strided(data, lengths, &strides, false),
            None if lent.copies => lent.loan.begin_with_copy(data, lengths),
            None => lent.loan.begin(data, lengths),
        }
    };
    to.pass_array(array)
}

/// Lends elements that may be written to.
///
/// # Safety
/// At all indices there are elements until the call is over, which nobody else uses.
#[inline(always)]
pub(super) unsafe fn pass_exclusive<T: Element>(
    data: *mut T,
    lengths: &[usize],
    strides: Option<Strides>,
    to: &mut Passing<'_>,
) -> Result<(), Trap> {
    let (lent, data) = (to.next_array()?, NonNull::new(data).ok_or_else(too_many)?);
    // SAFETY: the caller says so, and the end of the call ends the loan.
    let array = unsafe {
        match strides.filter(|strides| !are_in_order(lengths, strides)) {
            Some(strides) => lent.loan.begin_strided(data, lengths, &strides, true),
            None => lent.loan.begin(data, lengths),
        }
    };
    to.pass_array(array)
}
