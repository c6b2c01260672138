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

pub(super) mod join;

use regraft_ir::{Function, Operand, Traits, Value};

use crate::analysis::traps::speculatable;
use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, TripCounts,
};
use crate::transforms::util::loop_accesses::{Accesses, Meeting, MemoryAccess, lines, meets_later};
use crate::{FunctionPass, PassContext, PassResult};
use join::Pair;

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
            let pairs = find_pairs(f, cx);
            if pairs.is_empty() {
                return Ok(());
            }
            for pair in pairs {
                pair.join(f)?;
                cx.count("loops fused");
            }
        }
    }
}

/// Pairs of loops that can be fused, no loop in two of them.
fn find_pairs(f: &Function, cx: &mut PassContext<'_>) -> Vec<Pair> {
    let forest = cx.analysis::<LoopForest>(f);
    let neighbours: Vec<Pair> =
        forest.loops().filter_map(|first| Pair::after(f, &forest, first)).collect();
    if neighbours.is_empty() {
        return Vec::new();
    }
    let counts = cx.analysis::<TripCounts>(f);
    let same = |pair: &Pair| {
        let (first, second) = (counts.of(pair.first.id), counts.of(pair.second.id));
        first.is_exact && second.is_exact && first.latch_runs == second.latch_runs
    };
    let neighbours: Vec<Pair> = neighbours
        .into_iter()
        .filter(|pair| counts.is_known(pair.first.id) && same(pair))
        .collect();
    if neighbours.is_empty() {
        return Vec::new();
    }
    let variables = cx.analysis::<InductionVariables>(f);
    let aliases = cx.analysis::<Aliases>(f);
    let facts = Facts {
        f,
        forest: &forest,
        counts: &counts,
        variables: &variables,
        aliases: &aliases,
        summaries: cx.effects(),
    };
    let mut taken = vec![false; forest.len()];
    let mut pairs = Vec::new();
    for mut pair in neighbours {
        let ids = [pair.first.id.index(), pair.second.id.index()];
        if ids.iter().all(|&id| !taken[id]) && facts.allow(&pair) {
            ids.iter().for_each(|&id| taken[id] = true);
            pair.compare_counters(&variables);
            pairs.push(pair);
        }
    }
    pairs
}

/// What decides.
struct Facts<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    counts: &'a TripCounts,
    variables: &'a InductionVariables,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
}

impl Facts<'_> {
    fn allow(&self, pair: &Pair) -> bool {
        self.values_are_independent(pair)
            && self.moves_are_pure(pair)
            && self.effects_may_be_mixed(pair)
    }

    /// Whether the second loop, and what comes before it, uses nothing of the first one. What it
    /// passes on when it is left does not count.
    fn values_are_independent(&self, pair: &Pair) -> bool {
        let f = self.f;
        let is_of_first = |operand: Operand| {
            operand.as_value().is_some_and(|v| {
                let home = f.block_of(v);
                self.forest.contains(pair.first.id, home)
                    || Some(home) == pair.between && f.is_param(v)
            })
        };
        let enter = pair.first.exit(f);
        if pair.between.is_none() && f.edge_args(enter).any(is_of_first) {
            return false;
        }
        let exit = pair.second.exit(f);
        let passed = exit.position as usize..=exit.position as usize + f.edge_args(exit).len();
        let blocks = self.forest.blocks(pair.second.id).iter().chain(&pair.between);
        blocks.flat_map(|&block| f.insts(block)).all(|v| {
            let leaves = v == Value::terminator(exit.from);
            let mut operands = f.operands(v).enumerate();
            operands.all(|(i, operand)| leaves && passed.contains(&i) || !is_of_first(operand))
        })
    }

    /// Whether what is run before the first loop, or once more than the rest of the second, is
    /// free of effects.
    fn moves_are_pure(&self, pair: &Pair) -> bool {
        let header = (pair.second.header != pair.second.latch).then_some(pair.second.header);
        let header = header.filter(|_| pair.second.is_tested_first());
        let mut moved = pair.between.into_iter().chain(header).flat_map(|b| self.f.body(b));
        moved.all(|v| {
            let pure = self.f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE));
            pure && speculatable(self.f, v)
        })
    }

    fn effects_may_be_mixed(&self, pair: &Pair) -> bool {
        let f = self.f;
        let (first, second) = (pair.first.id, pair.second.id);
        let accesses = |id| Accesses::of(f, self.forest.blocks(id), self.aliases, self.summaries);
        let (Some(a), Some(b)) = (accesses(first), accesses(second)) else { return false };
        let a_stops = a.may_stop || !self.inner_loops_end(first);
        let b_stops = b.may_stop || !self.inner_loops_end(second);
        let (a_shows, b_shows) =
            (a.writes_visible || a.observable, b.writes_visible || b.observable);
        if a_stops && (b_stops || b_shows) || b_stops && a_shows || a.observable && b.observable {
            return false;
        }
        a.list.iter().all(|x| {
            b.list.iter().all(|y| match x.meeting(f, y, self.aliases) {
                Meeting::Never => true,
                Meeting::Somehow => false,
                Meeting::InElement => {
                    let at = |access: &MemoryAccess, l| {
                        let at = access.polynomials(f, self.variables)?;
                        Some(lines(self.variables, &at, l))
                    };
                    let (Some(at_x), Some(at_y)) = (at(x, first), at(y, second)) else {
                        return false;
                    };
                    !meets_later(&at_x, &at_y)
                }
            })
        })
    }

    /// Whether all loops in a loop surely end.
    fn inner_loops_end(&self, id: LoopId) -> bool {
        self.forest.children(id).all(|l| self.counts.surely_ends(l))
    }
}
