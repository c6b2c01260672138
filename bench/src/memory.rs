//! Counts bytes and allocations, for figures of memory per instruction and for tests of what needs no
//! memory, and keeps what the system gave, so that its page faults are not what is measured.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a count of live bytes.
#[derive(Debug)]
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of allocations of this thread, if [`Counting`] is the global allocator.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

fn count() {
    // A thread that ends may ask for memory when its counter is gone; nobody looks at it then.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

/// The bytes that are allocated now, if [`Counting`] is the global allocator.
pub fn live_bytes() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Lets the allocator keep memory that was freed instead of giving it back to the system at once.
///
/// The C library gives the end of its heap back whenever a module of a hundred megabytes is
/// freed, and gets it again page by page when the next one is made: on a virtual machine that
/// takes as long as the work itself, and says nothing about it. On other systems than Linux with
/// glibc this does nothing.
pub fn keep_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: these only set parameters of the allocator, before any other thread is started.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, 64 << 20);
    }
}

/// [`Counting`], with a record of the most bytes that were live at once.
#[derive(Debug)]
pub struct CountingPeak;

static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The most bytes that were allocated at once since [`forget_peak`], if [`CountingPeak`] is the global
/// allocator.
pub fn peak_bytes() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Lets the peak be what is allocated now.
pub fn forget_peak() {
    PEAK.store(live_bytes(), Ordering::Relaxed);
}

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for CountingPeak {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are those of the other allocator.
        let new = unsafe { Counting.alloc(layout) };
        PEAK.fetch_max(live_bytes(), Ordering::Relaxed);
        new
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { Counting.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        let new = unsafe { Counting.realloc(ptr, layout, new_size) };
        PEAK.fetch_max(live_bytes(), Ordering::Relaxed);
        new
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        LIVE.fetch_add(new_size, Ordering::Relaxed);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
