//! Free lists, which never hold more than was made for want of a free one.

use std::fmt;

/// Free things of one kind.
#[derive(Debug)]
pub(super) struct List<T> {
    free: Vec<T>,
    /// The number of those that are free or may come back.
    made: usize,
    /// The number of those out at the last [`balance`](Self::balance), and whether that was more than
    /// at the one before.
    out: usize,
    grew: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { free: Vec::new(), made: 0, out: 0, grew: false }
    }
}

impl<T> List<T> {
    /// A free one; if there is none, the caller makes one, for which there is room then.
    pub(super) fn take(&mut self) -> Option<T> {
        let free = self.free.pop();
        if free.is_none() {
            self.made += 1;
            self.free.reserve(self.made);
        }
        free
    }

    /// Keeps one for later, unless there are as many as were ever needed at once: then it comes
    /// back, to be dropped.
    pub(super) fn keep(&mut self, one: T) -> Option<T> {
        if self.free.len() < self.made {
            self.free.push(one);
            None
        } else {
            Some(one)
        }
    }

    /// The number of those that are free.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// The number of those that are free or may come back.
    pub(super) fn made(&self) -> usize {
        self.made
    }

    /// Forgets those that are out for good. Between runs as many are out as the last results
    /// hold; if that number keeps growing, results are thrown away elsewhere. Returns how many
    /// there are.
    pub(super) fn balance(&mut self) -> usize {
        let out = self.made - self.free.len();
        let more = out.saturating_sub(self.out);
        if more > 0 && self.grew {
            self.made = self.free.len() + more;
        }
        self.grew = more > 0;
        self.out = self.made - self.free.len();
        self.made
    }
}

/// Buffers by the power of two that they have room for.
#[derive(Debug)]
pub(super) struct Classes<T>(Vec<List<T>>);

impl<T> Default for Classes<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Classes<T> {
    /// One of a class; as [`List::take`].
    pub(super) fn take(&mut self, class: usize) -> Option<T> {
        if self.0.len() <= class {
            self.0.resize_with(class + 1, List::default);
        }
        self.0[class].take()
    }

    /// Returns whether none of a class is free.
    pub(super) fn is_empty(&self, class: usize) -> bool {
        self.0.get(class).is_none_or(|list| list.free() == 0)
    }

    /// As [`List::keep`].
    pub(super) fn keep(&mut self, class: usize, one: T) -> Option<T> {
        match self.0.get_mut(class) {
            Some(list) => list.keep(one),
            None => Some(one),
        }
    }

    pub(super) fn balance(&mut self) {
        for list in &mut self.0 {
            list.balance();
        }
    }
}

/// The class of those that have room for `count` at least.
pub(super) fn class_of(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}

/// The class that what has room for `capacity` can serve.
pub(super) fn class_with(capacity: usize) -> usize {
    capacity.ilog2() as usize
}

/// Buffers of scalars.
#[derive(Default)]
pub struct Scalars {
    pub(in crate::value) bools: Buffers<bool>,
    pub(in crate::value) i8s: Buffers<i8>,
    pub(in crate::value) i16s: Buffers<i16>,
    pub(in crate::value) i32s: Buffers<i32>,
    pub(in crate::value) i64s: Buffers<i64>,
    pub(in crate::value) f32s: Buffers<f32>,
    pub(in crate::value) f64s: Buffers<f64>,
}

/// Buffers of scalars of one type.
#[derive(Default)]
pub struct Buffers<T>(pub(super) Classes<Vec<T>>);

impl fmt::Debug for Scalars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scalars").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Buffers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers").finish_non_exhaustive()
    }
}
