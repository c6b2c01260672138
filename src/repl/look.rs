//! The commands that show programs: `:ir`, `:typed`, `:lowered`, `:dot`.

use regraft_ir::{Diagnostic, Function, Module, cfg_to_dot, suggest};
use regraft_lang::Entry;

use super::console::Console;
use super::current::{Current, Origin};
use super::{Done, Outcome, Repl};
use crate::cli::opt::Stage;

/// `:ir [CALL | @FUNCTION]`
pub(super) fn ir(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if let Some(name) = rest.strip_prefix('@') {
        console.ir(&named(current(repl)?.module(), name)?.to_string());
        return Ok(Outcome::Continue);
    }
    if !rest.is_empty() {
        select(repl, rest, Stage::Typed, console)?;
    }
    let current = current(repl)?;
    console.ir(&shown(current));
    Ok(Outcome::Continue)
}

/// `:typed [CALL]`
pub(super) fn typed(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let call = call_or_current(repl, rest)?;
    select(repl, &call, Stage::Typed, console)?;
    ir(repl, "", console)
}

/// `:lowered [CALL]`
pub(super) fn lowered(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let call = call_or_current(repl, rest)?;
    let result = repl.session.lowered(Entry::CallOrTypes(&call));
    console.printed(&repl.session.take_output());
    console.ir(&result?.to_string());
    Ok(Outcome::Continue)
}

/// `:dot [CALL | @FUNCTION]`
pub(super) fn dot(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let text = match rest.strip_prefix('@') {
        Some(name) => cfg_to_dot(named(current(repl)?.module(), name)?),
        None => {
            if !rest.is_empty() {
                select(repl, rest, Stage::Typed, console)?;
            }
            let function = current(repl)?.function();
            let missing = || vec![Diagnostic::error("the current program has no function")];
            cfg_to_dot(function.ok_or_else(missing)?)
        }
    };
    console.result(&text);
    Ok(Outcome::Continue)
}

/// Makes the function that a call runs the current program.
pub(super) fn select(
    repl: &mut Repl,
    call: &str,
    stage: Stage,
    console: &mut Console<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let entry = Entry::CallOrTypes(call);
    let result = match stage {
        Stage::Lowered => repl.session.lowered(entry),
        Stage::Typed => repl.session.typed(entry),
    };
    console.printed(&repl.session.take_output());
    repl.current = Some(Current::new(Origin::Call(call.to_owned()), result?));
    Ok(())
}

/// The current program.
///
/// # Errors
/// If there is none yet.
pub(super) fn current(repl: &mut Repl) -> Result<&mut Current, Vec<Diagnostic>> {
    repl.current.as_mut().ok_or_else(|| {
        let error = Diagnostic::error("there is no current program yet");
        vec![error.help("`:ir foo(1.0)` makes the function that the call runs the current program")]
    })
}

/// The current program as IR, under a comment that says what was done to it.
pub(super) fn shown(current: &Current) -> String {
    let ir = current.module().to_string();
    match current.steps() {
        (0, _) => ir,
        _ => format!("# {}\n{ir}", current.title()),
    }
}

/// The call that is given, else that of the current program.
pub(super) fn call_or_current(repl: &mut Repl, rest: &str) -> Result<String, Vec<Diagnostic>> {
    if !rest.is_empty() {
        return Ok(rest.to_owned());
    }
    match current(repl)?.origin() {
        Origin::Call(call) => Ok(call.clone()),
        Origin::File(name) => {
            let message = format!("the current program was read from {name}, not made from a call");
            Err(vec![Diagnostic::error(message)])
        }
    }
}

/// The function of this name in a module, written as it is or with the quotes of names that are not plain.
fn named<'a>(module: &'a Module, name: &str) -> Result<&'a Function, Vec<Diagnostic>> {
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = quoted.unwrap_or(name);
    module.function(name).ok_or_else(|| {
        let message = format!("there is no function @{name} in the current program");
        let error = Diagnostic::error(message);
        vec![match suggest(name, module.functions().map(Function::name_str)) {
            Some(near) => error.help(format!("did you mean `@{near}`?")),
            None => error,
        }]
    })
}
