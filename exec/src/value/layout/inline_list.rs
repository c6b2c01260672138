//! A list of a fixed length whose items stand at places that native code knows.

// `SmallVec` promises no order of its parts.
#![allow(unsafe_code)]

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr::drop_in_place;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use super::raw_vec::RawVec;

/// A list whose length never changes. Up to `N` items stand in the list itself, more than that on the
/// heap: the length alone says where.
#[repr(C)]
pub struct InlineList<T, const N: usize> {
    pub(in crate::value) len: usize,
    pub(in crate::value) parts: Parts<T, N>,
}

/// The items, or the vector that holds them.
#[repr(C)]
pub(in crate::value) union Parts<T, const N: usize> {
    pub(in crate::value) inline: ManuallyDrop<[MaybeUninit<T>; N]>,
    pub(in crate::value) heap: ManuallyDrop<RawVec<T>>,
}

impl<T, const N: usize> InlineList<T, N> {
    /// A list of these items. If there may be more than `N`, `room` makes the vector for them, with
    /// room for at least so many.
    #[inline]
    pub(in crate::value) fn collect(
        items: impl IntoIterator<Item = T>,
        room: impl FnOnce(usize) -> Vec<T>,
    ) -> Self {
        let items = items.into_iter();
        let (least, most) = items.size_hint();
        if most.is_some_and(|most| most <= N) {
            return Self::inline(items);
        }
        let mut all = room(least);
        all.extend(items);
        Self::from(all)
    }

    /// A list of the first `N` items.
    #[inline]
    fn inline(items: impl IntoIterator<Item = T>) -> Self {
        let mut list = Self::default();
        // SAFETY: any bytes are a `MaybeUninit`, and those of the union are there.
        let places = unsafe { &mut list.parts.inline };
        for item in items {
            let Some(place) = places.get_mut(list.len) else { break };
            place.write(item);
            list.len += 1;
        }
        list
    }

    /// The vector of a list of more than `N` items.
    pub(in crate::value) fn into_heap(mut self) -> Option<Vec<T>> {
        if self.len <= N {
            return None;
        }
        // Without items, the list owns nothing.
        self.len = 0;
        // SAFETY: the length was above `N`, so that the union was a vector.
        Some(unsafe { &self.parts.heap }.take())
    }

    /// The bytes that it takes on the heap.
    #[inline]
    pub(in crate::value) fn heap_bytes(&self) -> usize {
        if self.len <= N {
            return 0;
        }
        // SAFETY: as in `into_heap`.
        unsafe { &self.parts.heap }.capacity() * size_of::<T>()
    }

    #[inline(always)]
    fn data(&self) -> *const T {
        if self.len <= N {
            (&raw const self.parts).cast()
        } else {
            // SAFETY: as in `into_heap`.
            unsafe { &self.parts.heap }.data.get().as_ptr()
        }
    }
}

impl<T, const N: usize> Default for InlineList<T, N> {
    #[inline]
    fn default() -> Self {
        let inline = ManuallyDrop::new([const { MaybeUninit::uninit() }; N]);
        Self { len: 0, parts: Parts { inline } }
    }
}

impl<T, const N: usize> From<Vec<T>> for InlineList<T, N> {
    fn from(items: Vec<T>) -> Self {
        let len = items.len();
        if len <= N {
            return Self::inline(items);
        }
        Self { len, parts: Parts { heap: ManuallyDrop::new(RawVec::new(items)) } }
    }
}

impl<T, const N: usize> Deref for InlineList<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: so many items are there, and they are borrowed as the list is.
        unsafe { from_raw_parts(self.data(), self.len) }
    }
}

impl<T, const N: usize> DerefMut for InlineList<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        let data =
            if self.len <= N { (&raw mut self.parts).cast() } else { self.data().cast_mut() };
        // SAFETY: as for `deref`, and `self` is borrowed exclusively.
        unsafe { from_raw_parts_mut(data, self.len) }
    }
}

impl<T, const N: usize> Drop for InlineList<T, N> {
    #[inline]
    fn drop(&mut self) {
        if self.len <= N {
            // SAFETY: the items are there, and nobody uses them after this.
            unsafe { drop_in_place(&raw mut **self) };
        } else {
            // SAFETY: as in `into_heap`, and nobody uses the vector after this.
            unsafe { ManuallyDrop::drop(&mut self.parts.heap) };
        }
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for InlineList<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
