//! A growable vector of scalars that can be changed through a shared reference.

// `Vec<T>` behind an `UnsafeCell`, as the borrow flag of a `RefCell` costs as much as the access itself in a
// loop over an array.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::fmt;

/// The elements of an array of scalars. An array is an object that several values refer to, so
/// elements are read and written through a shared reference; no method hands out a reference to
/// what is inside.
pub struct Buffer<T> {
    items: UnsafeCell<Vec<T>>,
}

impl<T: Copy> Buffer<T> {
    /// A buffer of these elements.
    pub fn new(items: Vec<T>) -> Self {
        Self { items: UnsafeCell::new(items) }
    }

    /// The elements, for the time of one method.
    #[inline(always)]
    fn items(&self) -> &Vec<T> {
        // SAFETY: the type is not `Sync`, so all accesses are on one thread. The reference is
        // private and ends within the method that asked for it; none of them runs foreign code
        // meanwhile (`T` is `Copy`: it has no `Drop`, and `Clone` is not called). So it never
        // meets the exclusive one of `items_mut`.
        unsafe { &*self.items.get() }
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    fn items_mut(&self) -> &mut Vec<T> {
        // SAFETY: as in `items`: one thread, the reference ends within the method, and no
        // foreign code runs meanwhile, so it is the only one.
        unsafe { &mut *self.items.get() }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.items().capacity()
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.items().get(index).copied()
    }

    /// Sets the element at `index`; `false` if there is none.
    #[inline]
    pub fn set(&self, index: usize, value: T) -> bool {
        match self.items_mut().get_mut(index) {
            Some(place) => {
                *place = value;
                true
            }
            None => false,
        }
    }

    /// Appends an element where there is room for it.
    #[inline]
    pub(super) fn append(&self, value: T) {
        self.items_mut().push(value);
    }

    /// Takes the elements out.
    pub(super) fn take(&self) -> Vec<T> {
        std::mem::take(self.items_mut())
    }

    /// Puts these elements into the place of the others, which are returned.
    pub(super) fn replace(&self, items: Vec<T>) -> Vec<T> {
        std::mem::replace(self.items_mut(), items)
    }

    /// Adds the elements to the end of `all`.
    pub(super) fn append_to(&self, all: &mut Vec<T>) {
        all.extend_from_slice(self.items());
    }

    /// Removes the last element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.items_mut().pop()
    }

    /// Makes it `len` long, where there is room for that; new elements are `fill`.
    pub(super) fn set_len(&self, len: usize, fill: T) {
        self.items_mut().resize(len, fill);
    }

    /// Sets all elements.
    pub fn fill(&self, value: T) {
        self.items_mut().fill(value);
    }

    /// Copies the elements of `source` to the start of this; `false` if there is no room. Both may
    /// be the same buffer.
    pub fn copy_from(&self, source: &Self) -> bool {
        if std::ptr::eq(self, source) {
            return true;
        }
        // Two buffers, so that the two references are to different vectors.
        let source = source.items();
        match self.items_mut().get_mut(..source.len()) {
            Some(place) => {
                place.copy_from_slice(source);
                true
            }
            None => false,
        }
    }

    /// A copy of the elements.
    pub fn to_vec(&self) -> Vec<T> {
        self.items().clone()
    }
}

impl<T: Copy> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl<T: Copy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
