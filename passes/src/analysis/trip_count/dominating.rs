//! Comparisons that are known to be true when a loop is entered.
//!
//! ```text
//! ^1: %2: bool = arith.lt 0, %1            0 < %1 where the loop ^3 begins, so that
//!     br %2, ^3(0), ^4                     the count of back edges is %1 - 1
//! ^3(%3: i64):
//!   %4: i64 = arith.add %3, 1              and not the distance from 1 up to %1
//!   %5: bool = arith.lt %4, %1
//!   br %5, ^3(%4), ^4
//! ```
//!
//! They come from branches on the way up the dominator tree, the nearest [`MAX_STEPS`] blocks.

use regraft_dialects::cf;
use regraft_ir::{DominatorTree, Edge, Function, Op};

use crate::analysis::loop_exits::{DominatingConditions, Test};
use crate::analysis::{InductionVariables, LoopId, Poly};

/// The most blocks up the dominator tree in which branches are looked for.
const MAX_STEPS: usize = 8;

/// Collects the conditions that dominate the header of a loop.
pub(super) fn dominating_conditions(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    l: LoopId,
) -> DominatingConditions {
    let forest = ivs.forest();
    let mut guards = Vec::new();
    let mut at = forest.get(l).header;
    for _ in 0..MAX_STEPS {
        let Some(above) = dom.idom(at) else { break };
        // The only edge from outside, if the block that it enters leads here.
        let enters = |edge: &Edge| {
            let target = f.edge_target(*edge);
            let mut edges = f.in_edges(target).filter(|e| {
                let back = forest.headed_by(target);
                !back.is_some_and(|inner| forest.contains(inner, e.from))
            });
            target == at && edges.next() == Some(*edge) && edges.next().is_none()
        };
        let conditional = f.op(regraft_ir::Value::terminator(above)) == Some(cf::BR);
        if let Some(edge) = f.out_edges(above).find(enters).filter(|_| conditional) {
            guards.extend(edge_condition(f, ivs, edge));
        }
        at = above;
    }
    DominatingConditions(guards)
}

/// Returns the comparison of polynomials that is true where a branch takes an edge.
pub(crate) fn edge_condition(
    f: &Function,
    ivs: &InductionVariables,
    edge: Edge,
) -> Option<(Op, Poly, Poly)> {
    let Test::Compare { leave, left, right, .. } = Test::of(f, edge)? else { return None };
    let of = |operand| ivs.evolution_at(f, operand, edge.from);
    Some((leave, of(left), of(right)))
}
