//! `:load` and `:save`.

use std::path::Path;

use regraft_ir::Diagnostic;
use regraft_syntax::{decode, parse_and_verify};

use super::console::Console;
use super::current::{Current, Origin};
use super::look::{current, shown};
use super::{Done, Outcome, Repl};

/// `:load FILE`
pub(super) fn load(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let name = file_name(rest)?;
    let bytes = std::fs::read(name)
        .map_err(|error| vec![Diagnostic::error(format!("cannot read {name}: {error}"))])?;
    let text = decode(name, &bytes).map_err(|error| vec![error])?;
    if is_ir(name) {
        let module = parse_and_verify(&repl.ctx, name, &text)?;
        repl.session.define_module(&module)?;
        repl.inputs
            .push(format!("# The functions of {name}, which is IR, are not in this script."));
        let count = module.ids().len();
        repl.current = Some(Current::new(Origin::File(name.to_owned()), module));
        let functions =
            if count == 1 { "1 function".to_owned() } else { format!("{count} functions") };
        console.result(&format!("{name} is the current program now: {functions}"));
        return Ok(Outcome::Continue);
    }
    if has_extension(name, "lowered") {
        let warnings = repl.session.define_listing(name, &text)?;
        console.report(&warnings);
        repl.inputs.push(format!(
            "# The functions of {name}, which are listings, are not in this script."
        ));
        return Ok(Outcome::Continue);
    }
    let result = repl.session.run(name, &text);
    console.printed(&repl.session.take_output());
    repl.know_passes()?;
    result?;
    repl.globals.see(repl.ctx.registry(), &text);
    repl.inputs.push(format!("# {name}\n{}", text.trim_end()));
    Ok(Outcome::Continue)
}

/// `:save FILE`
pub(super) fn save(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let name = file_name(rest)?;
    let text = if is_ir(name) { shown(current(repl)?) } else { script(&repl.inputs) };
    std::fs::write(name, text)
        .map_err(|error| vec![Diagnostic::error(format!("cannot write {name}: {error}"))])?;
    console.result(&format!("wrote {name}"));
    Ok(Outcome::Continue)
}

/// Inputs as a script.
fn script(inputs: &[String]) -> String {
    let mut out = String::new();
    for input in inputs {
        out.push_str(input.trim_end());
        out.push('\n');
    }
    out
}

fn is_ir(name: &str) -> bool {
    has_extension(name, "ir")
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|of_name| of_name == extension)
}

fn file_name(rest: &str) -> Result<&str, Vec<Diagnostic>> {
    let quoted = rest.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    match quoted.unwrap_or(rest) {
        "" => {
            let error = Diagnostic::error("the name of a file is missing");
            Err(vec![error.help("it is relative to the folder that `regraft` was started in")])
        }
        name => Ok(name),
    }
}
