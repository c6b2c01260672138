//! `:profile` and `:record`.

use regraft_exec::ProfilerOptions;
use regraft_ir::Diagnostic;
use regraft_lang::ProfileOptions;

use super::console::Console;
use super::{Done, Outcome, Repl};
use crate::cli::profile::lost;
use crate::profile::{Options, table};

/// `:profile [CALL]`
pub(super) fn profile(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let result = match rest {
        "" => Ok(()),
        call => run(repl, call, ProfilerOptions::SUM, false, console),
    };
    let Some(profile) = &repl.profile else {
        result?;
        let error = Diagnostic::error("nothing has been profiled yet");
        return Err(vec![error.help(":profile foo(1.0, 2.0)")]);
    };
    if !profile.nodes.is_empty() || result.is_ok() {
        console.result(&table(&repl.ctx, profile, Options::default()));
    }
    result.map(|()| Outcome::Continue)
}

/// `:record [--ops] CALL`
pub(super) fn record(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let (ops, call) = match rest.strip_prefix("--ops") {
        Some(call) => (true, call.trim()),
        None => (false, rest),
    };
    if call.is_empty() {
        let error = Diagnostic::error("the call that is to be recorded is missing");
        return Err(vec![error.help(":record foo(1.0, 2.0)")]);
    }
    let keep = ProfilerOptions::RECORD;
    let result = run(repl, call, keep, ops, console);
    if let Some(profile) = &repl.profile {
        console.result(&profile.log_text(&repl.ctx));
    }
    result.map(|()| Outcome::Continue)
}

/// Runs an input while it is recorded, which becomes the last profile.
fn run(
    repl: &mut Repl,
    text: &str,
    keep: ProfilerOptions,
    ops: bool,
    console: &mut Console<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let (result, profile) = repl.session.profile(text, ProfileOptions { keep, ops });
    console.printed(&repl.session.take_output());
    console.report(&lost(&profile));
    repl.profile = Some(profile);
    result?;
    repl.record(text);
    Ok(())
}
