//! The memory that a program may use.

use crate::error::{ErrorKind, Trap};
use crate::value::{Array, ElementType, Fields, Val, collect_cycles, live_bytes};

/// A limit of the live bytes.
pub(crate) struct Budget {
    /// The live bytes that may not be exceeded.
    ceiling: usize,
    limit: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { ceiling: usize::MAX, limit: usize::MAX }
    }
}

impl Budget {
    /// From now on, `limit` more bytes may be used.
    pub(crate) fn start(&mut self, limit: usize) {
        self.limit = limit;
        self.ceiling = live_bytes().saturating_add(limit);
    }

    /// Checks that `bytes` more bytes may be used.
    ///
    /// # Errors
    /// If they would exceed the memory limit.
    #[inline]
    pub(crate) fn reserve(&self, bytes: usize) -> Result<(), Trap> {
        if live_bytes().saturating_add(bytes) <= self.ceiling {
            return Ok(());
        }
        self.reserve_after_collection(bytes)
    }

    #[cold]
    fn reserve_after_collection(&self, bytes: usize) -> Result<(), Trap> {
        collect_cycles();
        if live_bytes().saturating_add(bytes) <= self.ceiling {
            return Ok(());
        }
        Err(self.memory_exceeded().help(format!("{bytes} more bytes were asked for")))
    }

    /// The bytes that may still be used.
    pub(crate) fn remaining(&self) -> usize {
        self.ceiling.saturating_sub(live_bytes())
    }

    /// The error of exceeding the memory limit.
    #[cold]
    pub(crate) fn memory_exceeded(&self) -> Trap {
        let message = format!("the memory limit of {} bytes is exceeded", self.limit);
        Trap::of_kind(ErrorKind::Memory, message)
    }

    /// Checks that a value of so many others may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    #[inline]
    pub(crate) fn reserve_fields(&self, count: usize) -> Result<(), Trap> {
        self.reserve(size_of::<Fields>() + count * size_of::<Val>())
    }

    /// Checks that an array of that length may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit, or is larger than any memory.
    pub(crate) fn reserve_array(&self, element: ElementType, len: usize) -> Result<(), Trap> {
        match Array::bytes(element, len) {
            Some(bytes) => self.reserve(bytes),
            None => Err(Trap::new(
                "OutOfMemoryError",
                format!("an array of {len} elements is too large"),
            )),
        }
    }
}
