//! Elements in another order than that of the program's arrays: copied to it, and back.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use smallvec::SmallVec;

use super::val::{Dims, Element};

/// The distances from an element to the next along each dimension, in elements.
pub(crate) type Strides = SmallVec<[isize; 3]>;

/// Returns whether elements are one after the other, the first index running fastest.
pub(crate) fn are_in_order(lengths: &[usize], strides: &[isize]) -> bool {
    let mut next = 1;
    lengths.contains(&0)
        || lengths.iter().zip(strides).all(|(&length, &stride)| {
            let fits = length == 1 || usize::try_from(stride) == Ok(next);
            next = next.saturating_mul(length);
            fits
        })
}

/// Elements that are copied to the order of the program's arrays for some time.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The copies, side by side. The memory serves again.
    copies: Vec<u64>,
    back: Option<Back>,
}

/// The place that copies go back to.
#[derive(Debug)]
struct Back {
    data: NonNull<u8>,
    lengths: Dims,
    strides: Strides,
    scatter: unsafe fn(&[u64], &Back),
}

impl Gathered {
    /// Copies elements, the first of which is at `data`, and remembers where they were if `writes` is set. `None`
    /// if there is no memory for as many.
    ///
    /// # Safety
    /// There are elements at all indices. With `writes`, this holds until [`put_back`](Self::put_back), and nobody else
    /// uses them before.
    pub(super) unsafe fn take<T: Element>(
        &mut self,
        data: NonNull<T>,
        lengths: &[usize],
        strides: &[isize],
        writes: bool,
    ) -> Option<NonNull<T>> {
        const { assert!(size_of::<T>() <= size_of::<u64>()) };
        let count = lengths.iter().try_fold(1usize, |count, &by| count.checked_mul(by))?;
        let len = count.checked_mul(size_of::<T>())?.div_ceil(size_of::<u64>());
        self.copies.try_reserve_exact(len.saturating_sub(self.copies.len())).ok()?;
        self.copies.resize(len, 0);
        let to = NonNull::from(self.copies.as_mut_slice()).cast::<T>();
        let mut next = to;
        for_each_offset(lengths, strides, |offset| {
            // SAFETY: there is an element for each index, and room for as many.
            unsafe {
                next.write(data.offset(offset).read());
                next = next.add(1);
            }
        });
        self.back = writes.then(|| Back {
            data: data.cast(),
            lengths: Dims::from_slice(lengths),
            strides: Strides::from_slice(strides),
            scatter: scatter::<T>,
        });
        Some(to)
    }

    /// Copies the elements back, if they are to be.
    #[inline]
    pub(super) fn put_back(&mut self) {
        if self.back.is_some() {
            self.scatter();
        }
    }

    #[cold]
    fn scatter(&mut self) {
        if let Some(back) = self.back.take() {
            // SAFETY: as `take` was told.
            unsafe { (back.scatter)(&self.copies, &back) };
        }
    }
}

/// Copies elements of a type back.
///
/// # Safety
/// As many elements are there, and at their place.
unsafe fn scatter<T: Element>(copies: &[u64], back: &Back) {
    let mut next = NonNull::from(copies).cast::<T>();
    for_each_offset(&back.lengths, &back.strides, |offset| {
        // SAFETY: the caller says so.
        unsafe {
            back.data.cast::<T>().offset(offset).write(next.read());
            next = next.add(1);
        }
    });
}

/// Visits the distances from the first element to each one, the first index running fastest.
fn for_each_offset(lengths: &[usize], strides: &[isize], mut visit: impl FnMut(isize)) {
    let ([length, lengths @ ..], [stride, strides @ ..]) = (lengths, strides) else {
        return visit(0);
    };
    if lengths.contains(&0) {
        return;
    }
    let mut indices = Dims::from_elem(0, lengths.len());
    let mut start = 0;
    loop {
        for i in 0..*length {
            visit(start + i as isize * stride);
        }
        let mut carries = true;
        for ((index, &length), stride) in indices.iter_mut().zip(lengths).zip(strides) {
            *index += 1;
            start += stride;
            carries = *index == length;
            if !carries {
                break;
            }
            start -= length as isize * stride;
            *index = 0;
        }
        if carries {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_column_by_column_and_go_back() {
        // A matrix of two rows of three elements, each row after the other.
        let mut rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let data = NonNull::from(&mut rows).cast::<f64>();
        let mut gathered = Gathered::default();
        // SAFETY: they are all there, and used by nobody else.
        let copies = unsafe { gathered.take(data, &[2, 3], &[3, 1], true) }.expect("it fits");
        // SAFETY: as above.
        let copies = unsafe { std::slice::from_raw_parts_mut(copies.as_ptr(), 6) };
        assert_eq!(copies, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        copies[1] = 40.0;
        copies[4] = 30.0;
        gathered.put_back();
        assert_eq!(rows, [1.0, 2.0, 30.0, 40.0, 5.0, 6.0]);
    }

    #[test]
    fn offsets_of_all_ranks() {
        let offsets = |lengths: &[usize], strides: &[isize]| {
            let mut all = Vec::new();
            for_each_offset(lengths, strides, |offset| all.push(offset));
            all
        };
        assert_eq!(offsets(&[3], &[-2]), [0, -2, -4]);
        assert_eq!(offsets(&[2, 2, 2], &[1, 10, 100]), [0, 1, 10, 11, 100, 101, 110, 111]);
        assert_eq!(offsets(&[2, 0], &[1, 2]), []);
        assert_eq!(offsets(&[0, 2], &[1, 2]), []);
    }

    #[test]
    fn the_order_of_the_program() {
        assert!(are_in_order(&[2, 3], &[1, 2]));
        assert!(!are_in_order(&[2, 3], &[3, 1]));
        assert!(!are_in_order(&[2, 3], &[1, 8]));
        // There is only one column, and there are no elements.
        assert!(are_in_order(&[2, 1], &[1, 8]));
        assert!(are_in_order(&[0, 3], &[7, 8]));
        assert!(!are_in_order(&[3], &[-1]));
    }
}
