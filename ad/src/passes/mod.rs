//! Differentiation as passes.

mod forward_diff;
mod reverse_diff;
mod subject;
mod tape_plan;

use std::sync::LazyLock;

use regraft_ir::Extensions;
use regraft_passes::PassRegistry;

use forward_diff::ForwardDiff;
use reverse_diff::ReverseDiff;
use tape_plan::TAPE_PLAN;

/// Adds the passes of this crate to a registry, and the tape plan to what `print` shows.
///
/// # Panics
/// If it has a pass of the same name.
#[track_caller]
pub fn add_passes(registry: &mut PassRegistry) {
    registry.add_module::<ForwardDiff>();
    registry.add_module::<ReverseDiff>();
    registry.add_printable(TAPE_PLAN);
}

/// Everything that comes with the dialects, with this crate, and with those below it: the built-in
/// tables, the passes that differentiate included.
pub fn extensions() -> Extensions {
    static ALL: LazyLock<Extensions> = LazyLock::new(|| {
        let mut all = Extensions::new(regraft_dialects::registry());
        add_passes(all.edit());
        all
    });
    ALL.clone()
}

/// The passes that come with Regraft, those of this crate included.
pub fn registry() -> PassRegistry {
    extensions().get::<PassRegistry>().clone()
}
