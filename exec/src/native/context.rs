//! The state of a run that compiled code looks at.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::value::Val;

/// The state of a run, at places that code knows ([`offsets`]).
///
/// Code looks at two of them now and then: at the end of the stack when it is called, and at the flag where
/// a loop goes back. Another thread [asks](Self::ask) the run to look up by setting both to what makes code
/// call the runtime.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct NativeContext {
    /// The machine that runs; null if nothing has needed one yet.
    pub(crate) machine: Cell<*mut c_void>,
    /// The ends of the stacks of registers.
    pub(crate) scalars_end: Cell<*const u64>,
    pub(crate) vals_end: Cell<*const Val>,
    /// The lowest address that the stack of the thread may grow to, as code is told it.
    told_stack_end: AtomicUsize,
    /// The interrupt flag, as code is told it.
    told_interrupt: AtomicPtr<AtomicBool>,
    /// The instructions that may be run before the next look at the limits.
    pub(crate) fuel: Cell<i64>,
    /// The table of addresses of code that was loaded.
    pub(crate) table: Cell<*const *const u8>,
    /// The result of a function that was left for better code of it, if it is a scalar.
    pub(crate) result: Cell<u64>,
    /// The parts of a machine, where there is none.
    pub(crate) parts: Cell<*mut c_void>,
    stack_end: Cell<usize>,
    interrupt: Cell<*const AtomicBool>,
    is_running: AtomicBool,
    /// True if runs on it are asked at intervals.
    pub(crate) is_watched: AtomicBool,
    /// True if it is to look up whenever it can.
    pub(crate) is_asked_always: Cell<bool>,
}

// SAFETY: other threads only call `ask`, which works on atomic parts. All others belong to the thread that runs.
unsafe impl Send for NativeContext {}
// SAFETY: as above.
unsafe impl Sync for NativeContext {}

/// The end of a stack that every place is beyond.
const ASKED: usize = usize::MAX;

/// A flag that is always set.
static SET: AtomicBool = AtomicBool::new(true);

impl Default for NativeContext {
    fn default() -> Self {
        Self {
            machine: Cell::new(ptr::null_mut()),
            scalars_end: Cell::new(ptr::null()),
            vals_end: Cell::new(ptr::null()),
            told_stack_end: AtomicUsize::new(0),
            told_interrupt: AtomicPtr::default(),
            fuel: Cell::new(0),
            table: Cell::new(ptr::null()),
            result: Cell::new(0),
            parts: Cell::new(ptr::null_mut()),
            stack_end: Cell::new(0),
            interrupt: Cell::new(ptr::null()),
            is_running: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            is_asked_always: Cell::new(false),
        }
    }
}

impl NativeContext {
    /// Begins a run of native code. Returns whether it was asked to look up since the last one began.
    #[inline]
    pub(crate) fn begin(&self, stack_end: usize, interrupt: *const AtomicBool) -> bool {
        self.stack_end.set(stack_end);
        self.interrupt.set(interrupt);
        self.is_running.store(true, Ordering::Relaxed);
        self.answer()
    }

    /// Tells code where the stacks of registers end.
    #[inline]
    pub(crate) fn note_ends(&self, scalars: &[u64], vals: &[Val]) {
        self.scalars_end.set(scalars.as_ptr_range().end);
        self.vals_end.set(vals.as_ptr_range().end);
    }

    /// Ends the run.
    #[inline]
    pub(crate) fn end(&self) {
        self.is_running.store(false, Ordering::Relaxed);
    }

    /// Asks the run to call the runtime soon, if there is one. From any thread.
    pub(crate) fn ask(&self) -> bool {
        let is_running = self.is_running.load(Ordering::Relaxed);
        if is_running {
            self.told_interrupt.store((&raw const SET).cast_mut(), Ordering::Relaxed);
            self.told_stack_end.store(ASKED, Ordering::Relaxed);
        }
        is_running
    }

    /// Returns whether the run was asked to look up, and lets it go on.
    #[inline]
    pub(crate) fn answer(&self) -> bool {
        let told = self.told_stack_end.load(Ordering::Relaxed);
        self.told_stack_end.store(self.stack_end.get(), Ordering::Relaxed);
        self.told_interrupt.store(self.interrupt.get().cast_mut(), Ordering::Relaxed);
        if self.is_asked_always.get() {
            return self.ask();
        }
        told == ASKED
    }

    /// Returns whether the stack of the thread has grown as far as it may.
    pub(crate) fn is_deep(&self) -> bool {
        let here = 0u8;
        (&raw const here).addr() < self.stack_end.get()
    }
}

/// The places of the parts of a [`NativeContext`], in bytes.
pub(super) mod offsets {
    use super::NativeContext;
    use std::mem::offset_of;

    pub(in super::super) const SCALARS_END: i32 = offset_of!(NativeContext, scalars_end) as i32;
    pub(in super::super) const VALS_END: i32 = offset_of!(NativeContext, vals_end) as i32;
    pub(in super::super) const STACK_END: i32 = offset_of!(NativeContext, told_stack_end) as i32;
    pub(in super::super) const INTERRUPT: i32 = offset_of!(NativeContext, told_interrupt) as i32;
    pub(in super::super) const FUEL: i32 = offset_of!(NativeContext, fuel) as i32;
    pub(in super::super) const TABLE: i32 = offset_of!(NativeContext, table) as i32;
    pub(in super::super) const RESULT: i32 = offset_of!(NativeContext, result) as i32;
}

/// The way of the machine into functions of a signature, or into one of them: it passes the scalar arguments, which stand in
/// their registers, to `body`.
pub(crate) type Entry = unsafe extern "C" fn(
    *mut NativeContext,
    *mut u64,
    *mut Val,
    result: *mut u64,
    body: *const u8,
) -> i64;

/// The native code of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiled {
    pub(crate) entry: Entry,
    /// The way in for other compiled functions; null where there are none.
    pub(crate) body: *const u8,
}

impl Compiled {
    /// Calls the function. Its arguments stand in their registers. The result goes to `result` if it is a scalar, and to the first
    /// register of values otherwise. Returns a status.
    ///
    /// # Safety
    /// The code is there, and takes the frame of these registers, on which nobody else works.
    #[inline]
    pub(crate) unsafe fn call(
        self,
        cx: *const NativeContext,
        scalars: *mut u64,
        vals: *mut Val,
        result: &mut u64,
    ) -> i64 {
        // SAFETY: the caller says so.
        unsafe { (self.entry)(cx.cast_mut(), scalars, vals, result, self.body) }
    }
}

// SAFETY: both are addresses of code, which any thread may run.
unsafe impl Send for Compiled {}

/// The native code that there is for a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Native {
    /// Nobody has tried yet; the function was called so often.
    Untried(u32),
    /// There will be none.
    Refused,
    Ready(Compiled),
}
