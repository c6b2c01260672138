//! The commands that tell what there is: `:help`, `:passes`, `:ops`.

use std::fmt::Write;

use regraft_ir::Diagnostic;

use super::commands::{COMMANDS, Done, find};
use super::console::Console;
use super::{Outcome, Repl};
use crate::cli;

/// `:help [COMMAND]`
pub(super) fn help(_: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        console.result(&overview());
        return Ok(Outcome::Continue);
    }
    let command = find(rest.strip_prefix(':').unwrap_or(rest)).map_err(|error| vec![error])?;
    let mut text = format!("{}\n    {}\n", command.usage(), command.summary);
    if let [_, others @ ..] = command.names
        && !others.is_empty()
    {
        let short: Vec<String> = others.iter().map(|name| format!(":{name}")).collect();
        let _ = writeln!(text, "    also: {}", short.join(", "));
    }
    if !command.page.is_empty() {
        let _ = write!(text, "\n{}", command.page);
    }
    console.result(&text);
    Ok(Outcome::Continue)
}

/// The list of the commands, with what one has to know first.
fn overview() -> String {
    let mut out = String::from(
        "Definitions and expressions are evaluated, and values shown, unless the input ends\n\
         with `;`. An input that ends too early goes on in the next line. What begins with a\n\
         colon is a command:\n\n",
    );
    let width = COMMANDS.iter().map(|command| command.usage().len()).max().unwrap_or(0);
    for command in COMMANDS {
        let _ = writeln!(out, "  {:width$}  {}", command.usage(), command.summary);
    }
    out.push_str(
        "\nThe current program is a copy of a function and of what it calls. `:ir foo(1.0)` makes\n\
         one and shows it, `:opt` applies a pipeline of passes to it, `:undo` and `:redo` go back\n\
         and forth, `:ir` shows it as it is now, `:save FILE.ir` writes it.\n\n\
         Ctrl-C stops a running program. `:help opt` tells more about `:opt`.\n",
    );
    out
}

/// `:passes [NAME]`
pub(super) fn passes(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    page(cli::passes::text(name(rest), &repl.passes), console)
}

/// `:ops [NAME]`
pub(super) fn ops(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    page(cli::ops::text(name(rest), repl.ctx.registry()), console)
}

fn name(rest: &str) -> Option<&str> {
    (!rest.is_empty()).then_some(rest)
}

fn page(text: Result<String, Diagnostic>, console: &mut Console<'_>) -> Done {
    console.result(&text.map_err(|error| vec![error])?);
    Ok(Outcome::Continue)
}
