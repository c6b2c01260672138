//! A function that is called from outside, again and again.

// The code is kept by its address.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use regraft_ir::Symbol;

use super::Interpreter;
use super::code::Code;
use super::machine::{self, Returned};
use crate::chain::Chain;
use crate::error::{ExecError, Trap};
use crate::native::Image;
use crate::value::Val;

/// A function with the interpreter that runs it.
///
/// Nothing else is done with the interpreter: no function of it changes, so that code stays where it is.
pub(crate) struct EntryPoint {
    interpreter: Interpreter,
    code: NonNull<Code>,
}

impl EntryPoint {
    /// A function whose code, native code if the engine makes some, is made before it is first called.
    pub(crate) fn new(mut interpreter: Interpreter, function: Symbol) -> Result<Self, ExecError> {
        let slot = interpreter.prepare(function)?;
        Self::of(interpreter, slot)
    }

    /// A function whose native code is that of an image.
    pub(crate) fn load(
        mut interpreter: Interpreter,
        function: Symbol,
        image: &Image,
    ) -> Result<Self, ExecError> {
        let slot = interpreter.load_unit(function, image)?;
        Self::of(interpreter, slot)
    }

    /// The function in a slot.
    fn of(interpreter: Interpreter, slot: u32) -> Result<Self, ExecError> {
        let world = &interpreter.world;
        let code = world.code(slot).map(NonNull::from);
        let code = code.map_err(|trap| ExecError::new(&world.ctx, trap, Chain::default()))?;
        Ok(Self { interpreter, code })
    }

    /// Calls the function with arguments that `pass` writes to its [registers](machine::run_with); `take` takes the result.
    #[inline]
    pub(crate) fn call<R, E: From<ExecError>>(
        &mut self,
        pass: impl FnOnce(&mut [u64], &mut [Val]) -> Result<(), Trap>,
        take: impl FnOnce(Returned) -> Result<R, E>,
    ) -> Result<R, E> {
        let Interpreter { world, state, .. } = &mut self.interpreter;
        state.interrupt.store(false, Ordering::Relaxed);
        // SAFETY: it is the code of a function of the world, which does not change.
        machine::run_with(world, state, unsafe { self.code.as_ref() }, pass, take)
    }
}
