//! `regraft passes`: what passes there are.

use regraft_ir::Diagnostic;
use regraft_passes::PassRegistry;

use super::output::{Failed, Outcome, print};

pub(super) fn run(name: Option<&str>, passes: &PassRegistry) -> Outcome {
    let Some(name) = name else { return print(&passes.list()) };
    match passes.find(name) {
        Some(pass) => print(&pass.page()),
        None => {
            let error = Diagnostic::error(format!("there is no pass `{name}`"));
            Err(Failed::from(match passes.suggest(name) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`regraft passes` lists all passes"),
            }))
        }
    }
}
