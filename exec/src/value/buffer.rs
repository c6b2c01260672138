//! A growable vector of scalars that can be changed through a shared reference.

// `Vec<T>` behind an `UnsafeCell`, as the borrow flag of a `RefCell` costs as much as the access itself in a
// loop over an array.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::fmt;

use super::{Element, pool};

/// The elements of an array of scalars. An array is an object that several values refer to, so
/// elements are read and written through a shared reference; no method hands out a reference to
/// what is inside.
pub struct Buffer<T> {
    items: UnsafeCell<Vec<T>>,
}

impl<T: Element> Buffer<T> {
    /// An empty buffer with room for so many elements.
    pub(super) fn with_room(count: usize) -> Self {
        Self::new(pool::room(count))
    }

    /// A buffer of these elements.
    pub(super) fn of(items: &[T]) -> Self {
        let mut all = pool::room(items.len());
        all.extend_from_slice(items);
        Self::new(all)
    }

    /// A buffer of the same element everywhere.
    pub(super) fn filled(item: T, count: usize) -> Self {
        if !pool::is_active() {
            return Self::new(vec![item; count]);
        }
        let mut all = pool::room(count);
        all.resize(count, item);
        Self::new(all)
    }

    /// Takes the elements out, and keeps their room.
    pub(super) fn strip(&self) {
        pool::give_room(std::mem::take(self.items_mut()));
    }

    /// Makes room for `count` elements at least.
    #[cold]
    fn grow(&self, count: usize) {
        if pool::is_active() {
            let mut more = pool::room(count.max(4));
            more.extend_from_slice(self.items());
            pool::give_room(std::mem::replace(self.items_mut(), more));
        }
    }

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

    /// Whether there are none.
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

    /// Appends an element.
    #[inline]
    pub fn push(&self, value: T) {
        if self.len() == self.capacity() {
            self.grow(self.len() * 2);
        }
        self.items_mut().push(value);
    }

    /// Removes the last element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.items_mut().pop()
    }

    /// Makes it `len` long; new elements are `fill`.
    pub fn resize(&self, len: usize, fill: T) {
        if len > self.capacity() {
            self.grow(len);
        }
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

impl<T: Element> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut all = pool::room(self.len());
        all.extend_from_slice(self.items());
        Self::new(all)
    }
}

impl<T: Element> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
