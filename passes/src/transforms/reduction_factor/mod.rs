//! Computes sums that are the same for many iterations of loops around them once.
//!
//! ```text
//! for j, i                                 if da !== db (else as it was)
//!     acc = 0.0                                sb = 0.0; for l, k { sb += b[k, l] }
//!     for l, k                     =>          for j, i { da[i, j] += sb }
//!         acc += b[k, l]                       sa = 0.0; for j, i { sa += a[i, j] }
//!         db[k, l] += a[i, j]                  for l, k { db[k, l] = sa }
//!     da[i, j] += acc
//! ```
//!
//! # Method
//! An **update** is a store of `x[i] ⊕ e` to `x[i]`. Of a nest of counted loops, the code that an
//! update needs is taken (its slice, inner loops included) and made anew, in the loops that it depends
//! on, in an order that lets what is invariant meet the outer loops: first the loops that both `i` and
//! `e` depend on; in them those that `i` does not depend on, over which is summed up; beside these
//! those that `e` does not depend on. That is fission, interchange, promotion of the element to a value
//! and code motion of whole loops in one step (for each of them, M. Wolfe, "High Performance Compilers
//! for Parallel Computing", 1996). A nest is changed only if what is left of it is nested less deep,
//! and each new nest too.
//!
//! An update under a condition that is the same for all that is added to one element is one of which
//! the sum is added under that condition (`guard`).
//!
//! A **sum** that the nest carries around all its loops and hands on is the product of sums if its addend
//! is a product whose factors depend on different loops (`sum`). That, and taking invariant factors out
//! of the sums of updates, needs sums that distribute: of integers, or with `math=fast`.
//!
//! Before, loads are replaced of arrays that hold one constant everywhere (`forward`), as the cotangents
//! of the elements of a matrix that is summed up, and as new shadows are zero where they are first added
//! to. That is done in loops that are no nests as well.
//!
//! Nests that only fill an array that nobody reads, but for the bounds checks, are skipped if these
//! surely succeed (`unread_fill`): what is left of a product of which the derivative alone is wanted.
//!
//! # Why it is right
//! - Each element gets the same addends in the same order: its loops keep theirs, and no other
//!   iteration updates it, as the indices are injective.
//! - The sum begins with what is in the element. Summed up once for many, that has to be one
//!   constant: the array was made with it, and nothing has written to it since. Of integers it may be
//!   anything, as their sums are associative, and with `math=fast`, of floats.
//! - Nothing in the nest traps, prints, or runs for ever, so nobody sees the order of the updates of
//!   different elements. What may run in vain only computes; loads and stores run only if all loops
//!   around the update run, as then they ran before.
//! - Nothing else in the nest reads or writes the array, nor writes what the update reads. Where that
//!   needs objects to be different which may be the same one, like the shadows of equal arguments, it
//!   is tested before the nest, and the nest as it was stands behind the test
//!   (`util/versioning.rs`). An array is no object that was there before it was made.
//!
//! # Cost
//! O(instructions) to see that there is nothing to do. Else O(size of the nests) and that of the analyses,
//! for each nest that is changed; nests and what is looked at before them are of bounded size.

mod apply;
mod contents;
mod emit;
mod factors;
mod fill_loop;
mod forward;
mod guard;
mod made_arrays;
mod nest;
mod plan;
mod slice;
mod sum;
mod unread_fill;
mod update;

use std::sync::Arc;

use regraft_dialects::{ad, core, mem};
use regraft_ir::{DominatorTree, Edge, Function, IrResult, Operand, Value};

use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, TripCounts,
};
use crate::options::{OptionDef, Options};
use crate::pipeline::MATH;
use crate::rewrite::Math;
use crate::transforms::adce::Adce;
use crate::transforms::loop_delete::LoopDelete;
use crate::transforms::simplify_cfg::SimplifyCfg;
use crate::transforms::util::versioning::is_version;
use crate::{FunctionPass, LoopPass, PassContext, PassResult};
use made_arrays::ReductionAnalyses;
use nest::LoopNest;
use plan::Planner;
use slice::Slices;
use sum::is_carried_product;
use unread_fill::UnreadFill;
use update::is_update_like;

/// A function is looked at again after each nest that has changed, up to so many.
const MAX_NESTS: usize = 32;

crate::pass! {
    /// Computes sums that are the same for many iterations of loops around them once.
    ///
    /// ```text
    /// for j, i                                 if da !== db (else as it was)
    ///     acc = 0.0                                sb = 0.0; for l, k { sb += b[k, l] }
    ///     for l, k                     =>          for j, i { da[i, j] += sb }
    ///         acc += b[k, l]                       sa = 0.0; for j, i { sa += a[i, j] }
    ///         db[k, l] += a[i, j]                  for l, k { db[k, l] = sa }
    ///     da[i, j] += acc
    /// ```
    ///
    /// Updates of elements of arrays leave the nest of counted loops that they are in, each for loops of its
    /// own. Not one bit of a result changes: addends keep their order, and a sum is shared only if
    /// it begins with the same number for all elements, such as the zeros of a new array. Arrays
    /// that may be the same one are told apart before the nest, which stays for the case that they
    /// are.
    ///
    /// Sums of integers may begin with any number, and a sum of products with factors from
    /// different loops becomes a product of sums. With `math=fast`, that holds for floats:
    /// `Σ x·a[i]` is `x·Σ a[i]`, and `Σ a[i]·b[k]` is `Σ a[i] · Σ b[k]`.
    ///
    /// Nothing in the nest may trap; so bounds checks have to be eliminated before.
    #[derive(Debug, Default)]
    pub struct ReductionFactor {
        fast: bool,
    }
}

impl FunctionPass for ReductionFactor {
    const NAME: &'static str = "reduction-factor";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef { doc: "with `fast`, sums of floats may be rounded in another order", ..MATH }];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.fast = options.text(MATH.name) == Math::Fast.name();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let has_nests = self.may_factor(f, cx);
        if has_nests {
            self.skip_fills(f, cx)?;
        }
        if (has_nests || may_forward(f, cx)) && self.forward(f, cx)? {
            Adce.run(f, cx)?;
            LoopDelete.run_all(f, cx)?;
        }
        if !has_nests {
            return Ok(());
        }
        let mut factored = 0;
        while factored < MAX_NESTS && self.factor_one(f, cx)? {
            factored += 1;
        }
        if factored > 0 {
            // What only the updates needed, and blocks that only lead on.
            Adce.run(f, cx)?;
            LoopDelete.run_all(f, cx)?;
            SimplifyCfg::default().run(f, cx)?;
        }
        Ok(())
    }
}

/// Returns whether a loop loads from an array that is made before it, and maybe with a content that is
/// known.
fn may_forward(f: &Function, cx: &mut PassContext<'_>) -> bool {
    let forest = cx.analysis::<LoopForest>(f);
    let is_candidate = |v: Value| {
        let array = || f.operand(v, 0).and_then(Operand::as_value);
        f.op(v) == Some(mem::LOAD)
            && forest.loop_of(f.block_of(v)).is_some()
            && array().is_some_and(|array| {
                matches!(f.op(array), Some(mem::ALLOC | mem::FILL | ad::ZERO | core::GET))
            })
    };
    !forest.is_empty() && f.all_insts().any(is_candidate)
}

impl ReductionFactor {
    /// Makes ways around nests that only fill arrays which nobody reads.
    fn skip_fills(&self, f: &mut Function, cx: &mut PassContext<'_>) -> IrResult<()> {
        let facts = Facts::of(f, cx);
        let analyses = facts.analyses(f);
        let outermost = facts.forest.loops().filter(|&l| facts.forest.get(l).parent.is_none());
        let fills: Vec<UnreadFill> = outermost
            .filter_map(|root| LoopNest::of(f, &facts.forest, &facts.counts, root))
            .filter_map(|nest| UnreadFill::of(&analyses, &nest))
            .collect();
        cx.add("fills skipped", fills.len() as u64);
        fills.into_iter().try_for_each(|fill| fill.skip(f))
    }

    /// Replaces loads of what is known. Returns whether there were any.
    fn forward(&self, f: &mut Function, cx: &mut PassContext<'_>) -> IrResult<bool> {
        let facts = Facts::of(f, cx);
        let analyses = facts.analyses(f);
        let mut loads = Vec::new();
        let mut done = None;
        for root in facts.forest.loops() {
            if done.is_none_or(|outer| !facts.forest.encloses(outer, root))
                && let Some(nest) = LoopNest::of(f, &facts.forest, &facts.counts, root)
            {
                loads.extend(forward::known_loads(&analyses, &nest));
                done = Some(root);
            }
        }
        let accumulated = forward::accumulated(&analyses, &loads);
        forward::replace(f, &loads)?;
        for array in accumulated {
            array.make(f)?;
        }
        cx.add("loads of constants", loads.len() as u64);
        Ok(!loads.is_empty())
    }

    /// Returns whether there are loops that this could be about, as far as single instructions tell.
    fn may_factor(&self, f: &Function, cx: &mut PassContext<'_>) -> bool {
        let forest = cx.analysis::<LoopForest>(f);
        let is_nested = |l: LoopId| forest.get(l).parent.is_some() || !forest.is_innermost(l);
        let is_candidate = |v| {
            let (home, depth) = (forest.loop_of(f.block_of(v)), forest.depth(f.block_of(v)));
            home.is_some_and(|l| self.fast || is_nested(l))
                && (is_update_like(f, v, depth) || is_carried_product(f, v, self.fast))
        };
        !forest.is_empty() && f.all_insts().any(is_candidate)
    }

    /// Lets updates leave the first nest that gets cheaper.
    fn factor_one(&self, f: &mut Function, cx: &mut PassContext<'_>) -> IrResult<bool> {
        let facts = Facts::of(f, cx);
        let Facts { forest, dom, counts, .. } = &facts;
        for root in forest.loops().filter(|&l| self.fast || !forest.is_innermost(l)) {
            let Some(nest) = LoopNest::of(f, forest, counts, root) else { continue };
            let mut slices = Slices::new(&nest, dom);
            let analyses = facts.analyses(f);
            let planner = Planner { analyses: &analyses, fast: self.fast };
            let Some(plan) = planner.plan(&mut slices) else { continue };
            let header = forest.get(root).header;
            let is_outside = |e: &Edge| !forest.contains(root, e.from);
            if f.in_edges(header).filter(is_outside).any(|e| is_version(f, e, &plan.apart)) {
                continue;
            }
            let (updates, sums) = (plan.factored.len() as u64, plan.sums.len() as u64);
            let versions = apply::apply(f, &slices, &plan, cx.analyses())?;
            cx.add("updates factored", updates);
            cx.add("sums factored", sums);
            cx.add("nests in two versions", u64::from(versions));
            return Ok(true);
        }
        Ok(false)
    }
}

/// The analyses of a function.
struct Facts {
    forest: Arc<LoopForest>,
    dom: Arc<DominatorTree>,
    counts: Arc<TripCounts>,
    variables: Arc<InductionVariables>,
    aliases: Arc<Aliases>,
    summaries: EffectSummaries,
}

impl Facts {
    fn of(f: &Function, cx: &mut PassContext<'_>) -> Self {
        Self {
            forest: cx.analysis(f),
            dom: cx.analysis(f),
            counts: cx.analysis(f),
            variables: cx.analysis(f),
            aliases: cx.analysis(f),
            summaries: cx.effects().clone(),
        }
    }

    fn analyses<'a>(&'a self, f: &'a Function) -> ReductionAnalyses<'a> {
        ReductionAnalyses {
            f,
            forest: &self.forest,
            dom: &self.dom,
            aliases: &self.aliases,
            summaries: &self.summaries,
            variables: &self.variables,
            counts: &self.counts,
        }
    }
}
