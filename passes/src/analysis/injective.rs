//! Index maps under which no two iterations of a nest meet in one element.
//!
//! ```text
//! x[i, j]             i and j are known from the element
//! x[i + j, j]         j from the second index, then i from the first
//! x[(i - 1) * n + k]  for k in 1 .. n: both
//! ```
//!
//! Dimension by dimension, loops whose iteration follows from an index are found until none is left. A
//! step is at least one number; where two loops move one index, the step of one is the number of
//! iterations of the other, and no number comes twice (mixed radix).
//!
//! Indices are computed modulo 2^64, and no program runs through 2^55 iterations, as in
//! [`dependence`](super::dependence).

use regraft_ir::{Block, DominatorTree};

use super::dependence::{Dependence, strong};
use super::{InductionVariables, LoopId, Poly, Sym, TripCounts};

/// The induction variables, the trip counts, and the dominator tree of a function.
type LoopAnalyses<'a> = (&'a InductionVariables, &'a TripCounts, &'a DominatorTree);

/// Returns whether the indices determine the iteration of each of `loops` around a block, within one iteration of
/// the loops around them. O(loops² × dimensions).
pub fn is_injective(
    indices: &[Poly],
    loops: &[LoopId],
    (root, block): (LoopId, Block),
    analyses: LoopAnalyses<'_>,
) -> bool {
    let mut left: Vec<LoopId> = loops.to_vec();
    while !left.is_empty() {
        let before = left.len();
        for index in indices {
            let moved: Vec<LoopId> =
                left.iter().copied().filter(|&l| index.mentions(Sym::Iteration(l))).collect();
            let Some(rest) = steps(index, &moved) else { continue };
            // The other loops of the nest are determined, or stand still.
            let base_fixed = rest.base.symbols().all(|s| match s {
                Sym::Iteration(l) => !left.contains(&l),
                Sym::Value(v) => analyses.0.invariants().is_outside(root, v),
            });
            if base_fixed && determines(&rest.steps, (root, block), analyses) {
                left.retain(|l| !moved.contains(l));
            }
        }
        if left.len() == before {
            return false;
        }
    }
    true
}

/// An index as a sum of multiples of iterations and what is left.
struct Steps {
    base: Poly,
    steps: Vec<(LoopId, Poly)>,
}

fn steps(index: &Poly, loops: &[LoopId]) -> Option<Steps> {
    let mut found = Steps { base: index.clone(), steps: Vec::new() };
    for &l in loops {
        let (base, step) = found.base.linear_in(Sym::Iteration(l))?;
        found.base = base;
        found.steps.push((l, step));
    }
    Some(found)
}

/// Returns whether different iterations of one loop, or of two, move an index to different numbers.
fn determines(
    steps: &[(LoopId, Poly)],
    (root, block): (LoopId, Block),
    (variables, counts, dom): LoopAnalyses<'_>,
) -> bool {
    let moves = |step: &Poly| {
        step.constant_value()
            .is_some_and(|s| s != 0 && strong(0, s, None) == Dependence::SameIteration)
    };
    let fixed = |poly: &Poly| variables.is_available_before(poly, root);
    match steps {
        [(_, step)] => moves(step),
        [a, b] => [(a, b), (b, a)].into_iter().any(|((_, wide), (l, narrow))| {
            let unit = matches!(narrow.constant_value(), Some(1 | -1));
            unit && fixed(wide) && {
                let last = counts.of(*l).last_iteration_of(block, dom, wide.ty());
                // As many iterations as a number says, or its negative.
                let runs = last.map(|last| last.plus(1));
                runs.is_some_and(|runs| runs == *wide || runs == wide.neg())
            }
        }),
        _ => false,
    }
}
