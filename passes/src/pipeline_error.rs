//! The errors that end a run of a pipeline early: what went wrong, in which pass, on what, and
//! what would have come after it.

use regraft_ir::Diagnostic;

use crate::panic_guard::Caught;
use crate::pass::{Output, PassResult};
use crate::pipeline::{PassStep, Step};
use crate::reproducer::{FailureKind, Fault};

/// The reason why steps were left before their end.
pub(crate) enum PipelineError {
    /// An observer ended the pipeline before this execution.
    Stopped(String),
    /// Something failed.
    Failed(Box<Fault>),
}

impl PipelineError {
    /// Remembers what would have come after the step that was left.
    pub(crate) fn before(mut self, rest: &[Step]) -> Self {
        if let Self::Failed(fault) = &mut self {
            fault.remaining.extend(rest.iter().map(ToString::to_string));
        }
        self
    }

    /// The same inside of a `fix` that would have repeated `rounds` times more.
    pub(crate) fn in_fix(mut self, rounds: u32, body: &[Step]) -> Self {
        if let Self::Failed(fault) = &mut self
            && rounds > 0
        {
            let steps: Vec<String> = body.iter().map(ToString::to_string).collect();
            fault.remaining.push(format!("fix{{max={rounds}}}({})", steps.join(", ")));
        }
        self
    }

    /// The same inside of a `loop`: what was left of its body, then all of it for the loops that
    /// were not reached.
    pub(crate) fn in_loop(mut self, body: &[Step]) -> Self {
        if let Self::Failed(fault) = &mut self {
            let rest = format!("loop({})", fault.remaining.join(", "));
            let steps: Vec<String> = body.iter().map(ToString::to_string).collect();
            let whole = format!("loop({})", steps.join(", "));
            fault.remaining = if rest == whole { vec![rest] } else { vec![rest, whole] };
        }
        self
    }

    /// A failure of the run as a whole, which no pass is to blame for.
    pub(crate) fn of_run(kind: FailureKind, diagnostics: Vec<Diagnostic>) -> Self {
        let remaining = Vec::new();
        Self::Failed(Box::new(Fault { kind, pass: None, function: None, diagnostics, remaining }))
    }

    /// A fault of a pass.
    pub(crate) fn fault(
        kind: FailureKind,
        pass: &PassStep,
        function: Option<&str>,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        Self::Failed(Box::new(Fault {
            kind,
            pass: Some((pass.name(), pass.to_string())),
            function: function.map(str::to_owned),
            diagnostics,
            remaining: vec![pass.to_string()],
        }))
    }
}

/// Brings the errors or the panic of a pass into the form that is shown to the user: under a line
/// that names the pass, or, if there is one error alone, in that line. Each error is told once.
pub(crate) fn pass_result(
    step: &PassStep,
    function: Option<&str>,
    result: Result<PassResult, Caught>,
    output: &mut Output,
) -> Result<(), PipelineError> {
    let unit = unit_text(function);
    let mut errors = std::mem::take(&mut output.errors);
    match result {
        Ok(Ok(())) if errors.is_empty() => Ok(()),
        Ok(result) => {
            errors.extend(result.err());
            if std::mem::take(&mut output.wrong_options) {
                return Err(PipelineError::fault(FailureKind::Options, step, function, errors));
            }
            let message = format!("pass `{step}` failed on {unit}");
            match &mut *errors {
                [error] => {
                    let message = format!("{message}: {}", error.message());
                    *error = error.clone().with_message(message);
                }
                _ => errors.insert(0, Diagnostic::error(message)),
            }
            Err(PipelineError::fault(FailureKind::Pass, step, function, errors))
        }
        Err(caught) => {
            let message = format!("pass `{step}` panicked on {unit}: {}", caught.message);
            let mut diagnostic = Diagnostic::error(message)
                .help("this is a bug of the pass; what it worked on was restored");
            if let Some(place) = caught.place {
                diagnostic = diagnostic.note(format!("it panicked at {place}"));
            }
            Err(PipelineError::fault(FailureKind::Panic, step, function, vec![diagnostic]))
        }
    }
}

/// Returns what a pass worked on, for messages.
pub(crate) fn unit_text(function: Option<&str>) -> String {
    function.map_or_else(|| "the module".to_owned(), |name| format!("@{name}"))
}
