//! Matrices of the crate `faer` and views of them. Those whose columns follow each other in memory are lent as they are;
//! others, as those with room behind each column, are copied and copied back.

// Views are lent by their addresses.
#![allow(unsafe_code)]

use std::any::type_name;

use faer::{Mat, MatMut, MatRef};
use regraft_ir::{Context, Type};

use super::param::{ByMut, ByRef, Lend, Param, Way, pass_exclusive, pass_shared, sealed::Sealed};
use super::passing::Passing;
use super::shadow::Active;
use crate::error::Trap;
use crate::value::{Dims, Element, Strides};

impl<T: Element> Sealed for Mat<T> {}

impl<T: Element> Lend for Mat<T> {
    type Element = T;
    type Lengths = [usize; 2];
    const RANK: u8 = 2;

    #[inline]
    fn lengths(&self) -> [usize; 2] {
        [self.nrows(), self.ncols()]
    }

    #[inline]
    fn data(&self) -> *const T {
        self.as_ptr()
    }

    #[inline]
    fn data_mut(&mut self) -> *mut T {
        self.as_ptr_mut()
    }

    #[inline]
    fn distances(&self) -> Option<Strides> {
        Some(Strides::from_slice(&[self.row_stride(), self.col_stride()]))
    }
}

macro_rules! views {
    ($($view:ident, $is_read_only:literal, $pass:ident, $data:ident;)*) => {$(
        impl<T: Element> Param for $view<'static, T> {
            type Arg<'a> = $view<'a, T>;

            fn ty(ctx: &Context) -> Type {
                ctx.array_type(T::TYPE, 2)
            }

            fn way() -> Way {
                let array = Some((T::TYPE, 2));
                Way { array, is_read_only: $is_read_only, rust: type_name::<Self>() }
            }

            fn shorten<'b, 'a: 'b>(arg: Self::Arg<'a>) -> Self::Arg<'b> {
                arg
            }

            fn lengths(arg: &Self::Arg<'_>) -> Dims {
                Dims::from_slice(&[arg.nrows(), arg.ncols()])
            }

            #[inline]
            fn pass(arg: Self::Arg<'_>, to: &mut Passing<'_>) -> Result<(), Trap> {
                let lengths = [arg.nrows(), arg.ncols()];
                let strides = Strides::from_slice(&[arg.row_stride(), arg.col_stride()]);
                // SAFETY: the elements are borrowed until the call is over, exclusively if they may be written to.
                unsafe { $pass(arg.$data(), &lengths, Some(strides), to) }
            }
        }
    )*};
}

views! {
    MatRef, true, pass_shared, as_ptr;
    MatMut, false, pass_exclusive, as_ptr_mut;
}

macro_rules! active {
    ($($ty:ty)*) => {$(
        active!(@ $ty, ByRef<Mat<$ty>>, ByMut<Mat<$ty>>, ByRef<Mat<$ty>>, |gradient| gradient);
        active!(@ $ty, ByMut<Mat<$ty>>, ByMut<Mat<$ty>>, ByRef<Mat<$ty>>, |gradient| gradient);
        active!(@ $ty, MatRef<'static, $ty>, MatMut<'static, $ty>, MatRef<'static, $ty>, Mat::as_mut);
        active!(@ $ty, MatMut<'static, $ty>, MatMut<'static, $ty>, MatRef<'static, $ty>, Mat::as_mut);
    )*};
    (@ $ty:ty, $way:ty, $shadow:ty, $direction:ty, $place:expr) => {
        impl Active for $way {
            type Shadow = $shadow;
            type Direction = $direction;
            type Gradient = Mat<$ty>;

            fn zero(arg: &Self::Arg<'_>) -> Mat<$ty> {
                Mat::zeros(arg.nrows(), arg.ncols())
            }

            fn place(gradient: &mut Mat<$ty>) -> <Self::Shadow as Param>::Arg<'_> {
                let place: fn(&mut Mat<$ty>) -> <Self::Shadow as Param>::Arg<'_> = $place;
                place(gradient)
            }
        }
    };
}
active!(f32 f64);
