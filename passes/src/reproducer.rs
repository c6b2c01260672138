//! Failures, and files that reproduce them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use regraft_ir::{Diagnostic, Module};

use crate::instrument::file_name;
use crate::report::Report;
use crate::run_options::RunOptions;

/// The reason why a pipeline did not come to its end. The module is valid: the function (or module)
/// that the failing pass worked on is what it was before that pass, all else is as the passes so far
/// left it.
pub struct Failure(Box<Inner>);

struct Inner {
    kind: FailureKind,
    pass: Option<String>,
    function: Option<String>,
    diagnostics: Vec<Diagnostic>,
    reproducer: String,
    reproducer_file: Option<PathBuf>,
    report: Report,
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// The input of the pipeline is not valid.
    Input,
    /// The options of a pass make no sense for this module, as the name of a function that it does
    /// not have: the pipeline is wrong, and neither the program nor the pass.
    Options,
    /// A pass returned an error.
    Pass,
    /// A pass panicked.
    Panic,
    /// An observer (the verifier, say) refused what a pass left.
    Refused,
    /// The output of observers could not be written.
    Output,
}

/// An error before its place is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FailureKind,
    /// The pass, with its options.
    pub(crate) pass: Option<(&'static str, String)>,
    pub(crate) function: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The failing pass and all steps after it.
    pub(crate) remaining: Vec<String>,
}

impl Failure {
    /// The kind of failure.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// The pass that failed, with its options.
    pub fn pass(&self) -> Option<&str> {
        self.0.pass.as_deref()
    }

    /// The function that it failed on; `None` if it worked on the module.
    pub fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }

    /// Returns what to tell the user: first which pass failed on what, then the details.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// The module before the failing pass, as IR text with a first line that says how to run
    /// what was left of the pipeline. Empty if no pass failed.
    pub fn reproducer(&self) -> &str {
        &self.0.reproducer
    }

    /// The file that the reproducer was written to.
    pub fn reproducer_file(&self) -> Option<&Path> {
        self.0.reproducer_file.as_deref()
    }

    /// Returns what was done up to the failure.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// Makes a failure out of a fault; `module` is as it was before the failing pass.
    pub(crate) fn new(fault: Fault, module: &Module, options: &RunOptions, report: Report) -> Self {
        let Fault { kind, pass, function, mut diagnostics, remaining } = fault;
        let mut inner = Inner {
            kind,
            pass: None,
            function,
            diagnostics: Vec::new(),
            reproducer: String::new(),
            reproducer_file: None,
            report,
        };
        if kind == FailureKind::Options {
            // There is nothing to reproduce.
            inner.pass = pass.map(|(_, text)| text);
        } else if let Some((name, text)) = pass {
            let pipeline = remaining.join(", ");
            inner.reproducer = reproducer_text(module, &options.tool, &pipeline, &diagnostics);
            let folder = options.reproducer_folder.as_deref();
            if let (Some(folder), Some(first)) = (folder, diagnostics.first_mut()) {
                let unit = inner.function.as_deref().unwrap_or("module");
                let file = folder.join(format!("{name}-{}.ir", file_name(unit)));
                match write_file(&file, &inner.reproducer) {
                    Ok(()) => {
                        let note = format!("to reproduce: {}", file.display());
                        *first = first.clone().note(note);
                        inner.reproducer_file = Some(file);
                    }
                    Err(error) => {
                        let note = format!("cannot write {}: {error}", file.display());
                        *first = first.clone().note(note);
                    }
                }
            }
            inner.pass = Some(text);
        }
        inner.diagnostics = diagnostics;
        Self(Box::new(inner))
    }
}

/// The text of a reproducer: comments that say what to run and what happened, then the module.
fn reproducer_text(
    module: &Module,
    tool: &str,
    pipeline: &str,
    diagnostics: &[Diagnostic],
) -> String {
    let mut out = format!("# {tool} opt -p '{}'\n", pipeline.replace('\'', r"'\''"));
    for line in diagnostics.iter().flat_map(|diagnostic| diagnostic.message().lines()) {
        out.push_str("# ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    out.push_str(&module.to_string());
    out
}

/// The pipeline text in the first line of a reproducer: `# regraft opt -p 'cse, dce'`, with or
/// without further options after it, and with the name of any tool.
pub fn reproducer_pipeline(text: &str) -> Option<String> {
    let (tool, mut rest) = text.lines().next()?.strip_prefix("# ")?.split_once(" opt -p '")?;
    if tool.is_empty() || tool.contains(char::is_whitespace) {
        return None;
    }
    let mut pipeline = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        pipeline.push_str(part);
        let Some(more) = after.strip_prefix(r"\''") else {
            return Some(pipeline).filter(|_| after.is_empty() || after.starts_with(" -"));
        };
        pipeline.push('\'');
        rest = more;
    }
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.diagnostics.first() {
            Some(first) => f.write_str(first.message()),
            None => f.write_str("the pipeline failed"),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&regraft_ir::render_all(&self.0.diagnostics, false))
    }
}

impl std::error::Error for Failure {}
