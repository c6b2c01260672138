//! `regraft passes`: what passes there are.

use regraft_ir::Diagnostic;
use regraft_passes::PassRegistry;

use super::output::{Failed, Outcome, print};

pub(super) fn run(name: Option<&str>, passes: &PassRegistry) -> Outcome {
    print(&text(name, passes).map_err(Failed::from)?)
}

/// The list of all passes, or the page of one.
///
/// # Errors
/// If there is no pass of that name.
pub(crate) fn text(name: Option<&str>, passes: &PassRegistry) -> Result<String, Diagnostic> {
    let Some(name) = name else { return Ok(passes.list()) };
    match passes.find(name) {
        Some(pass) => Ok(pass.page()),
        None if name == "fix" => Ok(FIX.to_owned()),
        None => {
            let error = Diagnostic::error(format!("there is no pass `{name}`"));
            Err(match passes.suggest(name) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`regraft passes` lists all passes"),
            })
        }
    }
}

/// What looks like a pass in a pipeline, but is not one.
const FIX: &str = "\
fix{max=..}(passes)
not a pass, but a word of pipelines

Repeats the passes in its parentheses until none of them changes anything any more.

    fix{max=4}(fold, cse, simplify-cfg, dce)

options:
  max=16
      how often at most; an integer from 1 to 1000000
";
