//! A session: text in, values and modules out.
//!
//! It holds the world of methods, what was inferred, and an interpreter that asks both while a
//! program runs. What is defined stays: scripts, REPL lines and questions about methods all see
//! the same world.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use regraft_exec::value::{Val, show_string, to_json};
use regraft_exec::{Engine, Interpreter, Limits};
use regraft_ir::{Context, Diagnostic, Module};
use regraft_passes::Pipeline;

/// The pipeline that makes an optimized module of a typed one, if no other is asked for.
pub const STANDARD_PIPELINE: &str = "fix{max=4}(simplify-cfg, fold, cse, dce)";

/// Names a method to look at.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// The method that a call would run: `foo(1.0, [1.0, 2.0])`. The arguments are evaluated, for their types.
    Call(&'a str),
    /// The method for arguments of these types: `foo(Float64, Vector{Float64})`.
    Types(&'a str),
}

impl<'a> From<&'a str> for Entry<'a> {
    fn from(call: &'a str) -> Self {
        Self::Call(call)
    }
}

/// The state of a text that may go on in further lines, as a REPL asks before it evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// It can be evaluated (or it is wrong, and no further line would mend it).
    Complete,
    /// It ends too early.
    Incomplete,
}

/// A world of programs, and what runs them.
pub struct Session {
    ctx: Arc<Context>,
    interpreter: Interpreter,
    /// The number of REPL lines so far.
    lines: usize,
}

impl Session {
    /// A session that knows what the prelude defines.
    pub fn new(ctx: &Arc<Context>) -> Self {
        let interpreter = Interpreter::new(&Module::new(ctx));
        Self { ctx: Arc::clone(ctx), interpreter, lines: 0 }
    }

    /// The context of its programs.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Runs the statements of a script in order; the value is that of the last one.
    ///
    /// # Errors
    /// If the text is wrong: all errors of it, and nothing is run. If a statement fails when it is
    /// run: then what was defined before stays.
    pub fn run(&mut self, name: &str, text: &str) -> Result<Val, Vec<Diagnostic>> {
        let _ = (name, text);
        Err(self.unfinished())
    }

    /// Evaluates a line of a REPL: as [`run`](Self::run), but loops assign to the globals that
    /// there are, and the source is called `REPL[n]`.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn eval(&mut self, text: &str) -> Result<Val, Vec<Diagnostic>> {
        self.lines += 1;
        let _ = text;
        Err(self.unfinished())
    }

    /// Whether a text is whole, or goes on in the next line.
    pub fn completeness(&self, text: &str) -> Completeness {
        let _ = text;
        Completeness::Complete
    }

    /// The lowered IR of the method that a call dispatches to.
    ///
    /// # Errors
    /// If the text is no call, if an argument cannot be evaluated, if there is no such method.
    pub fn lowered<'a>(&mut self, entry: impl Into<Entry<'a>>) -> Result<Module, Vec<Diagnostic>> {
        let _ = entry.into();
        Err(self.unfinished())
    }

    /// The function that a call runs, typed, and after it all that it calls.
    ///
    /// # Errors
    /// As of [`lowered`](Self::lowered), and if inference finds an error that stops it.
    pub fn typed<'a>(&mut self, entry: impl Into<Entry<'a>>) -> Result<Module, Vec<Diagnostic>> {
        let _ = entry.into();
        Err(self.unfinished())
    }

    /// What [`typed`](Self::typed) gives after a pipeline; [`STANDARD_PIPELINE`] if none is given.
    ///
    /// # Errors
    /// As of [`typed`](Self::typed), and if a pass fails.
    pub fn optimized<'a>(
        &mut self,
        entry: impl Into<Entry<'a>>,
        pipeline: Option<&Pipeline>,
    ) -> Result<Module, Vec<Diagnostic>> {
        let _ = (entry.into(), pipeline);
        Err(self.unfinished())
    }

    /// A value as Julia shows it.
    pub fn show(&self, value: &Val) -> String {
        show_string(&self.ctx, value)
    }

    /// A value as JSON.
    pub fn json(&self, value: &Val) -> String {
        to_json(&self.ctx, value)
    }

    /// The names that a program may use here and now, sorted: globals, functions, types.
    pub fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// A flag that stops a running program when somebody (another thread, a signal handler) sets it.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interpreter.interrupt_flag()
    }

    /// The limits of each [`run`](Self::run) and [`eval`](Self::eval).
    pub fn limits(&self) -> Limits {
        self.interpreter.limits()
    }

    /// Changes the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.interpreter.set_limits(limits);
    }

    /// Passes what programs print on, instead of keeping it for [`take_output`](Self::take_output).
    pub fn set_output(&mut self, output: Box<dyn Write>) {
        self.interpreter.host_mut().set_output(output);
    }

    /// What programs have printed since the last call, if it is kept; flushes it if it is passed on.
    pub fn take_output(&mut self) -> String {
        self.interpreter.take_output()
    }

    fn unfinished(&self) -> Vec<Diagnostic> {
        vec![Diagnostic::error("programs of the language cannot be run yet")]
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("lines", &self.lines).finish_non_exhaustive()
    }
}
