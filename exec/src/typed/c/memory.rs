//! Memory for results that are arrays, which the caller frees.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;

/// The bytes before the memory: their number stands there. What follows is aligned for every number.
const HEADER: usize = 16;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, HEADER).ok()
}

/// A copy of items; null if there are none. `None` if there is no memory.
pub(super) fn copy<T: Copy>(items: &[T]) -> Option<*mut c_void> {
    let bytes = size_of_val(items);
    if bytes == 0 {
        return Some(std::ptr::null_mut());
    }
    let layout = layout(bytes)?;
    // SAFETY: the layout is not empty, and the items fit behind the header.
    unsafe {
        let start = alloc(layout);
        if start.is_null() {
            return None;
        }
        start.cast::<usize>().write(bytes);
        let data = start.add(HEADER);
        data.copy_from_nonoverlapping(items.as_ptr().cast(), bytes);
        Some(data.cast())
    }
}

/// Frees the memory of a result.
///
/// # Safety
/// It is null, or of a result of a [`Loaded`](super::Loaded) function, and nobody uses it any more.
pub unsafe fn free(memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: `copy` has put the header before it.
    unsafe {
        let start = memory.cast::<u8>().sub(HEADER);
        if let Some(layout) = layout(start.cast::<usize>().read()) {
            dealloc(start, layout);
        }
    }
}
