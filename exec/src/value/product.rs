//! Products of dense matrices, by `matrixmultiply`: one thread, the same result in each run. If one of the
//! factors or the result is a vector, loops over the columns of the matrix do it, which are bound by memory alone ([`thin`]).

#![allow(unsafe_code)]

mod thin;

use std::ops::{Add, Mul};

use super::fill::refill;
use super::{Array, Element};

/// The floats that there are products of.
pub(crate) trait Real: Element + Add<Output = Self> + Mul<Output = Self> {
    /// The function that computes `dest = alpha * a * b + beta * dest` from the sizes, the pointers, and
    /// the distances between neighbours in a column and in a row.
    const PRODUCT: Product<Self>;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
}

type Product<T> = unsafe fn(
    usize,
    usize,
    usize,
    T,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    *mut T,
    isize,
    isize,
);

impl Real for f32 {
    const PRODUCT: Product<f32> = matrixmultiply::sgemm;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
}

impl Real for f64 {
    const PRODUCT: Product<f64> = matrixmultiply::dgemm;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
}

/// The rows and columns of a matrix that may be transposed, with the distances between neighbours in a
/// column and in a row; an array of rank 1 is a column.
fn layout(array: &Array, turned: bool) -> Option<([usize; 2], [isize; 2])> {
    if array.rank() > 2 {
        return None;
    }
    let (rows, columns) = (array.dim(0), array.dim(1));
    let step = isize::try_from(rows).ok()?;
    Some(if turned { ([columns, rows], [step, 1]) } else { ([rows, columns], [1, step]) })
}

/// Adds the product of `a` and `b`, transposed first if `turned` says so, to `dest`, or to zeros in its place unless `adds`
/// says so. `None`, with nothing written, if the sizes do not fit, or `dest` is one of the factors.
pub(crate) fn multiply<T: Real>(
    [dest, a, b]: [&Array; 3],
    turned: (bool, bool),
    adds: bool,
) -> Option<()> {
    let ([rows, inner], a_steps) = layout(a, turned.0)?;
    let ([other, columns], b_steps) = layout(b, turned.1)?;
    let (sizes, steps) = layout(dest, false)?;
    let is_alias = std::ptr::eq(dest, a) || std::ptr::eq(dest, b);
    if inner != other || [rows, columns] != sizes || is_alias {
        return None;
    }
    let (left, right) = (a.buffer::<T>()?.0.items(), b.buffer::<T>()?.0.items());
    let into = dest.buffer::<T>()?.0.items_mut();
    let lengths =
        [(left.len(), rows, inner), (right.len(), inner, columns), (into.len(), rows, columns)];
    assert!(
        lengths.iter().all(|&(len, m, n)| m.checked_mul(n) == Some(len)),
        "a product of arrays"
    );
    if inner == 1 {
        thin::outer(into, left, right, adds);
        return Some(());
    }
    if !adds {
        refill(into, T::ZERO);
    }
    if columns == 1 {
        thin::add_matrix_vector(into, left, right, turned.0);
        return Some(());
    }
    if rows == 1 {
        thin::add_matrix_vector(into, right, left, !turned.1);
        return Some(());
    }
    // SAFETY: the arrays have the elements that the sizes and distances tell, as was just checked; `dest`
    // is another array than the factors, so that nothing else refers to what is written.
    unsafe {
        T::PRODUCT(
            rows,
            inner,
            columns,
            T::ONE,
            left.as_ptr(),
            a_steps[0],
            a_steps[1],
            right.as_ptr(),
            b_steps[0],
            b_steps[1],
            T::ONE,
            into.as_mut_ptr(),
            steps[0],
            steps[1],
        );
    }
    Some(())
}
