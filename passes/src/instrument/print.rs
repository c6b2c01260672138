//! Printing functions while a pipeline runs.

use std::fmt::Write;

use regraft_ir::{Diagnostic, Function};

use super::{Execution, Log, Observer, Unit};
use crate::diff::{diff_functions, diff_modules, diff_renumbered};

/// The text to print after a pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PrintWhat {
    /// The function (or module), always.
    All,
    /// The function (or module), if the pass changed it.
    Changed,
    /// The changes of the pass, as a diff.
    Diff,
}

/// Prints after each pass, under a line that says which pass ran on what.
#[derive(Clone, Debug)]
pub struct PrintAfter {
    what: PrintWhat,
    /// Only these functions; all if there are none.
    functions: Vec<String>,
}

impl PrintAfter {
    /// Prints `what` of every function.
    pub fn new(what: PrintWhat) -> Self {
        Self { what, functions: Vec::new() }
    }

    /// Prints the functions of these names only. Module passes are printed as ever.
    #[must_use]
    pub fn only<S: Into<String>>(mut self, functions: impl IntoIterator<Item = S>) -> Self {
        self.functions.extend(functions.into_iter().map(Into::into));
        self
    }

    fn shows(&self, function: Option<&str>) -> bool {
        self.functions.is_empty()
            || function.is_none_or(|name| self.functions.iter().any(|f| f == name))
    }
}

impl Observer for PrintAfter {
    fn name(&self) -> &'static str {
        "the printer"
    }

    fn after(&self, execution: &Execution<'_>, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        let pass_run = execution.pass_run;
        if !self.shows(pass_run.function) || (!execution.changed && self.what != PrintWhat::All) {
            return Ok(());
        }
        let unchanged = if execution.changed { "" } else { " (no change)" };
        if self.what == PrintWhat::Diff {
            let (diff, note) = diff_of(execution);
            let _ = write!(log, "# after {pass_run}{note}\n{diff}");
            return Ok(());
        }
        let _ = match execution.after {
            Unit::Function(f) => write!(log, "# after {pass_run}{unchanged}\n{f}"),
            Unit::Module(m) => write!(log, "# after {pass_run}{unchanged}\n{m}"),
        };
        Ok(())
    }

    fn compacted(&self, f: &Function, log: &mut Log) {
        if self.shows(Some(f.name_str())) {
            let _ =
                writeln!(log, "# @{} was compacted: numbers are new from here on", f.name_str());
        }
    }
}

/// The diff of an execution, and what is to be said of it.
fn diff_of(execution: &Execution<'_>) -> (String, &'static str) {
    match (execution.before, execution.after) {
        (Unit::Function(before), Unit::Function(after)) => {
            if let Some(map) = execution.renumbering {
                return (
                    diff_renumbered(before, after, map),
                    " (renumbered; old lines under new numbers)",
                );
            }
            if execution.rebuilt {
                // A pass that did nothing but renumber is worth no diff.
                let mut renumbered = (before.clone(), after.clone());
                renumbered.0.renumber();
                renumbered.1.renumber();
                let diff = diff_functions(&renumbered.0, &renumbered.1);
                if diff.is_empty() {
                    return (diff, " (renumbered, no other change)");
                }
                return (diff_functions(before, after), " (rebuilt)");
            }
            (diff_functions(before, after), "")
        }
        (Unit::Module(before), Unit::Module(after)) => (diff_modules(before, after), ""),
        _ => (String::new(), ""),
    }
}
