//! The surroundings of a running program: its output, the clock, the profiler.

use std::fmt;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

use crate::chain::Chain;
use crate::error::Trap;
use crate::profiler::Calls;
use crate::tangent::{Tangents, Workspace};
use crate::value::{Names, Texts, Val};
use regraft_ir::{Context, Symbol, Type, suggest};
use rustc_hash::FxHashMap;

/// The place where output goes.
enum Output {
    Kept(Vec<u8>),
    Passed(Box<dyn Write>),
}

/// The outside of a program.
pub struct Host {
    output: Output,
    clock: Box<dyn FnMut() -> u64>,
    /// The profiler's buffer.
    pub calls: Calls,
    globals: FxHashMap<Symbol, Val>,
    /// The errors that handlers are at work on, the innermost last.
    caught: Vec<Caught>,
    workspace: Workspace,
}

/// An error that a handler is at work on.
#[derive(Debug)]
pub(crate) struct Caught {
    /// The number of callers of the function that called the handler.
    pub(crate) depth: usize,
    /// The value that the handler was called with.
    pub(crate) value: Val,
    /// The calls that led to it.
    pub(crate) chain: Chain,
}

impl Default for Host {
    fn default() -> Self {
        let start = Instant::now();
        Self {
            output: Output::Kept(Vec::new()),
            clock: Box::new(move || start.elapsed().as_nanos() as u64),
            calls: Calls::default(),
            globals: FxHashMap::default(),
            caught: Vec::new(),
            workspace: Workspace::default(),
        }
    }
}

impl Host {
    /// Passes output on instead of keeping it.
    pub fn set_output(&mut self, output: Box<dyn Write>) {
        self.output = Output::Passed(output);
    }

    /// Sets the clock, which gives nanoseconds since some fixed time.
    pub fn set_clock(&mut self, clock: impl FnMut() -> u64 + 'static) {
        self.clock = Box::new(clock);
    }

    /// Sets how a language names types and functions and shows values: in output, in errors.
    pub fn set_names(&mut self, names: Rc<dyn Names>) {
        self.workspace.names = Some(names);
    }

    /// The texts of values and types.
    pub fn texts<'a>(&'a self, ctx: &'a Context) -> Texts<'a> {
        self.workspace.texts(ctx)
    }

    /// The operations on tangents, within the memory limit and with the names of this host, on
    /// values of programs over `ctx`.
    pub fn tangents<'a>(&'a self, ctx: &'a Context) -> Tangents<'a> {
        Tangents::new(ctx, &self.workspace)
    }

    /// The time in nanoseconds.
    pub fn now(&mut self) -> u64 {
        (self.clock)()
    }

    /// Records the start of an event in the profiler, the time last.
    pub fn record_start(&mut self, event: Symbol) {
        self.calls.start(event, &mut self.clock);
    }

    /// The value of a global name, if it has one.
    pub fn global(&self, name: Symbol) -> Option<&Val> {
        self.globals.get(&name)
    }

    /// Gives a global name a value; the one that it had is returned.
    pub fn set_global(&mut self, name: Symbol, value: Val) -> Option<Val> {
        self.globals.insert(name, value)
    }

    /// The error of reading a global name without a value.
    #[cold]
    pub fn undefined_global(&self, ctx: &Context, name: Symbol) -> Trap {
        let text = ctx.str(name);
        let trap = Trap::new("UndefVarError", format!("`{text}` not defined"));
        let trap = trap.with_values([Val::Sym(name)]);
        let near = match &self.workspace.names {
            Some(names) => names.near(name),
            None => {
                // In an order of their own: that of the table is none.
                let mut known: Vec<&str> = self.globals.keys().map(|&name| ctx.str(name)).collect();
                known.sort_unstable();
                suggest(text, known).map(str::to_owned)
            }
        };
        match near {
            Some(near) => trap.help(format!("did you mean `{near}`?")),
            None => trap,
        }
    }

    /// The [shape](Val::named_shape) of named tuples of type `ty`, or of those of the fields of a
    /// struct of that type; `make` makes it where it is not known.
    pub(crate) fn shape(&self, ty: Type, make: impl FnOnce() -> Option<Type>) -> Option<Type> {
        self.workspace.shape(ty, make)
    }

    pub(crate) fn begin_derivative(&mut self, level: usize) {
        self.workspace.begin_derivative(level);
    }

    pub(crate) fn end_derivative(&mut self, level: usize) {
        self.workspace.end_derivative(level);
    }

    /// The derivatives that are being taken.
    pub(crate) fn derivatives(&self) -> usize {
        self.workspace.derivatives()
    }

    /// A handler begins its work on an error, in a function with so many callers, while so many
    /// derivatives are taken. What was going on in calls further in is over.
    pub(crate) fn catch(&mut self, caught: Caught, derivatives: usize) {
        let inside = |other: &Caught| other.depth >= caught.depth;
        self.caught.truncate(self.caught.iter().position(inside).unwrap_or(self.caught.len()));
        self.workspace.end_derivatives(derivatives);
        self.caught.push(caught);
    }

    /// The innermost error that a handler is at work on.
    pub(crate) fn caught(&self) -> Option<&Caught> {
        self.caught.last()
    }

    /// The innermost handler is done.
    pub(crate) fn handled(&mut self) {
        self.caught.pop();
    }

    /// A run is over.
    pub(crate) fn end(&mut self) {
        self.caught.clear();
        self.workspace.end();
    }

    /// Writes output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&mut self, text: &str) -> Result<(), Trap> {
        match &mut self.output {
            Output::Kept(kept) => {
                kept.extend_from_slice(text.as_bytes());
                Ok(())
            }
            Output::Passed(to) => to
                .write_all(text.as_bytes())
                .map_err(|error| Trap::new("IOError", format!("cannot print: {error}"))),
        }
    }

    pub(crate) fn take_output(&mut self) -> String {
        match &mut self.output {
            Output::Kept(kept) => String::from_utf8_lossy(&std::mem::take(kept)).into_owned(),
            Output::Passed(to) => {
                // Nothing is lost by a failure here that a later write would not report.
                let _ = to.flush();
                String::new()
            }
        }
    }

    /// From now on, `limit` more bytes may be used.
    pub(crate) fn start(&mut self, limit: usize) {
        self.workspace.budget.start(limit);
    }

    /// Checks that `bytes` more bytes may be used.
    ///
    /// # Errors
    /// If they would exceed the memory limit.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve(bytes)
    }

    /// The bytes that may still be used.
    pub fn remaining(&self) -> usize {
        self.workspace.budget.remaining()
    }

    /// The error of exceeding the memory limit.
    #[cold]
    pub fn memory_exceeded(&self) -> Trap {
        self.workspace.budget.memory_exceeded()
    }

    /// Checks that an array of that length may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit, or is larger than any memory.
    pub fn reserve_array(&self, element: Type, len: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve_array(element, len)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("calls", &self.calls).finish_non_exhaustive()
    }
}
