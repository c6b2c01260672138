//! Loops that loads and stores can leave once `loop-rotate` has turned them.
//!
//! ```text
//! for x in xs { a[1] += x }        a[1] surely runs once the loop is entered, and is a value in it
//! for i in 2:n { a[i] += a[i-1] }  a[i-1] is what the iteration before has stored
//! for x in xs { s += a[k] * x }    a[k] is loaded before the loop
//! ```

use regraft_dialects::mem;
use regraft_ir::{Block, Function, Value};

use super::LicmAnalyses;
use super::scalar_promotion::{Info, is_observable, is_outside, promotable, runs, stops, survey};
use crate::analysis::traps::{may_trap, speculatable};
use crate::analysis::{Analyses, LoopId, ModRefSet};
use crate::transforms::load_pre::is_carried;

/// Returns those of `loops`, in which there are some, that loads or stores leave when their first iterations begin with
/// the given blocks, and not as they are. O(instructions).
pub(crate) fn loops_that_gain(
    f: &Function,
    loops: &[(LoopId, Block)],
    analyses: &mut Analyses,
) -> Vec<LoopId> {
    if loops.is_empty() {
        return Vec::new();
    }
    let facts = LicmAnalyses::of(f, analyses);
    let infos = survey(f, &facts);
    let gains = |&(id, from): &(LoopId, Block)| {
        let (info, header) = (&infos[id.index()], facts.forest.get(id).header);
        !info.too_many
            && (!promotable(f, &facts, id, info, from).is_empty()
                && promotable(f, &facts, id, info, header).is_empty()
                || a_load_leaves(f, &facts, id, info, from))
    };
    loops.iter().filter(|at| gains(at)).map(|&(id, _)| id).collect()
}

/// Returns whether a load in a loop is invariant or carried from one iteration to the next, and runs when
/// the loop is entered.
fn a_load_leaves(f: &Function, facts: &LicmAnalyses, id: LoopId, info: &Info, from: Block) -> bool {
    let mut written = ModRefSet::default();
    info.touching.iter().for_each(|at| written |= at.mod_ref);
    info.touching.iter().any(|at| {
        let v = at.inst;
        let is_load = matches!(f.op(v), Some(mem::LOAD | mem::REF_GET)) && !speculatable(f, v);
        let leaves = || {
            let invariant = f.operands(v).all(|operand| is_outside(f, facts, id, operand))
                && !at.mod_ref.reads_what(written);
            invariant || is_carried(f, facts, id, v)
        };
        let calm = |u: Value| !(stops(f, facts, u) || may_trap(f, v) && is_observable(f, facts, u));
        is_load && leaves() && runs(f, facts, id, v, from, calm)
    })
}
