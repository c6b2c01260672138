//! Arrays and views of the crate `ndarray`, which are lent as matrices and arrays of the program are: the first
//! index runs fastest (`Array2::zeros((m, n).f())`). Others are refused when they are passed.

use ndarray::{Array, ArrayRef, Ix1, Ix2, Ix3, ShapeBuilder};

use super::param::{ByMut, ByRef, Lend, sealed::Sealed};
use super::shadow::Active;
use crate::value::{Dims, Element};

macro_rules! ranks {
    ($($dimension:ty, $rank:literal;)*) => {$(
        impl<T: Element> Sealed for ArrayRef<T, $dimension> {}

        impl<T: Element> Lend for ArrayRef<T, $dimension> {
            type Element = T;
            const RANK: u8 = $rank;

            fn lengths(&self) -> Dims {
                Dims::from_slice(self.shape())
            }

            fn parts(&self) -> Option<(&[T], Dims)> {
                let dims = Dims::from_slice(self.shape());
                Some((self.view().reversed_axes().to_slice()?, dims))
            }

            fn parts_mut(&mut self) -> Option<(&mut [T], Dims)> {
                let dims = Dims::from_slice(self.shape());
                Some((self.view_mut().reversed_axes().into_slice()?, dims))
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
