//! How a run of a pipeline ends before its end: what went wrong, in which pass, on what, and
//! what would have come after it.

use regraft_ir::Diagnostic;

use crate::panic_guard::Caught;
use crate::pass::PassResult;
use crate::pipeline::{PassStep, Step};
use crate::reproducer::{FailureKind, Fault};

/// Why steps were left before their end.
pub(crate) enum Halt {
    /// An observer ended the pipeline before this execution.
    Stopped(String),
    /// Something failed.
    Failed(Box<Fault>),
}

impl Halt {
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

/// Brings the errors or the panic of a pass into the form that is shown to the user.
pub(crate) fn pass_result(
    step: &PassStep,
    function: Option<&str>,
    result: Result<PassResult, Caught>,
    mut errors: Vec<Diagnostic>,
) -> Result<(), Halt> {
    let unit = unit_text(function);
    match result {
        Ok(Ok(())) if errors.is_empty() => Ok(()),
        Ok(result) => {
            errors.extend(result.err());
            let mut message = format!("pass `{step}` failed on {unit}");
            if let [error] = &*errors {
                message = format!("{message}: {}", error.message());
                let says_more = !error.labels().is_empty()
                    || !error.notes().is_empty()
                    || error.help_text().is_some();
                if !says_more {
                    errors.clear();
                }
            }
            errors.insert(0, Diagnostic::error(message));
            Err(Halt::fault(FailureKind::Pass, step, function, errors))
        }
        Err(caught) => {
            let message = format!("pass `{step}` panicked on {unit}: {}", caught.message);
            let mut diagnostic = Diagnostic::error(message)
                .help("this is a bug of the pass; what it worked on was restored");
            if let Some(place) = caught.place {
                diagnostic = diagnostic.note(format!("it panicked at {place}"));
            }
            Err(Halt::fault(FailureKind::Panic, step, function, vec![diagnostic]))
        }
    }
}

/// What a pass worked on, for messages.
pub(crate) fn unit_text(function: Option<&str>) -> String {
    function.map_or_else(|| "the module".to_owned(), |name| format!("@{name}"))
}
