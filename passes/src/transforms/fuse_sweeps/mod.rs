//! Makes one loop of two that run equally often, the one after the other, if need be with one of
//! them reversed; what the first one keeps for the second in arrays is handed on directly.
//!
//! ```text
//! for k = 1 .. n                       for k = 1 .. n
//!   t[k] = sin(x[k])                     t = sin(x[k])
//! ..                             =>      s[k] += 2 * t
//! for k = n .. 1
//!   s[k] += 2 * t[k]
//! ```
//!
//! This is what derivatives in reverse mode look like: a forward sweep that keeps what the reverse
//! sweep needs.
//!
//! # Method
//! Two loops that are tested first, with one exit and one latch, of which the second comes after the
//! first with at most a block between them. Both run equally often, for sure
//! (`normalised_trip_count`). They are fused as they are if no iteration of the second needs a later
//! one of the first. Else, or if they count in opposite directions, one of them, all of whose
//! iterations are independent and which hands on nothing but counters, is reversed: the second if it
//! can be, so that the order of the first stays; else the first. Loops in each
//! other are fused from the outside inwards.
//!
//! A branch around a loop that would not run anyway goes first (`guard_elimination`). What stands between two
//! loops goes before the first one where that changes nothing, else behind the second (`between`).
//! In the new loop, numbers that are the same in each iteration become one, and loads give what was
//! stored in the same iteration (`forward`). Arrays that are only written then go, as in `adce`; of
//! others that nothing uses outside of the loop, each iteration gets a part (array contraction).
//!
//! # Why it is right
//! Iterations of the first loop run at the times `i` or `n - 1 - i`, those of the second likewise,
//! and at each time the first comes first. What used to run in another order must not depend on
//! each other: no two accesses of which one is a write are to the same element, which is found from
//! the indices as polynomials in the time (`loop_accesses`); where a loop is reversed, that holds for any
//! two of its iterations too. A loop that is reversed neither stops nor prints, and nothing of its last
//! iteration is used. If a loop that is not may stop, the other one neither may, nor does anything that
//! can be seen before the function returns. Of float functions it is asked whether their arguments are
//! known to be in the domain, be it because the first loop has recorded what it asked the same of
//! (`recorded_domains`). Sums are carried from one iteration to the next by parameters, and loops with such
//! parameters are not reversed: no float is added in another order than before. In a sum in memory the
//! index stays the same, which is a dependence as well.
//!
//! # Cost
//! O(size) for each level of loops and the analyses; what is compared for a pair is bounded.

mod array_contraction;
mod forward;
mod guard_elimination;
mod intervening_code;
mod join;
mod normalised_trip_count;
mod plan;

use regraft_ir::{Block, Diagnostic, DominatorTree, Edge, Function};
use rustc_hash::{FxHashMap, FxHashSet};

use super::adce::{Adce, WRITES};
use crate::analysis::{Aliases, InductionVariables, LoopForest, LoopId, TripCounts};
use crate::options::{OptionDef, Options};
use crate::transforms::util::loop_pair::{FusionAnalyses, LoopPair};
use crate::{FunctionPass, PassContext, PassResult};
use plan::{Plan, Reversed};

crate::pass! {
    /// Makes one loop of a forward and a reverse loop, so that nothing is kept between them.
    ///
    /// ```text
    /// for k = 1 .. n                       for k = 1 .. n
    ///   t[k] = sin(x[k])                     t = sin(x[k])
    /// ..                             =>      s[k] += 2 * t
    /// for k = n .. 1
    ///   s[k] += 2 * t[k]
    /// ```
    ///
    /// The loops have to run equally often, and one of them has to be of independent iterations: it is
    /// reversed if the order of the other one matters. Sums of floats keep their order. What
    /// is between the loops has to be movable. Where one may trap, the other may do nothing that
    /// can be seen, and none that is reversed may trap; so bounds checks are best eliminated before:
    /// `O2, fuse-sweeps, O2`. Float functions stop the program outside of their domain too:
    /// `{domain-errors=false}` says that it does not matter which of them does so first, and what
    /// arrays hold then.
    #[derive(Debug, Default)]
    pub struct FuseSweeps {
        domain_errors: bool,
    }
}

impl FunctionPass for FuseSweeps {
    const NAME: &'static str = "fuse-sweeps";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef::flag(
        "domain-errors",
        true,
        "keep what was stored when a float function (sin of infinity) stops the program",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.domain_errors = options.flag("domain-errors");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        if !has_neighbours(&cx.analysis::<LoopForest>(f)) {
            return Ok(());
        }
        // What makes room for a fusion is of no use without one.
        let mut trial = f.clone();
        if self.fuse(&mut trial, cx)? {
            *f = trial;
        }
        Ok(())
    }
}

impl FuseSweeps {
    /// Fuses loops, and returns whether there were any to fuse.
    fn fuse(&self, f: &mut Function, cx: &mut PassContext<'_>) -> Result<bool, Diagnostic> {
        let mut fused: FxHashSet<Block> = FxHashSet::default();
        let mut unguarded = 0;
        split_latches(f, cx)?;
        loop {
            unguarded += remove_guards(f, cx)?;
            let plans = find_plans(f, cx, self.domain_errors);
            if plans.is_empty() {
                break;
            }
            let variables = cx.analysis::<InductionVariables>(f);
            for plan in plans {
                cx.count("loops fused");
                if plan.reversed != Reversed::Neither {
                    cx.count("loops turned");
                }
                fused.insert(plan.first.header);
                plan.join(f, &variables)?;
            }
        }
        if fused.is_empty() {
            return Ok(false);
        }
        let forest = cx.analysis::<LoopForest>(f);
        let outermost = |id| {
            let mut around =
                std::iter::successors(forest.get(id).parent, |&id| forest.get(id).parent);
            !around.any(|id| fused.contains(&forest.get(id).header))
        };
        let loops: Vec<_> = forest
            .loops()
            .filter(|&id| fused.contains(&forest.get(id).header) && outermost(id))
            .collect();
        let facts = forward::ForwardingAnalyses {
            forest: &forest,
            variables: &cx.analysis::<InductionVariables>(f),
            aliases: &cx.analysis::<Aliases>(f),
            dom: &cx.analysis::<DominatorTree>(f),
            summaries: cx.effects(),
        };
        let forwarded = forward::run(f, &loops, &facts)?;
        let dropped = cx.run_within::<Adce>(f)?;
        let facts = forward::ForwardingAnalyses {
            forest: &cx.analysis::<LoopForest>(f),
            variables: &cx.analysis::<InductionVariables>(f),
            aliases: &cx.analysis::<Aliases>(f),
            dom: &cx.analysis::<DominatorTree>(f),
            summaries: cx.effects(),
        };
        let rows = array_contraction::run(f, &facts)?;
        cx.add("branches around loops removed", unguarded);
        cx.add("arrays that became rows", rows as u64);
        cx.add("loads forwarded", forwarded as u64);
        cx.add(WRITES, dropped[WRITES]);
        Ok(true)
    }
}

/// Returns whether two loops have the same parent.
fn has_neighbours(forest: &LoopForest) -> bool {
    let mut parents = FxHashSet::default();
    forest.loops().any(|l| !parents.insert(forest.get(l).parent))
}

/// Gives loops a latch of their own that go back where an inner loop is left, if there is another
/// loop beside them.
fn split_latches(f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
    let forest = cx.analysis::<LoopForest>(f);
    let mut beside: FxHashMap<Option<LoopId>, usize> = FxHashMap::default();
    forest.loops().for_each(|l| *beside.entry(forest.get(l).parent).or_default() += 1);
    for l in forest.loops() {
        let at = forest.get(l);
        let (Some(latch), [exit]) = (at.single_latch(), &*at.exits) else { continue };
        if exit.from != at.header || latch == at.header || beside[&at.parent] < 2 {
            continue;
        }
        let back: Vec<Edge> =
            f.out_edges(latch).filter(|&edge| f.edge_target(edge) == at.header).collect();
        if let [edge] = *back
            && f.out_edges(latch).nth(1).is_some()
        {
            f.split_edge(edge)?;
        }
    }
    Ok(())
}

/// Takes away branches around loops that would not run, one of those that are in each other. Returns
/// how many.
fn remove_guards(f: &mut Function, cx: &mut PassContext<'_>) -> Result<u64, Diagnostic> {
    let mut removed = 0;
    loop {
        let forest = cx.analysis::<LoopForest>(f);
        if forest.len() < 2 {
            return Ok(removed);
        }
        let variables = cx.analysis::<InductionVariables>(f);
        let counts = cx.analysis::<TripCounts>(f);
        let guards = guard_elimination::find(f, &forest, &variables, &counts);
        if guards.is_empty() {
            return Ok(removed);
        }
        for guard in guards {
            // One that is merged with what is before it by now is found again.
            if guard.is_live(f) {
                guard.remove(f)?;
                removed += 1;
            }
        }
    }
}

/// Pairs of loops that can be fused, apart from each other.
fn find_plans(f: &Function, cx: &mut PassContext<'_>, domain_errors: bool) -> Vec<Plan> {
    let forest = cx.analysis::<LoopForest>(f);
    let mut pairs: Vec<LoopPair> =
        forest.loops().filter_map(|l| LoopPair::after(f, &forest, l)).collect();
    pairs.retain(|pair| pair.first.is_tested_first());
    if pairs.is_empty() {
        return Vec::new();
    }
    let facts = FusionAnalyses::of(f, cx, domain_errors);
    let mut plans: Vec<Plan> = Vec::new();
    let (mut touched, mut needed) = (FxHashSet::default(), FxHashSet::default());
    for pair in pairs {
        if touched.contains(&pair.first.header) || touched.contains(&pair.second.header) {
            continue;
        }
        let Some(plan) = facts.plan(&pair) else { continue };
        let (touches, needs) = (facts.touched(&plan), facts.needed(&plan));
        let apart = !touches.iter().any(|b| touched.contains(b) || needed.contains(b))
            && !needs.iter().any(|b| touched.contains(b));
        if apart {
            touched.extend(touches);
            needed.extend(needs);
            plans.push(plan);
        }
    }
    plans
}
