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

use regraft_ir::{DominatorTree, Edge, Function, Op};

use crate::analysis::conditions::dominating_edges;
use crate::analysis::loop_exits::{DominatingConditions, Test};
use crate::analysis::{InductionVariables, LoopId, Poly};

/// Collects the conditions that dominate the header of a loop.
pub(super) fn dominating_conditions(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    l: LoopId,
) -> DominatingConditions {
    let edges = dominating_edges(f, dom, ivs.forest().get(l).header);
    DominatingConditions(edges.filter_map(|edge| edge_condition(f, ivs, edge)).collect())
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
