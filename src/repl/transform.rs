//! The commands that change the current program: `:pipeline`, `:opt`, `:undo`, `:redo`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regraft_ir::Diagnostic;
use regraft_passes::{Gate, Moment, Observer, Pipeline, RunOptions, diff_modules, run_pipeline};

use super::commands::{Done, no_argument};
use super::console::Console;
use super::look::{current, select};
use super::reader::call_and_pipeline;
use super::{Outcome, Repl};

/// `:pipeline [PIPELINE]`
pub(super) fn pipeline(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        console.result(&repl.pipeline.to_string());
    } else {
        repl.pipeline = parse(repl, rest)?;
    }
    Ok(Outcome::Continue)
}

/// `:opt [CALL] [-p PIPELINE]`
pub(super) fn opt(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let (call, pipeline) = call_and_pipeline(rest);
    let pipeline = match pipeline {
        Some("") => {
            let error = Diagnostic::error("the pipeline is missing behind `-p`");
            return Err(vec![error.help("`:passes` lists what pipelines are made of")]);
        }
        Some(text) => parse(repl, text)?,
        None => repl.pipeline.clone(),
    };
    if let Some(call) = call {
        select(repl, call, console)?;
    }
    let flag = repl.session.interrupt_flag();
    let current = current(repl)?;
    let mut module = current.module().clone();
    let options = RunOptions::default().observe(StopOnInterrupt(flag));
    let report = run_pipeline(&mut module, &pipeline, &options)
        .map_err(|failure| failure.diagnostics().to_vec())?;
    if report.stopped.is_some() {
        return Err(vec![Diagnostic::error("interrupted; the program is as it was")]);
    }
    console.report(&report.warnings);
    let diff = diff_modules(current.module(), &module);
    if diff.is_empty() {
        console.result("nothing changed");
    } else {
        current.apply(pipeline.to_string(), module);
        console.diff(&diff);
    }
    Ok(Outcome::Continue)
}

/// `:undo`
pub(super) fn undo(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    no_argument(rest)?;
    let current = current(repl)?;
    let Some(pipeline) = current.undo().map(str::to_owned) else {
        return Err(vec![Diagnostic::error("there is no pipeline to take back")]);
    };
    console.result(&format!("took back: {pipeline}\nnow: {}", current.title()));
    Ok(Outcome::Continue)
}

/// `:redo`
pub(super) fn redo(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    no_argument(rest)?;
    let current = current(repl)?;
    let Some(pipeline) = current.redo().map(str::to_owned) else {
        return Err(vec![Diagnostic::error("there is nothing that was taken back")]);
    };
    console.result(&format!("applied: {pipeline}\nnow: {}", current.title()));
    Ok(Outcome::Continue)
}

fn parse(repl: &Repl, text: &str) -> Result<Pipeline, Vec<Diagnostic>> {
    Pipeline::parse(&repl.passes, text)
}

/// Ends a pipeline before its next pass when the user asks for it.
#[derive(Debug)]
struct StopOnInterrupt(Arc<AtomicBool>);

impl Observer for StopOnInterrupt {
    fn name(&self) -> &'static str {
        "the interrupt"
    }

    fn before(&self, _: &Moment<'_>) -> Gate {
        if self.0.load(Ordering::Relaxed) { Gate::Stop } else { Gate::Go }
    }
}
