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
    if let Some(pass) = passes.find(name) {
        return Ok(pass.page());
    }
    if let Some(pipeline) = passes.pipeline(name) {
        return Ok(pipeline.page());
    }
    match name {
        "fix" => Ok(FIX.to_owned()),
        "loop" => Ok(LOOP.to_owned()),
        _ => {
            let error = Diagnostic::error(format!("there is no pass `{name}`"));
            Err(match passes.suggest(name) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`regraft passes` lists all passes"),
            })
        }
    }
}

/// What looks like a pass in a pipeline, but is not one; `LOOP` is another.
const FIX: &str = "\
fix{max=..}(passes)
not a pass, but a word of pipelines

Repeats the passes in its parentheses until none of them changes anything any more.

    fix{max=4}(fold, cse, simplify-cfg, dce)

options:
  max=16
      how often at most; an integer from 1 to 1000000
";

const LOOP: &str = "\
loop(passes)
not a pass, but a word of pipelines

Runs passes over loops: each in turn on all innermost loops of a function, then each on the
loops around those, and so on. Outside of `loop(..)` such a pass goes through all loops at once.

    loop(licm, unroll{factor=4})
";
