//! Calls of native code from outside, without a machine as long as it needs none.
//!
//! # Method
//! Code that only computes, and reads and writes arrays, asks nothing of a machine. So the context has the parts of one while such a
//! call runs, and the first function of the runtime that needs a machine makes it of them, on the stack of the caller. A call of
//! two numbers takes half of the time by that.
//!
//! # Why it is right
//! Nothing but the functions of the runtime works on the machine, and all of them get it from the context. A machine takes the
//! stacks of registers as they are: room for the deepest run was reserved before, so that they stay where they are.

// Native code is called by its address.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use super::super::code::Code;
use super::super::register::Scalar;
use super::super::state::State;
use super::super::world::World;
use super::native::{has_room_for_native, stack_end};
use super::transfer::Returned;
use super::{Machine, SLICE};
use crate::error::ExecError;
use crate::native::{Compiled, NativeContext};
use crate::value::Val;

/// The parts of a machine, and the place for it.
struct Parts<'a> {
    world: &'a World,
    state: *mut State,
    machine: MaybeUninit<Machine<'a>>,
}

/// The native code of a function, if it can be called without a machine: it is there to stay, the stacks are as large as they
/// get, and no fuel is counted.
#[inline]
pub(super) fn compiled(world: &World, state: &State, code: &Code) -> Option<Compiled> {
    let fits = has_room_for_native(&state.scalars, &state.vals);
    let is_direct = fits && state.limits.fuel.is_none() && !world.natives.are_replaceable();
    if is_direct { world.native(code) } else { None }
}

/// Runs native code in the first frame, whose registers are there with the arguments in them; `take` takes the result.
#[inline(always)]
pub(super) fn run<R, E: From<ExecError>>(
    world: &World,
    state: &mut State,
    code: &Code,
    native: Compiled,
    take: impl FnOnce(Returned) -> Result<R, E>,
) -> Result<R, E> {
    let state: *mut State = state;
    let mut parts = Parts { world, state, machine: MaybeUninit::uninit() };
    // SAFETY: nobody else works on the state, and only one of this function, the code and the machine at a time.
    let (cx, scalars, vals) = unsafe {
        let State { scalars, vals, native, interrupt, .. } = &mut *state;
        let native = Arc::as_ptr(native);
        let cx = &*native;
        cx.begin(stack_end(), &raw const **interrupt);
        cx.machine.set(ptr::null_mut());
        cx.parts.set((&raw mut parts).cast::<c_void>());
        cx.table.set(world.natives.table.as_ptr());
        cx.fuel.set(SLICE);
        cx.note_ends(scalars, vals);
        (native, scalars.as_mut_ptr(), vals.as_mut_ptr())
    };
    let mut result = 0;
    // SAFETY: the code is of this world, and takes the first frame, which stands there.
    let status = unsafe { native.call(cx, scalars, vals, &mut result) };
    // SAFETY: the context is part of the state.
    let needed_none = unsafe {
        (*cx).end();
        (*cx).machine.get().is_null()
    };
    if needed_none && status == 0 {
        // SAFETY: nobody works on the state any more.
        let vals = unsafe { &mut (*state).vals };
        return match Scalar::of(code.ret) {
            Some(_) => take(Returned::Scalar(result)),
            None => take(Returned::Val(std::mem::replace(&mut vals[0], Val::Unit))),
        };
    }
    if needed_none {
        // SAFETY: as above; an error without a machine is one that was lost.
        unsafe { make_machine(cx) };
    }
    // SAFETY: there is a machine, which was made at that place.
    let machine = unsafe { parts.machine.assume_init() };
    take(finish(machine, code, status, result)?)
}

/// Makes the machine for native code that was called without one.
///
/// # Safety
/// The context is that of a [`run`] without a machine, and nobody else works on its state meanwhile.
#[cold]
pub(super) unsafe fn make_machine(cx: *const NativeContext) {
    // SAFETY: the caller says so; `run` has set the pointer.
    let parts = unsafe { &mut *(*cx).parts.get().cast::<Parts<'_>>() };
    // SAFETY: the caller says so.
    let state = unsafe { &mut *parts.state };
    state.start();
    let machine = parts.machine.write(Machine::on(parts.world, state));
    machine.native.begin();
    // SAFETY: as above.
    unsafe { (*cx).machine.set(ptr::from_mut(machine).cast::<c_void>()) };
}

/// Ends a call that a machine was made for.
#[cold]
fn finish(
    mut machine: Machine<'_>,
    code: &Code,
    status: i64,
    result: u64,
) -> Result<Returned, ExecError> {
    let returned = machine.result_of_native(code, status, result, 0);
    let returned = returned.map_err(|trap| machine.failed(trap, None));
    machine.end(returned.is_err());
    returned
}
