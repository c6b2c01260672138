//! Fuses loops that follow each other and run equally often.
//!
//! ```text
//! ^2(%4: i64):                         ^2(%4: i64):
//!   %5: bool = arith.lt %4, %3           %5: bool = arith.lt %4, %3
//!   br %5, ^3, ^4(0)                     br %5, ^3, ^6
//! ^3:                                  ^3:
//!   .. x[i] = ..                         .. x[i] = ..
//!   br ^2(%6)                    =>      .. y[i] = x[i] ..
//! ^4(%8: i64):                           br ^2(%6)
//!   %9: bool = arith.lt %8, %3         ^6:
//!   br %9, ^5, ^6
//! ^5:
//!   .. y[i] = x[i] ..
//!   br ^4(%10)
//! ^6:
//! ```
//!
//! # Method
//! Two loops beside each other, each with one exit and one latch, both tested in the header or both
//! in the latch, with the same exact [trip count](TripCounts), between which nothing but pure
//! instructions is run. The parameters of the second header join those of the first, or are
//! replaced by them where both count alike; the second test goes. In a round, each loop takes part
//! in one pair; rounds are repeated until there is none, so that `n` loops in a row take O(log n)
//! rounds.
//!
//! # Why it is right
//! Iteration `j` of the second loop used to run after iteration `i` of the first for all `i` and
//! `j`; now it runs before it if `i > j`. So no such pair may depend on each other:
//!
//! - The second loop uses no value that the first one computes.
//! - No two accesses of which one is a write are to the same element in iterations `i > j`
//!   (`loop_accesses`).
//! - If one may stop the program (by an error, or as a call that does not return), the other
//!   neither may, nor does anything that can be seen when the program has stopped. At most one
//!   prints.
//!
//! The count is equal and certain, so that both would have been entered, or none.
//!
//! # Cost
//! O(size) for a round and that of the analyses; what is compared for a pair is bounded.

mod join;

use regraft_ir::{Function, Operand, Value};

use crate::analysis::{LoopForest, TripCounts};
use crate::transforms::util::loop_accesses::{MemoryAccess, lines};
use crate::transforms::util::loop_pair::{FusionAnalyses, LoopPair, is_pure};
use crate::{FunctionPass, PassContext, PassResult};
use join::Fusion;

crate::pass! {
    /// Fuses loops that follow each other and run equally often.
    ///
    /// ```text
    /// ^2(%4: i64):                         ^2(%4: i64):
    ///   %5: bool = arith.lt %4, %3           %5: bool = arith.lt %4, %3
    ///   br %5, ^3, ^4(0)                     br %5, ^3, ^6
    /// ^3:                                  ^3:
    ///   .. x[i] = ..                         .. x[i] = ..
    ///   br ^2(%6)                    =>      .. y[i] = x[i] ..
    /// ^4(%8: i64):                           br ^2(%6)
    ///   %9: bool = arith.lt %8, %3         ^6:
    ///   br %9, ^5, ^6
    /// ^5:
    ///   .. y[i] = x[i] ..
    ///   br ^4(%10)
    /// ^6:
    /// ```
    ///
    /// They have to be adjacent, and no iteration of the second may depend on a later one of the
    /// first. Where one may trap, the other may do nothing that can be seen; so bounds checks
    /// are best eliminated before.
    #[derive(Debug, Default)]
    pub struct LoopFuse;
}

impl FunctionPass for LoopFuse {
    const NAME: &'static str = "loop-fuse";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        loop {
            let fusions = find_fusions(f, cx);
            if fusions.is_empty() {
                return Ok(());
            }
            for fusion in fusions {
                fusion.join(f)?;
                cx.count("loops fused");
            }
        }
    }
}

/// Finds pairs of loops that can be fused, no loop in two of them.
fn find_fusions(f: &Function, cx: &mut PassContext<'_>) -> Vec<Fusion> {
    let forest = cx.analysis::<LoopForest>(f);
    let mut pairs: Vec<LoopPair> =
        forest.loops().filter_map(|first| LoopPair::after(f, &forest, first)).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let counts = cx.analysis::<TripCounts>(f);
    pairs.retain(|pair| {
        let (first, second) = (counts.of(pair.first.id), counts.of(pair.second.id));
        let same = first.latch_runs == second.latch_runs;
        counts.is_known(pair.first.id) && first.is_exact && second.is_exact && same
    });
    if pairs.is_empty() {
        return Vec::new();
    }
    let facts = FusionAnalyses::of(f, cx, true);
    let mut taken = vec![false; forest.len()];
    let mut fusions = Vec::new();
    for pair in pairs {
        let ids = [pair.first.id.index(), pair.second.id.index()];
        if ids.iter().all(|&id| !taken[id]) && is_legal(&facts, &pair) {
            ids.iter().for_each(|&id| taken[id] = true);
            fusions.push(Fusion::new(&forest, pair, &facts.variables));
        }
    }
    fusions
}

fn is_legal(facts: &FusionAnalyses<'_>, pair: &LoopPair) -> bool {
    values_are_independent(facts, pair)
        && moves_are_pure(facts.f, pair)
        && effects_may_be_mixed(facts, pair)
}

/// Returns whether the second loop, and what comes before it, uses nothing of the first one. What
/// it passes on when it is left does not count.
fn values_are_independent(facts: &FusionAnalyses<'_>, pair: &LoopPair) -> bool {
    let f = facts.f;
    let is_of_first = |operand: Operand| {
        operand.as_value().is_some_and(|v| {
            let home = f.block_of(v);
            facts.forest.contains(pair.first.id, home)
                || Some(home) == pair.intervening && f.is_param(v)
        })
    };
    let enter = pair.first.exit(f);
    if pair.intervening.is_none() && f.edge_args(enter).any(is_of_first) {
        return false;
    }
    let exit = pair.second.exit(f);
    let passed = exit.position as usize..=exit.position as usize + f.edge_args(exit).len();
    let blocks = facts.forest.blocks(pair.second.id).iter().chain(&pair.intervening);
    blocks.flat_map(|&block| f.insts(block)).all(|v| {
        let leaves = v == Value::terminator(exit.from);
        let mut operands = f.operands(v).enumerate();
        operands.all(|(i, operand)| leaves && passed.contains(&i) || !is_of_first(operand))
    })
}

/// Returns whether what is run before the first loop, or once more than the rest of the second, is
/// free of effects.
fn moves_are_pure(f: &Function, pair: &LoopPair) -> bool {
    let header = (pair.second.header != pair.second.latch).then_some(pair.second.header);
    let header = header.filter(|_| pair.second.is_tested_first());
    pair.intervening.into_iter().chain(header).all(|block| is_pure(f, block))
}

fn effects_may_be_mixed(facts: &FusionAnalyses<'_>, pair: &LoopPair) -> bool {
    let (first, second) = (pair.first.id, pair.second.id);
    let (Some(a), Some(b)) = (facts.accesses(first), facts.accesses(second)) else { return false };
    let at = |access: &MemoryAccess, l| {
        let at = access.polynomials(facts.f, &facts.variables)?;
        Some(lines(&facts.variables, &at, l))
    };
    if !a.may_interleave(&b) {
        return false;
    }
    let at_b: Vec<_> = b.list.iter().map(|y| at(y, second)).collect();
    a.list.iter().all(|x| {
        let at_x = at(x, first);
        b.list
            .iter()
            .zip(&at_b)
            .all(|(y, at_y)| facts.stay_in_order((x, at_x.as_deref()), (y, at_y.as_deref())))
    })
}
