//! The state of a run that compiled code looks at.

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;

use crate::value::Val;

/// The state of a run, at places that code knows ([`offsets`]).
#[repr(C)]
#[derive(Debug)]
pub(crate) struct NativeContext {
    /// The machine that runs.
    pub(crate) machine: *mut c_void,
    /// The ends of the stacks of registers.
    pub(crate) scalars_end: *const u64,
    pub(crate) vals_end: *const Val,
    /// The lowest address that the stack of the thread may grow to.
    pub(crate) stack_end: usize,
    pub(crate) interrupt: *const AtomicBool,
    /// The instructions that may be run before the next look at the limits.
    pub(crate) fuel: i64,
    /// The table of addresses of code that was loaded.
    pub(crate) table: *const *const u8,
}

/// The places of the parts of a [`NativeContext`], in bytes.
pub(super) mod offsets {
    use super::NativeContext;
    use std::mem::offset_of;

    pub(in super::super) const SCALARS_END: i32 = offset_of!(NativeContext, scalars_end) as i32;
    pub(in super::super) const VALS_END: i32 = offset_of!(NativeContext, vals_end) as i32;
    pub(in super::super) const STACK_END: i32 = offset_of!(NativeContext, stack_end) as i32;
    pub(in super::super) const INTERRUPT: i32 = offset_of!(NativeContext, interrupt) as i32;
    pub(in super::super) const FUEL: i32 = offset_of!(NativeContext, fuel) as i32;
    pub(in super::super) const TABLE: i32 = offset_of!(NativeContext, table) as i32;
}

/// A compiled function as the machine calls it: the scalar arguments stand in their registers, the others
/// in theirs. The result goes to `result` if it is a scalar, and to the first register of values
/// otherwise. Returns a status.
pub(crate) type Entry =
    unsafe extern "C" fn(*mut NativeContext, *mut u64, *mut Val, result: *mut u64) -> i64;

/// The native code of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiled {
    /// The way in for the machine.
    pub(crate) entry: Entry,
    /// The way in for other compiled functions.
    pub(crate) body: *const u8,
}

/// The native code that there is for a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Native {
    /// Nobody has tried yet; the function was called so often.
    Untried(u32),
    /// There will be none.
    Refused,
    Ready(Compiled),
}
