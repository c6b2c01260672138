//! Definitions and expressions, and `:time`.

use std::time::Instant;

use regraft_exec::Val;
use regraft_exec::value::type_name;
use regraft_ir::Diagnostic;
use regraft_lang::Mode;
use terminal_size::{Height, Width, terminal_size};

use super::console::Console;
use super::{Done, Outcome, Repl, reader};
use crate::profile::duration_text;

/// Evaluates an input, and shows its value unless it ends with `;`.
pub(super) fn evaluate(repl: &mut Repl, text: &str, console: &mut Console<'_>) -> Done {
    let value = run(repl, text, console)?;
    show(repl, text, &value, console);
    Ok(Outcome::Continue)
}

/// `:time EXPR`
pub(super) fn time(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        return Err(vec![Diagnostic::error("what is to be timed is missing").help(":time f(1.0)")]);
    }
    let start = Instant::now();
    let result = run(repl, rest, console);
    let elapsed = start.elapsed();
    let value = result?;
    show(repl, rest, &value, console);
    console.result(&format!("time: {}", duration_text(elapsed)));
    Ok(Outcome::Continue)
}

/// `:grad CALL`
pub(super) fn grad(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        let error = Diagnostic::error("the call whose gradient is asked for is missing");
        return Err(vec![error.help(":grad f(1.0, [1.0, 2.0])")]);
    }
    let result = repl.session.gradient_of_call(rest, Mode::Reverse);
    console.printed(&repl.session.take_output());
    let found = result?;
    console.result(repl.session.show_gradient(&found).trim_end());
    Ok(Outcome::Continue)
}

/// Runs an input; what it printed is passed on also if it fails.
fn run(repl: &mut Repl, text: &str, console: &mut Console<'_>) -> Result<Val, Vec<Diagnostic>> {
    let result = repl.session.eval(text);
    console.printed(&repl.session.take_output());
    // What was defined before an error stays.
    repl.know_passes()?;
    let value = result?;
    repl.record(text);
    // A program may use the name for something else.
    let _ = repl.session.bind("ans", value.clone());
    Ok(value)
}

/// Shows a value: a function with the number of its methods, all else as it is written.
fn show(repl: &mut Repl, text: &str, value: &Val, console: &mut Console<'_>) {
    if matches!(value, Val::Unit) || reader::is_silent(text) {
        return;
    }
    let mut shown = displayed(repl, value);
    if let Val::Func(_) = value {
        let count = repl.session.method_count(value);
        let plural = if count == 1 { "" } else { "s" };
        shown.push_str(&format!(" (generic function with {count} method{plural})"));
    }
    console.result(&shown);
}

/// A value in one line if there is room for it, else as Julia displays it: in rows and columns, of
/// which those that do not fit are left out.
fn displayed(repl: &mut Repl, value: &Val) -> String {
    let (rows, columns) = match terminal_size() {
        Some((Width(columns), Height(rows))) => (rows.into(), columns.into()),
        None => (24, 80),
    };
    // Of a long array, only what is displayed is looked at.
    let is_long = matches!(value, Val::Array(array) if array.len() > columns);
    if !is_long {
        let line = repl.session.show(value);
        if line.chars().count() <= columns {
            return line;
        }
    }
    repl.session.display(value, rows, columns)
}

/// Describes the value of a name of the session, with its methods.
pub(super) fn described(repl: &mut Repl, name: &str) -> Result<String, Vec<Diagnostic>> {
    if let Some(methods) = repl.session.methods_of(name) {
        return Ok(format!("{methods}\n"));
    }
    let value = repl.session.eval(name)?;
    let ty = type_name(&repl.ctx, value.type_of(&repl.ctx));
    Ok(format!("{name}: a value of type {ty}\n"))
}
