//! The commands that tell what there is: `:help`, `:passes`, `:ops`.

use std::fmt::Write;

use regraft_ir::{Diagnostic, suggest};

use super::commands::{COMMANDS, Done, find};
use super::console::Console;
use super::{Outcome, Repl, values};
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
         colon is a command; `?NAME` tells about a function, a pass, an operation:\n\n",
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

/// `?NAME`: what there is of that name, a function of the session, a command, a pass, an op.
pub(super) fn about(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() || rest.starts_with(':') {
        return help(repl, rest, console);
    }
    let mut found = Vec::new();
    if repl.session.names().iter().any(|name| name == rest) {
        found.push(values::described(repl, rest)?);
    }
    let registry = repl.tool.registry();
    found.extend(cli::passes::text(Some(rest), registry).ok());
    found.extend(cli::ops::text(Some(rest), repl.ctx.registry()).ok());
    // An op may be asked for without its dialect.
    let ends = |name: &&str| name.split_once('.').is_some_and(|(_, op)| op == rest);
    let same: Vec<&str> = repl.ctx.registry().ops().map(|def| def.name).filter(ends).collect();
    if !same.is_empty() {
        found.push(format!("see also: {}\n", same.join(", ")));
    }
    if found.is_empty() {
        let error = Diagnostic::error(format!("there is nothing called `{rest}`"));
        let names = repl.session.names();
        let passes = registry.iter().map(|pass| pass.name);
        let ops = repl.ctx.registry().ops().map(|def| def.name);
        let known = names.iter().map(String::as_str).chain(passes).chain(ops);
        return Err(vec![match suggest(rest, known) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("`:help`, `:passes` and `:ops` list what there is"),
        }]);
    }
    console.result(&found.join("\n"));
    Ok(Outcome::Continue)
}

/// `:passes [NAME]`
pub(super) fn passes(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    page(cli::passes::text(name(rest), repl.tool.registry()), console)
}

/// `:ops [NAME]`
pub(super) fn ops(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    page(cli::ops::text(name(rest), repl.ctx.registry()), console)
}

fn name(rest: &str) -> Option<&str> {
    (!rest.is_empty()).then_some(rest)
}

fn page(text: Result<String, Diagnostic>, console: &mut Console<'_>) -> Done {
    console.result(&text.map_err(|error| {
        vec![match error.help_text() {
            Some(_) => error,
            None => error.help("without a name, all are listed"),
        }]
    })?);
    Ok(Outcome::Continue)
}
