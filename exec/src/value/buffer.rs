//! A growable vector of scalars that can be changed through a shared reference.

use std::fmt;
use std::ops::Add;

use super::layout::RawVec;

/// The elements of an array of scalars. An array is an object that several values refer to, so
/// elements are read and written through a shared reference; no method hands out a reference to
/// what is inside.
#[repr(transparent)]
pub struct Buffer<T>(pub(super) RawVec<T>);

impl<T: Copy> Buffer<T> {
    /// A buffer of these elements.
    pub fn new(items: Vec<T>) -> Self {
        Self(RawVec::new(items))
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.0.items().get(index).copied()
    }

    /// Sets the element at `index`; `false` if there is none.
    #[inline]
    pub fn set(&self, index: usize, value: T) -> bool {
        self.0.items_mut().get_mut(index).map(|place| *place = value).is_some()
    }

    /// Removes the last element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Sets all elements.
    pub fn fill(&self, value: T) {
        self.0.items_mut().fill(value);
    }

    /// Copies the elements of `source` to the start of this; `false` if there is no room. Both may
    /// be the same buffer.
    pub fn copy_from(&self, source: &Self) -> bool {
        if std::ptr::eq(self, source) {
            return true;
        }
        // Two buffers, so that the two references are to different vectors.
        let source = source.0.items();
        let places = self.0.items_mut().get_mut(..source.len());
        places.map(|places| places.copy_from_slice(source)).is_some()
    }

    /// Adds the elements of `other` to the first of these. Both may be the same buffer.
    pub fn add(&self, other: &Self)
    where
        T: Add<Output = T>,
    {
        if std::ptr::eq(self, other) {
            self.0.items_mut().iter_mut().for_each(|place| *place = *place + *place);
            return;
        }
        // Two buffers, so that the two references are to different vectors.
        let places = self.0.items_mut().iter_mut().zip(other.0.items());
        places.for_each(|(place, &item)| *place = *place + item);
    }

    /// A copy of the elements.
    pub fn to_vec(&self) -> Vec<T> {
        self.0.items().to_vec()
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
