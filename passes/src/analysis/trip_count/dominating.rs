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

use regraft_dialects::arith;
use regraft_ir::{DominatorTree, Edge, Function, Op};

use crate::analysis::comparison::swapped;
use crate::analysis::conditions::dominating_edges;
use crate::analysis::interval::unwrapped;
use crate::analysis::loop_exits::{DominatingConditions, Test};
use crate::analysis::{InductionVariables, Interval, LoopId, Poly, Ranges};

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

/// Returns a range of a polynomial that is the difference of two numbers, and a constant, where a
/// branch before the loop says which of the two is less: as `%n - %i - 2`, where `%i < %n`. The
/// number is in it wherever the loop begins.
pub(super) fn difference_range(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    ranges: &Ranges,
    l: LoopId,
    poly: &Poly,
) -> Option<Interval> {
    let header = ivs.forest().get(l).header;
    dominating_edges(f, dom, header).find_map(|edge| {
        let Test::Compare { leave, left, right, .. } = Test::of(f, edge)? else { return None };
        let (op, less, more) = match leave {
            arith::GT | arith::GE => (swapped(leave), right, left),
            _ => (leave, left, right),
        };
        let least = match op {
            arith::LT => 1,
            arith::LE => 0,
            _ => return None,
        };
        let ty = f.operand_type(less);
        if ty != poly.ty() {
            return None;
        }
        let [x, y] = [less, more].map(|side| ivs.evolution_at(f, side, edge.from));
        let plus = poly.sub(&y.sub(&x)?)?.constant_value()?;
        let [x, y] = [less, more].map(|side| ranges.interval_at(f, header, side));
        let apart = unwrapped(arith::SUB, y, x, ty)?.meet(Interval { lo: least, hi: i64::MAX })?;
        unwrapped(arith::ADD, apart, Interval::single(plus), ty)
    })
}
