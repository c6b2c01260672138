//! Errors on their way to a handler.
//!
//! A `core.try` puts its handler on a stack while its body runs. An error drops the frames above
//! the one that the handler is of, and goes on there; nothing is looked up or paid for while no
//! error happens.

use std::sync::atomic::Ordering;

use super::super::inst::Pc;
use super::{Failure, Machine, Place};
use crate::chain::{Chain, Path};
use crate::error::ErrorKind;
use crate::host::Caught;

/// A handler that errors go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handler {
    /// The number of frames below the one that it is of.
    depth: usize,
    to: Pc,
    /// The number of derivatives that are being taken there.
    derivatives: usize,
    /// The number of events of the profiler that are open there.
    events: usize,
}

impl<'a> Machine<'a> {
    /// From here on, errors go to the handler at `to`.
    pub(super) fn begin_try(&mut self, to: Pc) {
        let (depth, derivatives) = (self.frames.len(), self.state.host.derivatives());
        let events = self.state.host.profiler.depth();
        self.handlers.push(Handler { depth, to, derivatives, events });
    }

    /// The body of the innermost handler is done.
    pub(super) fn end_try(&mut self) {
        self.handlers.pop();
    }

    /// Returns where a handler takes over.
    ///
    /// # Errors
    /// The failure, if nobody handles it.
    pub(super) fn catch(&mut self, failure: Failure<'a>) -> Result<Place<'a>, Failure<'a>> {
        let Some(value) = failure.trap.caught(&self.world.ctx) else { return Err(failure) };
        // Those of frames further out wait until native code in between has been left.
        let base = self.base;
        let handler = self.handlers.pop_if(|handler| handler.depth >= base);
        let Some(Handler { depth, to, derivatives, events }) = handler else {
            return Err(failure);
        };
        let Failure { mut trap, at } = failure;
        if *trap.kind() == ErrorKind::Interrupted {
            self.state.interrupt.store(false, Ordering::Relaxed);
        }
        let path = match trap.take_path(0) {
            // The error was thrown on by a handler further out, which this one is at work for.
            Some(path) if path.depth < depth => {
                self.native.left = Chain::default();
                path
            }
            path => Path { chain: self.left_down_to(depth, path, Some(at)), depth },
        };
        let mut callers = Chain::default();
        callers.extend(path.depth, |i| self.caller(path.depth - 1 - i));
        let place = match self.frames.get(depth) {
            Some(frame) => {
                Place { code: frame.code, pc: to, scalars: frame.scalars, vals: frame.vals }
            }
            None => Place { pc: to, ..at },
        };
        self.frames.truncate(depth);
        self.state.host.unwind_events(events);
        self.drop_above(place, at);
        self.state.host.catch(Caught { depth, value, path, callers }, derivatives);
        Ok(place)
    }

    /// Drops what frames above that of `place` hold, up to that of `last`.
    fn drop_above(&mut self, place: Place<'a>, last: Place<'a>) {
        let start = place.vals + place.code.val_regs as usize;
        self.empty(start, last.vals + last.code.native_vals());
    }
}
