//! Profiles of programs.

use std::mem::swap;

use regraft_exec::profiler::TOP_LEVEL;
use regraft_exec::value::Val;
use regraft_exec::{ExecError, Interpreter, Profile, Profiler, ProfilerOptions, recording_cost};
use regraft_ir::{Diagnostic, Loc, Symbol};
use rustc_hash::FxHashSet;

use super::Session;
use crate::derive::Instrumentation;

/// What is recorded of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProfileOptions {
    /// What is kept of events, and how much.
    pub keep: ProfilerOptions,
    /// True if arithmetic and elementary functions are recorded, and not only calls.
    pub ops: bool,
}

impl Session {
    /// Evaluates a text as [`eval`](Self::eval) does, while all functions record when they are
    /// called and when they return.
    ///
    /// The functions are those that run otherwise: what is inlined is part of the function around
    /// it. Code outside of functions is an event `top level`. The time of code that is compiled
    /// meanwhile is told apart. Afterwards functions record nothing any more. The profile is there
    /// also if the program fails, up to that point.
    ///
    /// ```
    /// # use regraft_lang::{ProfileOptions, Session};
    /// # use regraft_exec::ProfilerOptions;
    /// let ctx = regraft_dialects::context();
    /// let mut session = Session::new(&ctx);
    /// session.run("f.jl", "fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)").unwrap();
    /// let options = ProfileOptions { keep: ProfilerOptions::SUM, ops: false };
    /// let (value, profile) = session.profile("fib(10)", options);
    /// assert_eq!(value.unwrap().as_i64(), Some(55));
    /// let rows = profile.rows(|node| Some(node.event));
    /// let fib = rows.iter().find(|row| ctx.str(row.key) == "fib(Int64)").unwrap();
    /// assert_eq!(fib.calls, 177);
    /// ```
    pub fn profile(
        &mut self,
        text: &str,
        options: ProfileOptions,
    ) -> (Result<Val, Vec<Diagnostic>>, Profile) {
        let ctx = self.ctx.clone();
        self.instrument(Some(match options.ops {
            false => Instrumentation::Functions,
            true => Instrumentation::FunctionsAndOps,
        }));
        self.recording = Some(Profiler::new(&ctx, options.keep));
        let result = self.eval(text);
        let profiler = self.recording.take().unwrap_or_default();
        let cost = recording_cost(&ctx, options.keep);
        let mut profile = self.interpreter.host_mut().finish_profiler(profiler, cost);
        let events: FxHashSet<Symbol> = profile.nodes.iter().map(|node| node.event).collect();
        for event in events {
            let mut compiler = self.compiler.borrow_mut();
            if let Some(id) = compiler.spec_by_name(event) {
                profile.definitions.insert(event, compiler.function(id).function_loc());
            }
        }
        self.instrument(None);
        (result, profile)
    }

    /// Sets what functions record from now on.
    fn instrument(&mut self, what: Option<Instrumentation>) {
        let mut compiler = self.compiler.borrow_mut();
        let is_new = compiler.set_instrumentation(what);
        let names = if is_new { compiler.function_names() } else { Vec::new() };
        drop(compiler);
        self.relink();
        self.interpreter.forget(&names);
    }

    /// Runs something at top level, which is recorded while a program is.
    pub(super) fn run_recorded(
        &mut self,
        run: impl FnOnce(&mut Interpreter) -> Result<Val, ExecError>,
    ) -> Result<Val, Vec<Diagnostic>> {
        let top_level = self.ctx.symbol(TOP_LEVEL);
        let mut recording = self.recording.take();
        let result = self.within_fuel(|interpreter| {
            let Some(profiler) = &mut recording else { return run(interpreter) };
            swap(profiler, &mut interpreter.host_mut().profiler);
            interpreter.host_mut().record_start(top_level, Loc::UNKNOWN);
            let result = run(interpreter);
            interpreter.host_mut().record_end(top_level);
            swap(profiler, &mut interpreter.host_mut().profiler);
            result
        });
        self.recording = recording;
        result
    }
}
