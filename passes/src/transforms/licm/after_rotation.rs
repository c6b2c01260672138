//! Loops that loads, stores and functions can leave once `loop-rotate` has turned them.
//!
//! ```text
//! for x in xs { a[1] += x }        a[1] surely runs once the loop is entered, and is a value in it
//! for i in 2:n { a[i] += a[i-1] }  a[i-1] is what the iteration before has stored
//! for x in xs { s += a[k] * x }    a[k] is loaded before the loop
//! for x in xs { s += x * scale }   what the global name stands for is looked up before the loop
//! for x in xs { s += x / sqrt(v) } the root, which may be an error, is computed before the loop
//! ```

use regraft_dialects::{core, mem};
use regraft_ir::{Block, Function, Traits, Value};

use super::LicmAnalyses;
use super::hoist::is_seen;
use super::scalar_promotion::{Info, is_observable, is_outside, promotable, runs, stops, survey};
use crate::analysis::traps::{may_trap, speculatable};
use crate::analysis::{Analyses, LoopId, ModRefSet, inst_effects};
use crate::transforms::load_pre::is_carried;

/// A loop that may be rotated.
pub(crate) struct Rotatable {
    pub(crate) id: LoopId,
    /// The block that its first iteration begins with then.
    pub(crate) first: Block,
    /// True if it is rotated for the sake of a function alone, not of memory.
    pub(crate) only_for_functions: bool,
}

/// Returns those of `loops` that loads, stores or functions leave when they are rotated, and not as they are. O(instructions).
pub(crate) fn loops_that_gain(
    f: &Function,
    loops: &[Rotatable],
    analyses: &mut Analyses,
) -> Vec<LoopId> {
    if loops.is_empty() {
        return Vec::new();
    }
    let facts = LicmAnalyses::of(f, analyses);
    let infos = survey(f, &facts);
    let gains = |&Rotatable { id, first, only_for_functions }: &Rotatable| {
        let (info, header) = (&infos[id.index()], facts.forest.get(id).header);
        let memory_leaves = || {
            !promotable(f, &facts, id, info, first).is_empty()
                && promotable(f, &facts, id, info, header).is_empty()
                || a_load_leaves(f, &facts, id, info, first)
        };
        a_function_leaves(f, &facts, id, first)
            || !only_for_functions && !info.too_many && memory_leaves()
    };
    loops.iter().filter(|at| gains(at)).map(|at| at.id).collect()
}

/// Returns whether an instruction is a function that may be an error of what it is given.
pub(crate) fn is_partial_function(f: &Function, v: Value) -> bool {
    f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE)) && may_trap(f, v)
}

/// Returns whether a function that may be an error is given what is known before the loop, and runs when the loop is entered.
fn a_function_leaves(f: &Function, facts: &LicmAnalyses, id: LoopId, from: Block) -> bool {
    let calm = |u: Value| {
        let effects = inst_effects(f, u, &facts.summaries);
        let stops = effects.may_trap || effects.may_not_end;
        !(stops || effects.observable || is_seen(f, facts, &effects))
    };
    let leaves = |v: Value| {
        is_partial_function(f, v)
            && f.operands(v).all(|operand| is_outside(f, facts, id, operand))
            && runs(f, facts, id, v, from, calm)
    };
    facts.forest.blocks(id).iter().any(|&block| f.body(block).any(leaves))
}

/// Returns whether a load in a loop is invariant or carried from one iteration to the next, and runs when
/// the loop is entered.
fn a_load_leaves(f: &Function, facts: &LicmAnalyses, id: LoopId, info: &Info, from: Block) -> bool {
    let mut written = ModRefSet::default();
    info.touching.iter().for_each(|at| written |= at.mod_ref);
    info.touching.iter().any(|at| {
        let v = at.inst;
        let is_load =
            matches!(f.op(v), Some(mem::LOAD | mem::REF_GET | core::GLOBAL)) && !speculatable(f, v);
        let leaves = || {
            let invariant = f.operands(v).all(|operand| is_outside(f, facts, id, operand))
                && !at.mod_ref.reads_what(written);
            invariant || is_carried(f, facts, id, v)
        };
        let calm = |u: Value| !(stops(f, facts, u) || may_trap(f, v) && is_observable(f, facts, u));
        is_load && leaves() && runs(f, facts, id, v, from, calm)
    })
}
