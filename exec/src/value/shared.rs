//! The counted pointer of values.

// The last pointer is handed over while it is dropped.
#![allow(unsafe_code)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use super::layout::{Counted, Kinded, Weak};

/// A counted pointer to what a [`Val`](super::Val) does not hold itself. When the last one goes,
/// the memory of what it pointed to may serve again.
pub struct Shared<T: Recycle>(ManuallyDrop<Counted<T>>);

/// A type whose memory is used again.
pub trait Recycle: Kinded + Sized {
    /// Takes over what only this pointer points to.
    fn recycle(last: Counted<Self>);
}

impl<T: Recycle> Shared<T> {
    pub(crate) fn new(object: Counted<T>) -> Self {
        Self(ManuallyDrop::new(object))
    }

    /// The address of what it points to: the same for two pointers to the same object only.
    pub fn as_ptr(this: &Self) -> *const T {
        Counted::as_ptr(&this.0)
    }

    /// Returns whether two point to the same object.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        Self::as_ptr(this) == Self::as_ptr(other)
    }

    /// Returns how many pointers to the object there are.
    pub fn strong_count(this: &Self) -> usize {
        Counted::strong_count(&this.0)
    }

    /// The object, if this is the only pointer to it.
    pub(super) fn get_mut(this: &mut Self) -> Option<&mut T> {
        Counted::get_mut(&mut this.0)
    }

    /// Returns whether there are weak pointers to the object.
    #[inline]
    pub(super) fn is_watched(this: &Self) -> bool {
        Counted::is_watched(&this.0)
    }

    pub(crate) fn downgrade(this: &Self) -> Weak<T> {
        Counted::downgrade(&this.0)
    }
}

impl<T: Recycle> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(ManuallyDrop::clone(&self.0))
    }
}

impl<T: Recycle> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Recycle> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the pointer is not used after this.
        let pointer = unsafe { ManuallyDrop::take(&mut self.0) };
        if Counted::strong_count(&pointer) == 1 {
            T::recycle(pointer);
        }
    }
}

impl<T: Recycle + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
