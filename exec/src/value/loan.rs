//! Arrays on memory of Rust, for the time of a call.
//!
//! # Method
//! A loan has an array object of its own, and calls use it one after the other. While a call runs, the
//! object points to elements of the caller's; it owns none of them, which shows by its having room
//! for none. If the program still holds the object at the end (a part of its result, or a global), that gets a
//! copy of the elements, and the loan makes a new object. Otherwise nobody looks at the object until the
//! next call, which lets it point to other elements. Elements in another order than the program's are copied to memory of
//! the loan, and back at the end if they may be written to.
//!
//! # Why it is right
//! Elements that somebody else owns are never freed or moved: a vector of them that is to be changed as a whole is
//! copied first (`RawVec::edit`). The language has no such change, as an array that is lent refuses to
//! grow and to shrink. After the end nobody looks at what was lent, whatever the program did.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use regraft_ir::Type;

use super::array::by_element;
use super::element_type::ElementType;
use super::layout::Counted;
use super::shared::Shared;
use super::strided::Gathered;
use super::val::{Array, Element, Storage, with_storage};

/// An array object for elements that are lent, again and again.
#[derive(Debug)]
pub(crate) struct Loan {
    element: ElementType,
    rank: u8,
    array: Shared<Array>,
    gathered: Gathered,
}

impl Loan {
    /// For arrays of that rank, which is 1 or more, of scalars or unboxed elements.
    pub(crate) fn new(element: ElementType, rank: u8) -> Self {
        Self { element, rank, array: object(element, rank), gathered: Gathered::default() }
    }

    /// An array of the elements at `data`, with these lengths. `None` if the loan is for another type, or if
    /// they are as many as no memory holds.
    ///
    /// # Safety
    /// Until [`end`](Self::end), as many elements as the product of the lengths are at `data`; nobody else
    /// changes them, and if the program sets any, nobody else looks at them. What was lent before has ended.
    #[inline(always)]
    pub(crate) unsafe fn begin<T: Element>(
        &mut self,
        data: NonNull<T>,
        lengths: &[usize],
    ) -> Option<Shared<Array>> {
        debug_assert_eq!(Shared::strong_count(&self.array), 1, "what was lent before has ended");
        let len = self.lent_length(lengths)?;
        let buffer = self.array.buffer::<T>()?;
        // SAFETY: the caller says so.
        unsafe { buffer.0.lend(data, len) };
        Some(self.array.clone())
    }

    /// The number of the elements that are lent, with these lengths, which are those of the array from now on.
    #[inline(always)]
    fn lent_length(&mut self, lengths: &[usize]) -> Option<usize> {
        match *lengths {
            [len] if self.rank == 1 => Some(len),
            _ => self.set_lengths(lengths),
        }
    }

    /// Sets the lengths of an array of several dimensions. Returns their product.
    fn set_lengths(&mut self, lengths: &[usize]) -> Option<usize> {
        if lengths.len() != usize::from(self.rank) {
            return None;
        }
        let len = lengths.iter().try_fold(1usize, |len, &by| len.checked_mul(by))?;
        // Nobody else holds the object after `end`, as it never becomes known to the search for cycles.
        Shared::get_mut(&mut self.array)?.dims.copy_from_slice(lengths);
        Some(len)
    }

    /// As [`begin`](Self::begin), for elements of the type of the loan, whatever that is. Where there are none, `data` may be any
    /// address.
    ///
    /// # Safety
    /// As of `begin`.
    pub(crate) unsafe fn begin_at(
        &mut self,
        data: NonNull<u8>,
        lengths: &[usize],
    ) -> Option<Shared<Array>> {
        /// # Safety
        /// As of `begin`.
        unsafe fn begin<T: Element>(
            loan: &mut Loan,
            data: NonNull<u8>,
            lengths: &[usize],
        ) -> Option<Shared<Array>> {
            let data = if lengths.contains(&0) { NonNull::dangling() } else { data.cast::<T>() };
            // SAFETY: the caller says so.
            unsafe { loan.begin(data, lengths) }
        }
        if self.element.unboxed().is_some() {
            let len = self.lent_length(lengths)?;
            let Storage::Unboxed(all) = self.array.storage() else { return None };
            // SAFETY: as above.
            unsafe { all.lend(data, len) };
            return Some(self.array.clone());
        }
        // SAFETY: as above.
        unsafe { by_element!(self.element.ty(), begin(self, data, lengths), None) }
    }

    /// As [`begin`](Self::begin), for elements that are so far from each other along each dimension, the first of which is
    /// at `data`; `writes` says whether the program may set some.
    ///
    /// # Safety
    /// As of `begin`, for the elements at all indices.
    pub(crate) unsafe fn begin_strided<T: Element>(
        &mut self,
        data: NonNull<T>,
        lengths: &[usize],
        strides: &[isize],
        writes: bool,
    ) -> Option<Shared<Array>> {
        // SAFETY: the caller says so, and `end` comes before the elements are used again; the copies are there until the
        // next loan.
        unsafe {
            let copies = self.gathered.take(data, lengths, strides, writes)?;
            self.begin(copies, lengths)
        }
    }

    /// As [`begin`](Self::begin), with elements that are copied to memory of the array's own.
    ///
    /// # Safety
    /// As of `begin`, until this returns.
    pub(crate) unsafe fn begin_with_copy<T: Element>(
        &mut self,
        data: NonNull<T>,
        lengths: &[usize],
    ) -> Option<Shared<Array>> {
        // SAFETY: the elements are there until the next line, where the array gets its own.
        let array = unsafe { self.begin(data, lengths) }?;
        self.array.buffer::<T>()?.0.own();
        Some(array)
    }

    /// Takes the elements back.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.gathered.put_back();
        if Shared::strong_count(&self.array) > 1 {
            self.leave();
        }
    }

    /// Leaves the object to those who hold it, with elements of its own.
    #[cold]
    fn leave(&mut self) {
        with_storage!(self.array.storage(), buffer => buffer.0.own(), all => all.own(), _ => {});
        self.array = object(self.element, self.rank);
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.end();
    }
}

/// An array without elements, for some that are lent.
fn object(element: ElementType, rank: u8) -> Shared<Array> {
    let dims = vec![0; rank.into()];
    let mut array = Array::new(element, &dims).expect("an array of no elements fits");
    array.is_lent = true;
    Shared::new(Counted::new(array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Val;

    fn lend(loan: &mut Loan, items: &mut [f64]) -> Val {
        let lengths = [items.len()];
        // SAFETY: the tests do not use the elements before they end the loan.
        let array = unsafe { loan.begin(NonNull::from(items).cast::<f64>(), &lengths) };
        Val::Array(array.expect("it fits"))
    }

    fn items(value: &Val) -> Vec<f64> {
        value.as_array().and_then(Array::to_vec).expect("it is an array of floats")
    }

    #[test]
    fn what_is_written_to_the_array_is_in_the_elements() {
        let (mut loan, mut lent) = (Loan::new(ElementType::builtin(Type::F64), 1), [1.0, 2.0]);
        for x in [5.0, 6.0] {
            let array = lend(&mut loan, &mut lent);
            assert!(array.as_array().is_some_and(|array| array.set(1, Val::F64(x))));
            drop(array);
            loan.end();
            assert_eq!(lent, [1.0, x]);
        }
    }

    #[test]
    fn an_array_that_is_kept_has_a_copy_at_the_end() {
        let (mut loan, mut lent) = (Loan::new(ElementType::builtin(Type::F64), 1), [1.0, 2.0]);
        let kept = lend(&mut loan, &mut lent);
        loan.end();
        lent[0] = 7.0;
        assert_eq!(items(&kept), [1.0, 2.0]);
        let other = lend(&mut loan, &mut lent);
        assert_eq!((items(&kept), items(&other)), (vec![1.0, 2.0], vec![7.0, 2.0]));
    }

    #[test]
    fn elements_in_another_order_are_copied_back_at_the_end() {
        let (mut loan, mut lent) = (Loan::new(ElementType::builtin(Type::F64), 1), [1.0, 2.0, 3.0]);
        for (writes, last) in [(true, 9.0), (false, 1.0)] {
            lent[0] = 1.0;
            let end = NonNull::from(&mut lent[2]);
            // SAFETY: the elements are not used before the end of the loan.
            let array = unsafe { loan.begin_strided(end, &[2], &[-2], writes) };
            let array = Val::Array(array.expect("it fits"));
            assert_eq!(items(&array), [3.0, 1.0]);
            assert!(array.as_array().is_some_and(|array| array.set(1, Val::F64(9.0))));
            loan.end();
            assert_eq!((lent, items(&array)), ([last, 2.0, 3.0], vec![3.0, 9.0]));
        }
    }

    #[test]
    fn elements_that_are_lent_are_never_moved_or_freed() {
        let (mut loan, mut lent) = (Loan::new(ElementType::builtin(Type::F64), 1), vec![1.0, 2.0]);
        let value = lend(&mut loan, &mut lent);
        let array = value.as_array().expect("it is an array");
        assert!(array.push(Val::F64(3.0)).is_err() && array.pop().is_err());
        assert!(array.resize(5).is_err());
        // What ops of other dialects may do.
        let buffer = array.buffer::<f64>().expect("it is of floats");
        buffer.push(3.0);
        buffer.set(0, 9.0);
        assert_eq!(items(&value), [9.0, 2.0, 3.0]);
        drop(value);
        loan.end();
        assert_eq!(lent, [1.0, 2.0]);
    }
}
