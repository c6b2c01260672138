//! What a command leaves: text on the standard output, diagnostics, an exit code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use regraft_ir::{Diagnostic, render_all};

/// Why a command failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The input is wrong.
    Input(Vec<Diagnostic>),
    /// The arguments make no sense together.
    Usage(Vec<Diagnostic>),
    /// The reader of the output has gone: nothing to be told.
    Closed,
}

/// What a command gives.
pub(super) type Outcome = Result<(), Failed>;

impl Failed {
    /// One error without a place.
    pub(super) fn message(text: impl Into<String>) -> Self {
        Self::Input(vec![Diagnostic::error(text)])
    }

    /// Arguments that make no sense together, for one reason.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(vec![Diagnostic::error(text)])
    }

    /// The output could not be written.
    pub(super) fn unwritten(error: &io::Error) -> Self {
        Self::message(format!("cannot write the output: {error}"))
    }
}

impl From<Vec<Diagnostic>> for Failed {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Input(diagnostics)
    }
}

impl From<Diagnostic> for Failed {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Input(vec![diagnostic])
    }
}

/// Writes a result.
pub(super) fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failed::Closed),
        Err(error) => Err(Failed::unwritten(&error)),
    }
}

/// Writes what is told beside the result. Where the standard error cannot be written to,
/// nothing can be done about it.
pub(super) fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes diagnostics.
pub(super) fn report(diagnostics: &[Diagnostic]) {
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tell(&render_all(diagnostics, color));
}

/// Reports a failure, and gives the exit code.
pub(super) fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) | Err(Failed::Closed) => ExitCode::SUCCESS,
        Err(Failed::Input(diagnostics)) => {
            report(&diagnostics);
            ExitCode::from(1)
        }
        Err(Failed::Usage(diagnostics)) => {
            report(&diagnostics);
            ExitCode::from(2)
        }
    }
}
