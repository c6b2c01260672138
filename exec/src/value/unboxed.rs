//! Elements that are tuples or immutable structs of scalars, also in one another, unboxed: the parts of each stand side by side in the array.
//!
//! A part takes a word of 8 bytes, all of whose bits depend on the part alone: integers have their sign in the upper ones, others zeros.
//! Words that there is room for are such as well, so that native code may append elements. The build of an element stands once, with the elements:
//! [`UnboxedType`]. An element that was never set is made of zeros.

#![allow(unsafe_code)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::layout::RawVec;
use super::unboxed_type::UnboxedType;

/// Unboxed elements. As those of a [`Buffer`](super::Buffer), they are read and written through a shared reference.
#[repr(C)]
pub struct Unboxed {
    /// A vector of arrays of as many words as there are parts: see `rows!`.
    pub(super) rows: ManuallyDrop<RawVec<u64>>,
    of: UnboxedType,
}

/// `$body` with `$rows` bound to the vector of elements.
macro_rules! rows {
    ($unboxed:expr, $rows:ident => $body:expr) => {{
        let unboxed: &Unboxed = $unboxed;
        rows!(unboxed, $rows => $body, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    }};
    ($unboxed:ident, $rows:ident => $body:expr, $($count:literal)*) => {
        match $unboxed.of.count() {
            $($count => {
                // SAFETY: the elements are of so many words.
                let $rows = unsafe { $unboxed.rows::<$count>() };
                $body
            })*
            _ => unreachable!("an element has 1 to 16 parts"),
        }
    };
}

impl Unboxed {
    fn none(of: UnboxedType) -> Self {
        Self { rows: ManuallyDrop::new(RawVec::new(Vec::new())), of }
    }

    /// So many elements of zeros, in new memory.
    pub(super) fn zeroed(of: UnboxedType, len: usize) -> Self {
        let all = Self::none(of);
        rows!(&all, rows => drop(rows.replace(vec![[0; _]; len])));
        all
    }

    /// No elements, and room for so many.
    pub(super) fn with_room(of: UnboxedType, capacity: usize) -> Self {
        let all = Self::none(of);
        rows!(&all, rows => drop(rows.replace(Vec::with_capacity(capacity))));
        all
    }

    /// Makes `len` elements of zeros, of another type that has as many parts, in the place of those that are there.
    ///
    /// # Panics
    /// If it has another number of parts.
    pub(super) fn renew(&mut self, of: UnboxedType, len: usize) {
        assert_eq!(self.of.count(), of.count(), "elements take as many words as before");
        self.of = of;
        // The room behind the elements is set, too.
        rows!(self, rows => rows.renew(0, rows.capacity().max(len), [0; _]));
        self.rows.len.set(len);
    }

    /// Exchanges the elements for those of another one.
    ///
    /// # Panics
    /// If those are of another type.
    pub(super) fn swap(&self, other: &Self) {
        assert_eq!(self.of, other.of, "elements keep their type");
        self.rows.data.swap(&other.rows.data);
        self.rows.len.swap(&other.rows.len);
        self.rows.capacity.swap(&other.rows.capacity);
    }

    /// The vector of elements, of as many words each as they have parts.
    ///
    /// # Safety
    /// They have so many.
    unsafe fn rows<const N: usize>(&self) -> &RawVec<[u64; N]> {
        // SAFETY: the parts of a vector stand at the same places whatever its elements are, which the caller knows. They
        // are never dropped as words.
        unsafe { &*(&raw const self.rows).cast::<RawVec<[u64; N]>>() }
    }

    /// The build of the elements.
    #[inline]
    pub fn element(&self) -> UnboxedType {
        self.of
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }

    /// The address of the elements.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.rows.data.get().cast()
    }

    /// The words of all elements, for the time of one method.
    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        self.words_mut()
    }

    /// The same, to be changed.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(super) fn words_mut(&self) -> &mut [u64] {
        let count = self.len() * self.of.count();
        // SAFETY: each element is so many words, side by side. As in `RawVec::items_mut`, the reference is the only one
        // within the method that asks.
        unsafe { std::slice::from_raw_parts_mut(self.rows.data.get().as_ptr(), count) }
    }

    /// The words of the element at an index from 0.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(super) fn row(&self, at: usize) -> Option<&mut [u64]> {
        let count = self.of.count();
        if at >= self.len() {
            return None;
        }
        self.words_mut().get_mut(at * count..(at + 1) * count)
    }

    /// Makes the element at an index one of zeros.
    pub(super) fn unset(&self, at: usize) {
        self.row(at).into_iter().for_each(|row| row.fill(0));
    }

    /// Copies the elements of `source`, of the same type, to the start of this; `false` if there is no room. Both may be the
    /// same.
    pub(super) fn copy_from(&self, source: &Self) -> bool {
        if std::ptr::eq(self, source) {
            return true;
        }
        let words = source.words();
        let places = self.words_mut().get_mut(..words.len());
        places.map(|places| places.copy_from_slice(words)).is_some()
    }

    /// Appends an element of these words, for which there is room; `false` if it has another number of parts.
    pub(super) fn push_words(&self, words: &[u64]) -> bool {
        rows!(self, rows => words.try_into().map(|row| rows.push(row)).is_ok())
    }

    /// Removes the last element, if there is one.
    pub(super) fn shorten(&self) {
        rows!(self, rows => {
            rows.pop();
        });
    }

    /// Makes it `len` long, for which there is room; new elements are zeros.
    pub(super) fn set_len(&self, len: usize) {
        rows!(self, rows => rows.edit(|items| items.resize(len, [0; _])));
    }

    /// Sets all elements to zeros.
    pub(crate) fn clear(&self) {
        self.words_mut().fill(0);
    }

    /// Frees the elements.
    fn free(&self) {
        rows!(self, rows => drop(rows.take()));
    }

    /// Makes a copy of elements that are somebody else's.
    pub(super) fn own(&self) {
        rows!(self, rows => rows.own());
    }

    /// Lets the elements be somebody else's until [`own`](Self::own).
    ///
    /// # Safety
    /// As of `RawVec::lend`.
    pub(super) unsafe fn lend(&self, data: NonNull<u8>, len: usize) {
        // SAFETY: the caller says so.
        rows!(self, rows => unsafe { rows.lend(data.cast(), len) });
    }
}

impl Drop for Unboxed {
    fn drop(&mut self) {
        self.free();
    }
}

impl fmt::Debug for Unboxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
