//! Native code on the stacks of the machine, and what it asks of it.
//!
//! While native code runs it holds addresses of registers, so the stacks must not move: room for the
//! deepest run is reserved before, as addresses only.

// Native code is called by its address.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;
#[cfg(feature = "jit")]
use std::sync::atomic::Ordering;

use super::super::code::Code;
use super::super::inst::Pc;
use super::super::register::NO_REG;
use super::transfer::Returned;
use super::{Failure, Frame, Machine, Place};
use crate::chain::Chain;
use crate::error::Trap;
use crate::native::Compiled;
#[cfg(feature = "jit")]
use crate::native::ticker;
use crate::value::Val;

/// The registers that there is room for while native code runs.
const SCALARS: usize = 1 << 22;
const VALS: usize = 1 << 21;

/// The bytes of the thread's stack that native code leaves to the runtime.
const STACK_LEFT: usize = 256 << 10;

/// The part of a machine that native code needs.
#[derive(Default)]
pub(super) struct NativeState {
    /// The calls that an error has left which is on its way out of native code.
    pub(super) left: Chain,
    /// The error.
    trap: Option<Trap>,
    running: usize,
    /// The position of the instruction in native code that the error has left last.
    pub(super) failed_at: Pc,
}

impl NativeState {
    pub(super) fn is_running(&self) -> bool {
        self.running > 0
    }

    /// Notes that native code runs already.
    pub(super) fn begin(&mut self) {
        self.running += 1;
    }
}

/// Returns whether stacks are as large as native code may want them.
#[inline]
pub(super) fn has_room_for_native(scalars: &Vec<u64>, vals: &Vec<Val>) -> bool {
    SCALARS <= scalars.capacity() && VALS <= vals.capacity()
}

/// The lowest address that the stack of the thread may grow to while native code runs.
#[inline]
pub(super) fn stack_end() -> usize {
    let here = 0u8;
    let room = stacker::remaining_stack().unwrap_or(1 << 20);
    (&raw const here).addr().saturating_sub(room).saturating_add(STACK_LEFT)
}

impl<'a> Machine<'a> {
    /// Reserves room for the stacks, if native code may run.
    pub(super) fn make_room_for_native(&mut self) {
        if self.world.natives.may_run() {
            self.state.native.table.set(self.world.natives.table.as_ptr());
            if !has_room_for_native(&self.scalars, &self.vals) {
                self.scalars.reserve_exact(SCALARS.saturating_sub(self.scalars.len()));
                self.vals.reserve_exact(VALS.saturating_sub(self.vals.len()));
            }
        }
    }

    /// Returns whether stacks of these lengths stay where they are.
    pub(super) fn fits(&self, scalars: usize, vals: usize) -> bool {
        scalars <= self.scalars.capacity() && vals <= self.vals.capacity()
    }

    /// The lengths of the stacks when they grow to these at least.
    pub(super) fn longer(&self, scalars: usize, vals: usize) -> (usize, usize) {
        let longer = |need: usize, len: usize, capacity: usize| {
            if need <= len {
                return len;
            }
            let double = (len * 2).max(1 << 10);
            // Within what is reserved they stay where they are.
            need.max(if need <= capacity { double.min(capacity) } else { double })
        };
        (
            longer(scalars, self.scalars.len(), self.scalars.capacity()),
            longer(vals, self.vals.len(), self.vals.capacity()),
        )
    }

    /// Runs native code in a frame whose arguments are there.
    pub(super) fn run_native(
        &mut self,
        native: Compiled,
        code: &Code,
        (s, v): (usize, usize),
    ) -> Result<Returned, Trap> {
        let (scalars, vals) = (s + code.scalar_regs as usize, v + code.native_vals());
        if scalars > self.scalars.len() || vals > self.vals.len() {
            self.grow(scalars, vals)?;
        }
        let machine: *mut Self = self;
        if self.native.running == 0 {
            self.begin_native(stack_end(), code);
        }
        self.state.native.machine.set(machine.cast::<c_void>());
        self.note_ends();
        self.native.running += 1;
        let mut result = 0;
        // SAFETY: the code is of this world and takes a frame of `code`, which stands there. What it
        // calls works on the machine by the pointer in the context, while nobody else does.
        let status = unsafe {
            let scalars = (*machine).scalars.as_mut_ptr().add(s);
            let vals = (*machine).vals.as_mut_ptr().add(v);
            native.call(Arc::as_ptr(&(*machine).state.native), scalars, vals, &mut result)
        };
        self.native.running -= 1;
        if self.native.running == 0 {
            self.state.native.end();
        }
        self.result_of_native(code, status, result, v)
    }

    /// The result of native code whose frame starts at `v`, by its status.
    #[inline]
    pub(super) fn result_of_native(
        &mut self,
        code: &Code,
        status: i64,
        result: u64,
        v: usize,
    ) -> Result<Returned, Trap> {
        if status != 0 {
            let lost = || Trap::type_error("native code has failed without an error");
            return Err(self.native.trap.take().unwrap_or_else(lost));
        }
        Ok(Returned::of_registers(code, result, &mut self.vals, v))
    }

    /// Begins a run of native code, with that of a function.
    fn begin_native(&mut self, stack_end: usize, code: &Code) {
        let context = &self.state.native;
        let is_asked = context.begin(stack_end, &raw const *self.state.interrupt);
        #[cfg(feature = "jit")]
        if self.world.natives.are_replaceable() {
            if !context.is_watched.load(Ordering::Relaxed) {
                context.is_watched.store(true, Ordering::Relaxed);
                ticker::watch(context);
            }
            ticker::note_run();
            if is_asked {
                // The way in that is taken now is still right.
                self.look_up(code, None);
            }
        }
        #[cfg(not(feature = "jit"))]
        let _ = (is_asked, code);
    }

    /// Looks for better code for what runs, at the header of a loop or where a function begins.
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))]
    pub(super) fn look_up(&self, code: &Code, header: Option<Pc>) -> Option<Compiled> {
        #[cfg(feature = "jit")]
        {
            let better = self.world.look_up(code, header);
            if !self.world.natives.are_replaceable() {
                self.state.native.is_watched.store(false, Ordering::Relaxed);
            }
            better
        }
        #[cfg(not(feature = "jit"))]
        None
    }

    /// Tells native code where the stacks end.
    pub(super) fn note_ends(&mut self) {
        self.state.native.note_ends(&self.scalars, &self.vals);
    }

    /// The starts of two windows in their stacks.
    pub(super) fn window(&self, scalars: *const u64, vals: *const Val) -> (usize, usize) {
        let s = scalars.addr() - self.scalars.as_ptr().addr();
        let v = vals.addr() - self.vals.as_ptr().addr();
        (s / size_of::<u64>(), v / size_of::<Val>())
    }

    pub(super) fn check_depth(&self) -> Result<(), Trap> {
        if self.frames.len() + 1 >= self.state.limits.depth || self.state.native.is_deep() {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// Calls code in a frame whose arguments are there, for native code at `pc`.
    pub(super) fn call_from_native(
        &mut self,
        code: &'a Code,
        pc: Pc,
        (s, v): (usize, usize),
        callee: &'a Code,
        next: (usize, usize),
    ) -> Result<(), Trap> {
        let result = self.run_callee(code, pc, (s, v), callee, next)?;
        self.deliver(code, pc, s, v, callee.ret, result)
    }

    /// Runs code in a frame whose arguments are there, as the call at `pc` does.
    pub(super) fn run_callee(
        &mut self,
        code: &'a Code,
        pc: Pc,
        (s, v): (usize, usize),
        callee: &'a Code,
        next: (usize, usize),
    ) -> Result<Returned, Trap> {
        self.frames.push(Frame { code, pc, direct: NO_REG, scalars: s, vals: v });
        let result = match self.world.native(callee) {
            Some(native) => self.run_native(native, callee, next),
            None => self.interpreted(callee, next.0, next.1).and_then(|code| {
                self.interpret(Place { code, pc: 0, scalars: next.0, vals: next.1 })
            }),
        };
        if result.is_err() {
            // The arguments of one that did not begin are still there.
            self.empty(next.1, next.1 + callee.native_vals());
        }
        self.frames.pop();
        self.note_ends();
        result
    }

    /// Interprets code until its frame returns, between native code.
    fn interpret(&mut self, start: Place<'a>) -> Result<Returned, Trap> {
        let base = std::mem::replace(&mut self.base, self.frames.len());
        let fuel = self.state.native.fuel.get();
        let result = self.execute_to_the_end(start);
        self.state.native.fuel.set(fuel);
        let result = result.map_err(|failure| self.leave(start, failure));
        self.base = base;
        result
    }

    /// Leaves the frames from `start` on after an error that none of them handles.
    fn leave(&mut self, start: Place<'a>, failure: Failure<'a>) -> Trap {
        let Failure { mut trap, at } = failure;
        let path = trap.take_path(self.base);
        self.native.left = self.left_down_to(self.base, path, Some(at));
        self.frames.truncate(self.base);
        let end = at.vals + at.code.native_vals();
        self.empty(start.vals, end);
        trap
    }

    /// Empties registers of values, and arguments behind them of a call that did not begin.
    pub(super) fn empty(&mut self, start: usize, end: usize) {
        let end = end.min(self.vals.len()).max(start);
        if let Some(held) = self.vals.get_mut(start..end) {
            held.fill(Val::Unit);
        }
        let behind = self.vals.iter_mut().skip(end);
        behind.take_while(|value| !matches!(value, Val::Unit)).for_each(|value| *value = Val::Unit);
    }

    /// Gives native code new fuel, if there is any, and nobody asked for a stop.
    pub(super) fn refuel_native(&mut self) -> Result<(), Trap> {
        let used_up = self.state.native.fuel.get().min(0);
        let fuel = self.state.refuel(used_up)?;
        self.state.native.fuel.set(fuel);
        Ok(())
    }

    pub(super) fn fail_with(&mut self, result: Result<(), Trap>) -> i64 {
        match result {
            Ok(()) => 0,
            Err(trap) => {
                self.native.trap = Some(trap);
                1
            }
        }
    }
}
