//! Observers: what watches a pipeline while it runs.
//!
//! An observer is told before and after each execution of a pass. It keeps nothing per function
//! itself: functions run in parallel, and what an observer writes goes to the [`Log`] of the
//! function, which comes out in module order. So the output does not depend on threads.
//!
//! ```
//! use regraft_passes::{PassRegistry, Pipeline, RunOptions, StopAfter, run_pipeline};
//!
//! let text = "
//! func @f(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   %2: f64 = arith.add %x, %x
//!   return %1
//! }";
//! let mut module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let pipeline = Pipeline::parse(&PassRegistry::standard(), "fold, dce").unwrap();
//! let options = RunOptions::default().observe(StopAfter::new(1));
//! let report = run_pipeline(&mut module, &pipeline, &options).unwrap();
//! assert!(report.stopped.is_some());
//! assert_eq!(module.inst_count(), 2);
//! ```

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use regraft_ir::{Diagnostic, FuncId, Function, Module, Renumbering};

use crate::pass::Output;
use crate::pipeline::{PassStep, Pipeline};
use crate::report::Explanation;

mod dump;
mod print;
mod stop;
mod verify;

pub use dump::DumpFolder;
pub(crate) use dump::file_name;
pub use print::{PrintAfter, PrintWhat};
pub use stop::StopAfter;
pub use verify::Verify;

/// The order in which the functions of a module may be run while an observer watches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Schedule {
    /// Several at once.
    Parallel,
    /// One after the other, in module order: the observer counts.
    InOrder,
    /// One after the other, and the observer is shown the whole module.
    WithModule,
}

/// The unit that a pass ran on.
#[derive(Clone, Copy, Debug)]
pub enum Unit<'a> {
    /// A function pass ran on this function.
    Function(&'a Function),
    /// A module pass ran on this module.
    Module(&'a Module),
}

/// A run of a pass on a function or a module: one that is about to start, or has ended.
#[derive(Clone, Copy, Debug)]
pub struct PassRun<'a> {
    /// The pass, at its place in the pipeline.
    pub pass: &'a PassStep,
    /// The function that it runs on; `None` if it runs on the module.
    pub function: Option<&'a str>,
    /// The number of this execution among those on this function (or on the module), from 1.
    pub number: u32,
}

impl fmt::Display for PassRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.function {
            Some(name) => write!(f, "{} on @{name}", self.pass),
            None => write!(f, "{} on the module", self.pass),
        }
    }
}

/// A pass that has run.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The run of the pass.
    pub pass_run: PassRun<'a>,
    /// The function in its module; `None` for module passes.
    pub id: Option<FuncId>,
    /// The function or module before.
    pub before: Unit<'a>,
    /// The same afterwards.
    pub after: Unit<'a>,
    /// The whole module, afterwards: for module passes, and under [`Schedule::WithModule`].
    pub module: Option<&'a Module>,
    /// The signatures of all functions: a module whose functions need not have bodies.
    pub signatures: &'a Module,
    /// True if the epochs say that anything changed.
    pub changed: bool,
    /// The new numbers, if the pass renumbered the function and said how.
    pub renumbering: Option<&'a Renumbering>,
    /// True if the function was rebuilt, so that numbers before and after are not related.
    pub rebuilt: bool,
    /// The wall time of the pass alone.
    pub elapsed: Duration,
}

/// The output of observers.
#[derive(Debug, Default)]
pub struct Log {
    pub(crate) text: String,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) explanations: Vec<Explanation>,
}

impl Log {
    /// Writes text for the user.
    pub fn print(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Takes over the warnings of a pass, and says where they come from.
    pub(crate) fn take_warnings(&mut self, warnings: &mut Vec<Diagnostic>, pass_run: &PassRun<'_>) {
        let with_place = |warning: Diagnostic| warning.note(format!("from {pass_run}"));
        self.warnings.extend(warnings.drain(..).map(with_place));
    }

    /// Takes over the explanations of a pass.
    pub(crate) fn take_explanations(&mut self, output: &mut Output, pass_run: &PassRun<'_>) {
        let Some(explanations) = output.explanations.take() else { return };
        self.explanations.extend(explanations.into_iter().map(|(value, text)| Explanation {
            pass: pass_run.pass.to_string(),
            function: pass_run.function.unwrap_or_default().to_owned(),
            value,
            text,
        }));
    }

    /// Tells the user something that does not stop the pipeline.
    pub fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }
}

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.print(text);
        Ok(())
    }
}

/// Watches a pipeline.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Returns what it is, for messages: "the verifier".
    fn name(&self) -> &'static str;

    /// Returns how functions may be run while it watches.
    fn schedule(&self) -> Schedule {
        Schedule::Parallel
    }

    /// Returns whether it must not be shown what the verifier refuses. Such observers come after
    /// the verifier.
    fn needs_valid(&self) -> bool {
        false
    }

    /// Called once, before anything runs.
    ///
    /// # Errors
    /// If the pipeline should not run.
    fn begin(
        &self,
        module: &Module,
        pipeline: &Pipeline,
        log: &mut Log,
    ) -> Result<(), Vec<Diagnostic>> {
        let _ = (module, pipeline, log);
        Ok(())
    }

    /// Called once, after the pipeline has come to its end.
    ///
    /// # Errors
    /// What is wrong with the run as a whole. The module stays as the passes left it.
    fn end(&self, module: &Module, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        let _ = (module, log);
        Ok(())
    }

    /// Called before a pass runs. `Break` ends the pipeline here, without an error.
    fn before(&self, pass_run: &PassRun<'_>) -> ControlFlow<()> {
        let _ = pass_run;
        ControlFlow::Continue(())
    }

    /// Called after a pass has run without an error.
    ///
    /// # Errors
    /// What is wrong with the result: the pipeline stops, and the pass is to blame.
    fn after(&self, execution: &Execution<'_>, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        let _ = (execution, log);
        Ok(())
    }

    /// Called after the manager dropped what is dead from a large function, which gives its
    /// values new numbers.
    fn compacted(&self, f: &Function, log: &mut Log) {
        let _ = (f, log);
    }
}
