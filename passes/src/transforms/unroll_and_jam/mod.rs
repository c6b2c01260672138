//! Unrolls an outer loop, and makes one inner loop of the copies of the inner one.
//!
//! ```text
//! for i in 1:n                         for i in 1:2:n-1
//!     s = 0                                s = 0; t = 0
//!     for k in 1:m               =>        for k in 1:m
//!         s += a[i, k] * x[k]                  s += a[i, k] * x[k]; t += a[i + 1, k] * x[k]
//!     y[i] = s                             y[i] = s; y[i + 1] = t
//!                                      and the old loops for what is left
//! ```
//!
//! What is the same in all iterations of the outer loop, as `x[k]`, is loaded once for several of them,
//! and sums that do not depend on each other hide how long an addition takes.
//!
//! # Method
//! Allen and Cocke's unroll-and-jam, "A catalogue of optimizing transformations" (1971). The outer
//! loop is unrolled by a factor as `unroll` does, so that the old loop is left for what remains, however
//! often it runs. Then the parts of the copies trade places (`Chain`): all that comes before the inner
//! loop, the inner loops as one whose body is a copy of each in turn, all that comes after them. With
//! `levels=2` the inner loop of that one is jammed alike, and so on.
//!
//! # Why it is right
//! - The inner loops run in step: how often they do is known, certain, and the same in all iterations
//!   of the outer loop.
//! - Nothing in the loops stops the program or prints, so that it does not show which iteration comes
//!   first. Checks of bounds have to be eliminated before.
//! - What the inner loop and what comes before it need of the iteration before is computed by
//!   instructions without effects that are moved before the inner loop too. What only the part after it needs,
//!   as a sum over all of the outer loop, is passed from one copy of that part to the next, in the old order.
//! - Two accesses of which one is a write keep their order if they meet (`keeps_order`): pairs that trade
//!   places are of two outer iterations `i < j` of one round, the one of `i` being in a later iteration of an
//!   inner loop or in a later part. Arrays that may be one are told apart before the loop, and the old loop
//!   runs if they are one.
//!
//! Each accumulator gets its addends in the old order: results are the same, bit for bit.
//!
//! # Cost
//! O(size of what is copied), which the option `size` bounds, the square of the number of accesses, which
//! is bounded, and that of the analyses.

mod chain;
mod jam;

use regraft_dialects::mem;
use regraft_ir::{Block, DominatorTree, Function, IrResult, Operand, Value};

use super::unroll::factor::{ByFactor, Rounds};
use super::unroll::{size_up_to, tidy};
use crate::analysis::trip_count::LatchRuns;
use crate::analysis::{InductionVariables, LoopForest, LoopId, Sym, TripCounts};
use crate::options::{OptionDef, Options};
use crate::transforms::util::edit::delete_unreachable;
use crate::transforms::util::loop_accesses::{MemoryAccess, distances};
use crate::transforms::util::loop_pair::FusionAnalyses;
use crate::transforms::util::versioning::{Apart, all_differ};
use crate::{FunctionPass, PassContext, PassResult};
use chain::{Chain, Part};
use jam::jam;

crate::pass! {
    /// Unrolls an outer loop, and makes one inner loop of the copies of the inner one.
    ///
    /// ```text
    /// for i in 1:n                         for i in 1:2:n-1
    ///     s = 0                                s = 0; t = 0
    ///     for k in 1:m               =>        for k in 1:m
    ///         s += a[i, k] * x[k]                  s += a[i, k] * x[k]; t += a[i + 1, k] * x[k]
    ///     y[i] = s                             y[i] = s; y[i + 1] = t
    ///                                      and the old loops for what is left
    /// ```
    ///
    /// What is the same in all iterations of the outer loop is loaded once for several of them by the next `gvn`,
    /// and sums that do not depend on each other are computed side by side. Each sum keeps its order.
    ///
    /// For loops in which nothing may stop the program or print: checks of bounds are best eliminated
    /// before, by `bounds-elim{versions}`. The inner loop has to run equally often in all iterations of the outer
    /// one. Where arrays may be one, they are compared before the loop. `levels=2` is for the loop around
    /// such an outer loop: `unroll-and-jam{levels=2, factor=2}, unroll-and-jam{factor=4}` computes eight elements of a
    /// product of matrices side by side. With `shared`, only loops are jammed whose innermost body loads an element that
    /// the outer loop does not change.
    #[derive(Debug, Default)]
    pub struct UnrollAndJam {
        /// The number of outer iterations in a round.
        factor: usize,
        /// How many loops the outer one is around.
        levels: usize,
        /// The most instructions of a round.
        size: usize,
        /// True if the copies have to load an element in common.
        shared: bool,
    }
}

impl FunctionPass for UnrollAndJam {
    const NAME: &'static str = "unroll-and-jam";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("factor", 4, "outer iterations in one round").between(2, 64),
        OptionDef::int("levels", 1, "loops between the outer one and the innermost body")
            .between(1, 8),
        OptionDef::int("size", 512, "a round has at most so many instructions"),
        OptionDef::flag("shared", false, "only where the copies load an element in common"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        let size = |name: &str| options.size(name);
        *self = Self {
            factor: size("factor"),
            levels: size("levels"),
            size: size("size"),
            shared: options.flag("shared"),
        };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let plans = self.plans(f, cx);
        if plans.is_empty() {
            return Ok(());
        }
        let forest = cx.analysis::<LoopForest>(f);
        for plan in &plans {
            plan.chain.normalize(f, &forest, &plan.early)?;
        }
        // The loops are the same; blocks between them are new.
        let forest = cx.analysis::<LoopForest>(f);
        let (tree, counts) = (cx.analysis::<DominatorTree>(f), cx.analysis::<TripCounts>(f));
        let variables = cx.analysis::<InductionVariables>(f);
        let mut jams: Vec<Jam> = Vec::new();
        for plan in plans {
            let Some(outer) = forest.headed_by(plan.chain.outer().header) else { continue };
            let chain = Chain::of(f, &forest, &tree, outer, self.levels);
            let rounds = ByFactor::counted(f, &forest, outer, counts.of(outer), self.factor);
            let (Some(chain), Some(rounds)) = (chain, rounds) else { continue };
            let preheaders = chain.loops[1..].iter().filter_map(|l| forest.get(l.id).preheader);
            jams.push(Jam { preheaders: preheaders.collect(), chain, rounds, apart: plan.apart });
        }
        // All counts are computed before a loop changes: they may mention what comes out of another one.
        for jam in &mut jams {
            jam.prepare(f, &variables)?;
        }
        let mut made = vec![false; f.block_capacity()];
        for jam in jams.into_iter().filter(|jam| jam.rounds.is_ready()) {
            let Some(Rounds { copies, blocks }) = jam.rounds.carry_out(f)? else { continue };
            self::jam(f, &jam.chain, &jam.preheaders, &copies)?;
            cx.count("loops unrolled and jammed");
            made.resize(f.block_capacity(), false);
            blocks.into_iter().for_each(|block| made[block.index()] = true);
        }
        delete_unreachable(f, cx.analyses())?;
        made.resize(f.block_capacity(), false);
        tidy(f, &cx.analysis(f), &made)
    }
}

/// A loop that is to be unrolled, with what that takes.
struct Plan {
    chain: Chain,
    /// What has to come before the inner loop.
    early: Vec<Value>,
    /// The arrays that have to be different objects.
    apart: Vec<Apart>,
}

/// The same, once the loops have their normal form.
struct Jam {
    chain: Chain,
    preheaders: Vec<Block>,
    rounds: ByFactor,
    apart: Vec<Apart>,
}

impl Jam {
    /// Computes in the preheader what decides whether there are rounds.
    fn prepare(&mut self, f: &mut Function, variables: &InductionVariables) -> IrResult<()> {
        self.rounds.prepare(f, variables)?;
        let preheader = self.rounds.form.ensure_preheader(f)?;
        let at = Value::terminator(preheader);
        if let Some(differ) = all_differ(f, &self.apart, at)? {
            self.rounds.also_if(f, differ)?;
        }
        Ok(())
    }
}

impl UnrollAndJam {
    fn plans(&self, f: &Function, cx: &mut PassContext<'_>) -> Vec<Plan> {
        let forest = cx.analysis::<LoopForest>(f);
        if forest.loops().all(|l| forest.is_innermost(l)) {
            return Vec::new();
        }
        let tree = cx.analysis::<DominatorTree>(f);
        let mut chains: Vec<Chain> = forest
            .loops()
            .filter(|&l| size_up_to(f, forest.blocks(l), self.size / self.factor).is_some())
            .filter_map(|l| Chain::of(f, &forest, &tree, l, self.levels))
            .collect();
        if self.shared && !chains.is_empty() {
            let variables = cx.analysis::<InductionVariables>(f);
            chains.retain(|chain| has_common_load(f, &variables, chain));
        }
        if chains.is_empty() {
            return Vec::new();
        }
        let facts = FusionAnalyses::of(f, cx, true);
        let find = Finder { facts, tree: &tree, factor: self.factor };
        chains.into_iter().filter_map(|chain| find.plan(chain)).collect()
    }
}

/// Finds out whether loops can be unrolled and jammed.
struct Finder<'a> {
    facts: FusionAnalyses<'a>,
    tree: &'a DominatorTree,
    factor: usize,
}

impl Finder<'_> {
    fn plan(&self, chain: Chain) -> Option<Plan> {
        let FusionAnalyses { f, forest, .. } = &self.facts;
        let outer = chain.outer().id;
        if !self.is_counted(outer) || !chain.loops[1..].iter().all(|l| self.is_steady(outer, l.id))
        {
            return None;
        }
        let keeps_order = |x: &MemoryAccess, y: &MemoryAccess| self.keeps_order(&chain, x, y);
        let apart = self.facts.apart_to_reorder(outer, keeps_order)?;
        let early = chain.early(f, forest, self.tree)?;
        Some(Plan { chain, early, apart })
    }

    /// Returns whether it is known how often the outer loop runs when it begins.
    fn is_counted(&self, outer: LoopId) -> bool {
        let FusionAnalyses { f, forest, counts, .. } = &self.facts;
        let count = counts.of(outer);
        let enough = match count.latch_runs {
            LatchRuns::Constant(runs) => runs >= self.factor as u64,
            LatchRuns::Symbolic(_) => true,
            LatchRuns::Never | LatchRuns::Unknown => false,
        };
        enough
            && count.is_exact
            && ByFactor::counted(f, forest, outer, count, self.factor).is_some()
    }

    /// Returns whether an inner loop runs equally often in all iterations of the outer one.
    fn is_steady(&self, outer: LoopId, inner: LoopId) -> bool {
        let FusionAnalyses { counts, variables, .. } = &self.facts;
        let is_fixed = match &counts.of(inner).latch_runs {
            LatchRuns::Symbolic(count) => {
                count.polys().into_iter().all(|poly| variables.is_invariant_in(poly, outer))
            }
            LatchRuns::Constant(_) => true,
            LatchRuns::Never | LatchRuns::Unknown => false,
        };
        is_fixed && counts.is_known(inner)
    }

    /// Returns whether two accesses to one array keep their order where they are to one element.
    ///
    /// Let `d` be how many outer iterations the earlier part is ahead of the other. In the same outer iteration
    /// everything keeps its order, and in different rounds too. Else the old order follows from `d`, and
    /// the new one from the iterations of the inner loops around both, then from the parts, then from `d`.
    fn keeps_order(&self, chain: &Chain, x: &MemoryAccess, y: &MemoryAccess) -> bool {
        let FusionAnalyses { f, forest, variables, .. } = &self.facts;
        let part = |access: &MemoryAccess| chain.part(forest, self.tree, access.block);
        let (mut first, mut second) = ((part(x), x), (part(y), y));
        if comes_before(second.0, first.0) {
            (first, second) = (second, first);
        }
        let shared = first.0.depth.min(second.0.depth);
        let loops: Vec<LoopId> = chain.loops[..shared].iter().map(|l| l.id).collect();
        let at = |access: &MemoryAccess| access.polynomials(f, variables);
        let (Some(at_first), Some(at_second)) = (at(first.1), at(second.1)) else { return false };
        let Some(apart) = distances(variables, &loops, &at_first, &at_second) else { return true };
        let [outer, inner @ ..] = &*apart else { return false };
        if outer.is_some_and(|d| d == 0 || d.unsigned_abs() >= self.factor as u64) {
            return true;
        }
        let Some(inner) = inner.iter().copied().collect::<Option<Vec<i64>>>() else { return false };
        match (inner.into_iter().find(|&d| d != 0), *outer) {
            (None, _) if first.0 == second.0 => true,
            (None, Some(outer)) => outer < 0,
            (Some(inner), Some(outer)) => (inner < 0) == (outer < 0),
            _ => false,
        }
    }
}

/// Returns whether the innermost loop loads an element that is the same in all iterations of the outermost one.
fn has_common_load(f: &Function, variables: &InductionVariables, chain: &Chain) -> bool {
    let (forest, outer) = (variables.forest(), chain.outer().id);
    let innermost = chain.loops.last().map_or(outer, |l| l.id);
    let stays = |operand: Operand| {
        let Some(v) = operand.as_value().filter(|&v| forest.contains(outer, f.block_of(v))) else {
            return true;
        };
        f.ty(v).is_int()
            && variables.evolution(f, v).symbols().all(|symbol| match symbol {
                Sym::Value(v) => !forest.contains(outer, f.block_of(v)),
                Sym::Iteration(l) => l != outer,
            })
    };
    let mut body = forest.blocks(innermost).iter().flat_map(|&block| f.body(block));
    body.any(|v| f.op(v) == Some(mem::LOAD) && f.operands(v).all(stays))
}

/// Returns whether one part comes before another in an iteration of the loops around both.
fn comes_before(x: Part, y: Part) -> bool {
    match x.depth.cmp(&y.depth) {
        std::cmp::Ordering::Less => !x.is_after,
        std::cmp::Ordering::Equal => !x.is_after && y.is_after,
        std::cmp::Ordering::Greater => y.is_after,
    }
}
