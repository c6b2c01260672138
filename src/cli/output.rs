//! The output of a command: text on the standard output, diagnostics, an exit code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use regraft_ir::{Diagnostic, render_all};
use serde_json::Value as Json;

use crate::paint;

/// The settings of the output, which all commands have.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct OutputArgs {
    /// Colour IR, diffs and diagnostics: on terminals, unless `NO_COLOR` is set
    #[arg(long, value_enum, global = true, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Show so many errors at most; 0 for all of them
    #[arg(long, global = true, default_value_t = 20, value_name = "N")]
    error_limit: usize,
}

/// The condition for colours.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum ColorChoice {
    /// On terminals
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The settings of the process: 0 to 2 for the choices of colours, and the most errors.
static COLOR: AtomicUsize = AtomicUsize::new(0);
static ERROR_LIMIT: AtomicUsize = AtomicUsize::new(20);

impl OutputArgs {
    /// Makes these the settings of the process: a command is all that a process does.
    pub(super) fn apply(self) {
        COLOR.store(self.color as usize, Ordering::Relaxed);
        ERROR_LIMIT.store(self.error_limit, Ordering::Relaxed);
    }
}

/// Returns whether what goes to a stream is coloured.
pub(crate) fn is_colored(stream: &impl IsTerminal) -> bool {
    match COLOR.load(Ordering::Relaxed) {
        choice if choice == ColorChoice::Always as usize => true,
        choice if choice == ColorChoice::Never as usize => false,
        _ => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The input is wrong.
    Input(Vec<Diagnostic>),
    /// The arguments make no sense together.
    Usage(Vec<Diagnostic>),
    /// The reader of the output has gone: nothing to be told.
    Closed,
}

/// The result of a command.
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

/// Writes a result that is IR.
pub(super) fn print_ir(text: &str) -> Outcome {
    if is_colored(&io::stdout()) { print(&paint::ir(text)) } else { print(text) }
}

/// Writes a result that is a diff.
pub(super) fn print_diff(text: &str) -> Outcome {
    if is_colored(&io::stdout()) { print(&paint::diff(text)) } else { print(text) }
}

/// Writes a result that is an object of JSON, on one line.
pub(super) fn print_json(value: &Json) -> Outcome {
    print(&format!("{}\n", json_text(value)))
}

/// JSON on one line, with a blank after each comma and colon: `{"value": [1, 2]}`.
pub(super) fn json_text(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            format!("[{}]", items.iter().map(json_text).collect::<Vec<_>>().join(", "))
        }
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| {
                format!("{}: {}", Json::from(&**key), json_text(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Writes what is told beside the result. Where the standard error cannot be written to,
/// nothing can be done about it.
pub(super) fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes diagnostics.
pub(super) fn report(diagnostics: &[Diagnostic]) {
    tell(&rendered(diagnostics, is_colored(&io::stderr())));
}

/// Diagnostics as text, not more than `--error-limit` says.
pub(crate) fn rendered(diagnostics: &[Diagnostic], color: bool) -> String {
    let shown = match ERROR_LIMIT.load(Ordering::Relaxed) {
        0 => diagnostics.len(),
        limit => limit.min(diagnostics.len()),
    };
    let mut text = render_all(&diagnostics[..shown], color);
    if shown < diagnostics.len() {
        let more = diagnostics.len() - shown;
        text.push_str(&format!("and {more} more; `--error-limit 0` shows all\n"));
    }
    text
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
