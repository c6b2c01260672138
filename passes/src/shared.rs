//! The state that the run of each function shares with the run as a whole.

use std::time::{Duration, Instant};

use regraft_ir::{Diagnostic, Module};

use crate::analysis::EffectSummaries;
use crate::instrument::{Execution, Log, Observer};
use crate::panic_guard::guarded;
use crate::pipeline::PassStep;
use crate::pipeline_error::{PipelineError, unit_text};
use crate::reproducer::FailureKind;
use crate::run_options::RunOptions;

/// The state of the run as a whole that the run of a function needs.
pub(crate) struct Shared<'a> {
    pub(crate) options: &'a RunOptions,
    /// In the order in which they are called.
    pub(crate) observers: Vec<&'a dyn Observer>,
    pub(crate) passes: Vec<&'a PassStep>,
    /// For each place of the pipeline, the first place with the same pass and the same options.
    pub(crate) same_pass: Vec<usize>,
    /// The module without the bodies of its functions, which are being run. Made when functions
    /// are run first, and again after a module pass that changed something.
    pub(crate) signatures: Option<Module>,
    /// The effects of calls of functions of the module, made with the signatures.
    pub(crate) effects: EffectSummaries,
    /// The number of changes of the signatures or the effects.
    pub(crate) surroundings: u64,
}

impl Shared<'_> {
    pub(crate) fn signatures(&self) -> &Module {
        self.signatures.as_ref().expect("made before functions are run")
    }
}

/// Shows an execution to the observers, and returns the time that they took.
pub(crate) fn observe(
    shared: &Shared<'_>,
    execution: &Execution<'_>,
    log: &mut Log,
) -> Result<Duration, PipelineError> {
    let start = Instant::now();
    for observer in &shared.observers {
        let pass_run = execution.pass_run;
        let unit = unit_text(pass_run.function);
        let (name, pass) = (observer.name(), pass_run.pass);
        // What a pass has wrecked may well be too much for an observer.
        let (mut diagnostics, message) = match guarded(|| observer.after(execution, log)) {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => (why, format!("{name} refuses what `{pass}` left of {unit}")),
            Err(caught) => {
                let message = format!("{name} panicked on what `{pass}` left of {unit}");
                (vec![Diagnostic::error(caught.message)], message)
            }
        };
        diagnostics.insert(0, Diagnostic::error(message));
        let (pass, function) = (pass_run.pass, pass_run.function);
        return Err(PipelineError::fault(FailureKind::Refused, pass, function, diagnostics));
    }
    Ok(start.elapsed())
}
