//! Buffers of scalars in memory of the pool, if one is at work.

use super::floats::is_small;
use super::{give_room, is_active, room};
use crate::value::buffer::Buffer;
use crate::value::fill::filled;
use crate::value::val::Element;

impl<T: Element> Buffer<T> {
    /// An empty buffer with room for so many elements.
    pub(in crate::value) fn with_room(count: usize) -> Self {
        Self::new(room(count))
    }

    /// A buffer of these elements.
    pub(in crate::value) fn of(items: &[T]) -> Self {
        let mut all = room(items.len());
        all.extend_from_slice(items);
        Self::new(all)
    }

    /// A buffer of the same element everywhere.
    pub(in crate::value) fn filled(item: T, count: usize) -> Self {
        if is_active() || is_small::<T>(count) {
            return Self::new(filled(room(count), item, count));
        }
        Self::new(vec![item; count])
    }

    /// Takes the elements out, and keeps their room.
    pub(in crate::value) fn strip(&self) {
        give_room(self.0.take());
    }

    /// Makes it `len` long, for which there is room. Elements are zero, or if they are `undef`, those that were there, and
    /// zero behind them.
    pub(in crate::value) fn renew(&self, len: usize, undef: bool) {
        let kept = if undef { self.len().min(len) } else { 0 };
        self.0.renew(kept, len, T::default());
    }

    /// Makes room for `count` elements at least.
    #[cold]
    fn grow(&self, count: usize) {
        if is_active() {
            let mut more = room(count.max(4));
            more.extend_from_slice(self.0.items());
            give_room(self.0.replace(more));
        }
    }

    /// Appends an element.
    #[inline]
    pub fn push(&self, value: T) {
        if self.len() >= self.capacity() {
            self.grow(self.len() * 2);
        }
        self.0.push(value);
    }

    /// Makes it `len` long; new elements are `fill`.
    pub fn resize(&self, len: usize, fill: T) {
        if len > self.capacity() {
            self.grow(len);
        }
        self.0.edit(|items| items.resize(len, fill));
    }
}

impl<T: Element> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::of(self.0.items())
    }
}
