//! Activity of one function by itself, for reverse mode: its forward sweep gives shadows to whatever calls
//! may make active.

use regraft_ir::{Function, Module};

use super::active_globals::ActiveGlobals;
use super::solver::{Activity, GlobalNames, Solver, global_name};
use crate::calls::{Mode, Target};
use crate::tangent::TangentTypes;

/// Computes the activity of `f`, a copy of a function of `module`, by itself: whatever a call is
/// given, it may put together and make active.
pub(crate) fn local_activity(
    f: &Function,
    module: &Module,
    types: &mut TangentTypes,
    active: &[bool],
    globals: &ActiveGlobals,
) -> Activity {
    let names: GlobalNames = f.all_insts().filter_map(|v| global_name(f, v)).collect();
    let solver = Solver::new(module, f, Mode::Reverse, types, &names);
    let reads_globals = |site: &Target| match site {
        Target::Function(callee) => {
            let callee = module.get(*callee).map(Function::name);
            callee.is_some_and(|callee| globals.are_read_by(module, callee))
        }
        Target::Dynamic => globals.reach_dynamic_calls(),
        Target::Constant | Target::Refused(_) | Target::Rule(_) => false,
    };
    solver.solve_locally(active, |name| globals.holds(name), reads_globals)
}
