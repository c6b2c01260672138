//! The count of the bytes that the values of a thread take.

use std::cell::Cell;

use super::layout::Header;

/// The bytes of the header of an object.
pub(crate) const COUNTS: usize = size_of::<Header>();

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// The bytes that the values of this thread take.
#[inline]
pub fn live_bytes() -> usize {
    LIVE.with(Cell::get)
}

/// A number of bytes that count as live until this is dropped.
#[derive(Debug)]
pub struct Charge(Cell<usize>);

impl Charge {
    /// Counts `bytes`.
    pub fn new(bytes: usize) -> Self {
        let _ = LIVE.try_with(|live| live.set(live.get().wrapping_add(bytes)));
        Self(Cell::new(bytes))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.get()
    }

    /// Changes the number.
    #[inline]
    pub fn set(&self, bytes: usize) {
        let old = self.0.replace(bytes);
        let _ = LIVE.try_with(|live| live.set(live.get().wrapping_add(bytes).wrapping_sub(old)));
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        // While a thread ends its counters may be gone already; then nobody asks any more.
        let _ = LIVE.try_with(|live| live.set(live.get().wrapping_sub(self.0.get())));
    }
}
