//! Arrays and views of the crate `ndarray`. Those whose first index runs fastest (`Array2::zeros((m, n).f())`), as that of
//! the program's arrays does, are lent as they are; others are copied to that order and back.

use ndarray::{Array, ArrayRef, Axis, Ix1, Ix2, Ix3, ShapeBuilder};

use super::param::{ByMut, ByRef, Lend, sealed::Sealed};
use super::shadow::Active;
use crate::value::{Element, Strides};

macro_rules! ranks {
    ($($dimension:ty, $rank:literal;)*) => {$(
        impl<T: Element> Sealed for ArrayRef<T, $dimension> {}

        impl<T: Element> Lend for ArrayRef<T, $dimension> {
            type Element = T;
            type Lengths = [usize; $rank];
            const RANK: u8 = $rank;

            #[inline]
            fn lengths(&self) -> [usize; $rank] {
                std::array::from_fn(|axis| self.len_of(Axis(axis)))
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
                Some(Strides::from_slice(self.strides()))
            }
        }

        ranks!(@ f32, $dimension);
        ranks!(@ f64, $dimension);
    )*};
    (@ $ty:ty, $dimension:ty) => {
        ranks!(@ $ty, $dimension, ByRef);
        ranks!(@ $ty, $dimension, ByMut);
    };
    (@ $ty:ty, $dimension:ty, $way:ident) => {
        impl Active for $way<ArrayRef<$ty, $dimension>> {
            type Shadow = ByMut<ArrayRef<$ty, $dimension>>;
            type Direction = ByRef<ArrayRef<$ty, $dimension>>;
            type Gradient = Array<$ty, $dimension>;

            fn zero(arg: &Self::Arg<'_>) -> Self::Gradient {
                Array::zeros(arg.raw_dim().f())
            }

            fn place(gradient: &mut Self::Gradient) -> &mut ArrayRef<$ty, $dimension> {
                gradient
            }
        }
    };
}

ranks! {
    Ix1, 1;
    Ix2, 2;
    Ix3, 3;
}
