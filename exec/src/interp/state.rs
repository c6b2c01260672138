//! The state of a run: what is left of the limits, the host, and the stacks.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::code::Code;
use super::inst::Pc;
use super::register::Reg;
use crate::engine::Limits;
use crate::error::Trap;
use crate::host::Host;
use crate::native::NativeContext;
use crate::value::Val;

/// The state that changes while a program runs.
pub(super) struct State {
    pub(super) limits: Limits,
    /// The number of threads that functions which run in chunks take at most.
    pub(super) threads: usize,
    /// Instructions that may still be run, apart from the slice at work.
    pub(super) fuel_left: u64,
    /// The most instructions that are run between two looks.
    pub(super) slice: i64,
    /// The state of the generator of their lengths.
    pub(super) slices: u64,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) host: Host,
    /// The stacks of registers, kept between calls.
    pub(super) scalars: Vec<u64>,
    pub(super) vals: Vec<Val>,
    /// Empty: a place for frames, and one for the operands of an op that has many.
    pub(super) frames: Vec<Frame<'static>>,
    pub(super) operands: Vec<Val>,
    /// The number of times that a function at work went on in better code.
    pub(super) replaced: u64,
    /// The state of the run for native code.
    pub(super) native: Arc<NativeContext>,
}

impl State {
    /// Sets the limits for what runs next.
    pub(super) fn start(&mut self) {
        self.fuel_left = self.limits.fuel.unwrap_or(u64::MAX);
        self.host.start(self.limits.memory);
    }

    /// The registers of the first frame that runs `code`, and room for what native code puts behind them.
    ///
    /// # Errors
    /// If they would exceed the memory limit.
    #[inline]
    pub(super) fn registers(&mut self, code: &Code) -> Result<(&mut [u64], &mut [Val]), Trap> {
        let (scalars, vals) = (code.scalar_regs as usize, code.native_vals());
        if scalars > self.scalars.len() || vals > self.vals.len() {
            // The limit of memory is that of the run to come.
            self.start();
            self.host.reserve(scalars * size_of::<u64>() + vals * size_of::<Val>())?;
            self.scalars.resize(scalars.max(self.scalars.len()), 0);
            self.vals.resize(vals.max(self.vals.len()), Val::Unit);
        }
        Ok((&mut self.scalars, &mut self.vals))
    }
}

/// A caller that waits for a result.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) code: &'a Code,
    /// Of the call.
    pub(super) pc: Pc,
    /// The register that the result goes to as it is, of the kind that the callee returns; or
    /// [`NOWHERE`](super::register::NOWHERE) or [`NO_REG`](super::register::NO_REG).
    pub(super) direct: Reg,
    pub(super) scalars: usize,
    pub(super) vals: usize,
}
