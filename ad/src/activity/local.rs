//! Activity of one function by itself, for reverse mode: its forward sweep gives shadows to whatever calls
//! may make active.

use regraft_ir::{Function, Module, Operand, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::active_globals::ActiveGlobals;
use super::solver::{Activity, GlobalNames, Solver, global_name};
use crate::calls::{Mode, Target};
use crate::tangent::TangentTypes;

/// The operands of calls that these only read, and give nothing of, by the call.
pub(crate) type OnlyRead = FxHashMap<Value, Vec<Operand>>;

/// Computes the activity of `f`, a copy of a function of `module`, by itself: whatever a call is
/// given, it may put together and make active, but for what it only reads.
pub(crate) fn local_activity(
    f: &Function,
    module: &Module,
    types: &mut TangentTypes,
    active: &[bool],
    globals: &ActiveGlobals,
    only_read: &OnlyRead,
) -> Activity {
    let given = |v: Value| {
        let only_read = only_read.get(&v);
        f.plain_operands(v)
            .filter(move |o| only_read.is_none_or(|only_read| !only_read.contains(o)))
    };
    let names: GlobalNames = f.all_insts().filter_map(|v| global_name(f, v)).collect();
    let mut solver = Solver::new(module, f, Mode::Reverse, types, &names);
    let mut calls = std::mem::take(&mut solver.calls);
    calls.retain(|(_, site)| site.target != Target::Constant);
    for &(v, _) in &calls {
        solver.share_all(given(v).chain([Operand::from(v)]));
    }
    let reads_globals = |target: &Target| match target {
        Target::Function(callee) => {
            let callee = module.get(*callee).map(Function::name);
            callee.is_some_and(|callee| globals.are_read_by(module, callee))
        }
        Target::Dynamic => globals.reach_dynamic_calls(),
        Target::Constant | Target::Refused(_) | Target::Rule(_) => false,
    };
    let reading = calls.iter().filter(|(_, site)| reads_globals(&site.target)).map(|&(v, _)| v);
    let reading: FxHashSet<Value> = reading.collect();
    for (node, &name) in solver.globals().zip(&names) {
        if globals.holds(name) {
            solver.activate_node(node);
        }
    }
    solver.activate_params(active);
    // A caller may do with what is returned what it does with what it gave.
    solver.activate_node(solver.ret());
    solver.propagate();
    loop {
        for &(v, _) in &calls {
            if reading.contains(&v) || f.plain_operands(v).any(|o| solver.is_active(o)) {
                // Whatever objects it is given, it may put something varied into.
                given(v).for_each(|operand| solver.activate_objects(operand));
                solver.activate(v);
            }
        }
        if !solver.propagate() {
            return solver.finish(reading);
        }
    }
}
