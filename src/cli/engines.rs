//! The engines that ran the functions of a program, for `--stats`.

use std::collections::BTreeMap;
use std::fmt::Write;

use regraft_exec::{Interpreter, RunBy};

/// Lines about the functions that native code runs, those that the interpreter runs, and why it does.
pub(super) fn table(interpreter: &Interpreter) -> String {
    let mut by: BTreeMap<RunBy, Vec<String>> = BTreeMap::new();
    for (function, run_by) in interpreter.run_by() {
        by.entry(run_by).or_default().push(function);
    }
    let mut out = String::new();
    for (run_by, functions) in by {
        let _ = match run_by {
            RunBy::Native(engine) => {
                writeln!(out, "native code by {}: {}", engine.name(), functions.join(", "))
            }
            RunBy::Rarely => {
                let plural = if functions.len() == 1 { "" } else { "s" };
                let count = functions.len();
                writeln!(out, "interpreter (not worth native code): {count} function{plural}")
            }
            RunBy::Interpreter(why) => {
                writeln!(out, "interpreter ({why}): {}", functions.join(", "))
            }
        };
    }
    match interpreter.replacements() {
        0 => {}
        1 => out.push_str("one loop went on in code by llvm while it ran\n"),
        more => {
            let _ = writeln!(out, "{more} loops went on in code by llvm while they ran");
        }
    }
    out
}
