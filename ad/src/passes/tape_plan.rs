//! The tape plan as an analysis that `print{..}` shows.

use regraft_ir::{Function, Module};
use regraft_passes::PassContext;
use regraft_passes::analysis::printable::Printable;

use crate::reverse::{self, ReverseOptions};

/// The tape plan: how the reverse sweep comes to each value that the derivative of a function by all its parameters
/// needs, and how many bytes are kept in each iteration.
pub(super) const TAPE_PLAN: Printable = Printable {
    name: "tape-plan",
    doc: "how a reverse sweep would find each value that it needs, and what is kept for it",
    describe: tape_plan,
};

/// The plan of the derivative of `f` by all its parameters, or why there is none. Of other functions
/// what is there is known: in parallel runs, what they take and give.
fn tape_plan(f: &Function, cx: &mut PassContext<'_>) -> String {
    let mut module = cx.signatures().map_or_else(|| Module::new(f.ctx()), Module::clone);
    let placed = match module.find(f.name()) {
        Some(id) => module.set(id, f.clone()).map(|_| ()),
        None => module.add(f.clone()).map(|_| ()),
    };
    if let Err(error) = placed {
        return format!("{}\n", error.message());
    }
    let active = vec![true; f.param_types().len()];
    reverse::tape_plan(&mut module, f.name(), &active, &ReverseOptions::default())
        .unwrap_or_else(|errors| errors.iter().map(|error| format!("none: {error}\n")).collect())
}
