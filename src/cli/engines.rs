//! The engines that ran the functions of a program, for `--stats`.

use std::collections::BTreeMap;
use std::fmt::Write;

use regraft_exec::{EngineKind, Interpreter, RunBy};

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
                writeln!(out, "native code by {}: {}", engine.name(), names(&functions))
            }
            RunBy::Rarely => {
                writeln!(out, "interpreter (not worth native code): {}", count(functions.len()))
            }
            RunBy::Interpreter(why) if interpreter.engine() == EngineKind::Interpreter => {
                writeln!(out, "interpreter ({why}): {}", count(functions.len()))
            }
            RunBy::Interpreter(why) => writeln!(out, "interpreter ({why}): {}", names(&functions)),
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

fn count(functions: usize) -> String {
    format!("{functions} function{}", if functions == 1 { "" } else { "s" })
}

/// The names of functions. Of those that only the library calls, their number.
fn names(functions: &[String]) -> String {
    let (inner, mut known): (Vec<&str>, Vec<&str>) =
        functions.iter().map(String::as_str).partition(|name| name.starts_with('#'));
    let rest = format!("{} within the library", count(inner.len()));
    if !inner.is_empty() {
        known.push(&rest);
    }
    known.join(", ")
}
