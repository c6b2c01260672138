//! The commands that tell what there is: `?`, `:passes`, `:ops`.

use regraft_ir::{Diagnostic, suggest};

use super::console::Console;
use super::{Done, Outcome, Repl, values};
use crate::cli;

/// `?NAME`: what there is of that name, a function of the session, a pass, an op.
pub(super) fn about(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
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
