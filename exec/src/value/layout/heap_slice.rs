//! A slice on the heap whose pointer and length stand at places that native code knows.

// `Box<[T]>` promises no order of its parts.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The parts of a `Box<[T]>`.
#[repr(C)]
pub(in crate::value) struct HeapSlice<T> {
    pub(in crate::value) data: NonNull<T>,
    pub(in crate::value) len: usize,
    owned: PhantomData<T>,
}

impl<T> From<Box<[T]>> for HeapSlice<T> {
    fn from(items: Box<[T]>) -> Self {
        let len = items.len();
        Self { data: NonNull::from(Box::leak(items)).cast(), len, owned: PhantomData }
    }
}

impl<T> Default for HeapSlice<T> {
    fn default() -> Self {
        Box::<[T]>::default().into()
    }
}

impl<T> Deref for HeapSlice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the parts are those of a box, which only `drop` takes back.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for HeapSlice<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl<T> Drop for HeapSlice<T> {
    fn drop(&mut self) {
        let items = std::ptr::slice_from_raw_parts_mut(self.data.as_ptr(), self.len);
        // SAFETY: the parts are those of a box, and nobody uses them after this.
        drop(unsafe { Box::from_raw(items) });
    }
}

impl HeapSlice<u8> {
    /// The string that these bytes are.
    ///
    /// # Safety
    /// They are UTF-8.
    pub(in crate::value) unsafe fn as_str(&self) -> &str {
        // SAFETY: the caller says so.
        unsafe { std::str::from_utf8_unchecked(self) }
    }
}
