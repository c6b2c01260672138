//! The functions of the derivatives of a function, as they are asked for here.

use regraft_ad::{ForwardOptions, PlanKind, ReverseFunctions, ReverseOptions};
use regraft_ir::{Diagnostic, Module, Symbol};

/// Adds the function of forward mode.
pub(super) fn forward(
    module: &mut Module,
    f: Symbol,
    active: &[bool],
    width: usize,
    dynamic: Symbol,
) -> Result<Symbol, Vec<Diagnostic>> {
    let options = ForwardOptions { width, dynamic: Some(dynamic), ..ForwardOptions::default() };
    regraft_ad::forward(module, f, active, &options)
}

/// Adds the functions of reverse mode. `split` says that other code may run between the sweeps.
pub(super) fn reverse(
    module: &mut Module,
    f: Symbol,
    active: &[bool],
    plan: PlanKind,
    split: bool,
    dynamic: Symbol,
) -> Result<ReverseFunctions, Vec<Diagnostic>> {
    let options =
        ReverseOptions { plan, dynamic: Some(dynamic), split, ..ReverseOptions::default() };
    regraft_ad::reverse(module, f, active, &options)
}
