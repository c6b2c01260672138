//! Cuts perfect nests of loops into tiles, so that what a tile touches stays in the caches.
//!
//! ```text
//!                                      for t in 0:32:n-1, u in 0:32:m-1
//! for i in 1:n, j in 1:m          =>       for i in t:min(t+32, n)-1, j in u:min(u+32, m)-1
//!     y[i, j] = x[j, i]                        y[i+1, j+1] = x[j+1, i+1]
//! ```
//!
//! # Method
//! A **band**: loops one directly in the other, with one exit each, tested first, with nothing but pure
//! instructions between them, nothing carried around but counters, and counts that are certain before the
//! outermost one (Wolf and Lam, "A data locality optimizing algorithm", PLDI 1991). The largest bands are tiled,
//! outer loops first. The innermost body may contain other loops.
//!
//! The new loops count iterations from 0; the counters of the old ones are computed from that, with what the
//! old loops computed on their way.
//!
//! # Why it is right
//! - The same iterations run, each once. The end of a tile is the least of two numbers, so that the last tile
//!   is as large as what is left. Where a tile begins would wrap around after 2^43 tiles at the earliest, of
//!   2^20 iterations, which no program comes to.
//! - Nothing in the nest stops the program or prints.
//! - Two accesses of which one is a write keep their order: where they are to one element, either they are
//!   apart in one of the loops only, or the same iteration is ahead in all of them (the band is permutable there).
//!   Arrays that may be one are told apart before the nest, and the old nest runs if they are one.
//!
//! # Cost
//! O(size of the nest) for each band, the square of its number of accesses, which is bounded, and that of the
//! analyses.

mod band;
mod build;

use regraft_ir::Function;

use crate::analysis::{InductionVariables, LoopForest, LoopId, TripCounts};
use crate::options::{OptionDef, Options};
use crate::transforms::util::edit::delete_unreachable;
use crate::transforms::util::loop_accesses::{MemoryAccess, distances};
use crate::transforms::util::loop_pair::FusionAnalyses;
use crate::{FunctionPass, PassContext, PassResult};
use band::{Band, Shapes};
use build::Plan;

crate::pass! {
    /// Cuts perfect nests of loops into tiles, so that what a tile touches stays in the caches.
    ///
    /// ```text
    ///                                      for t in 0:32:n-1, u in 0:32:m-1
    /// for i in 1:n, j in 1:m          =>       for i in t:min(t+32, n)-1, j in u:min(u+32, m)-1
    ///     y[i, j] = x[j, i]                        y[i+1, j+1] = x[j+1, i+1]
    /// ```
    ///
    /// For loops one directly in the other that carry nothing but their counters, whose counts do not depend on each
    /// other, and in which nothing may stop the program or print: checks of bounds are best
    /// eliminated before, by `bounds-elim{versions}`. A sum in an element of an array keeps its order; where arrays may be
    /// one, they are compared before the nest.
    ///
    /// What comes out of that is a nest again: a second run cuts tiles of tiles, for the next level of caches.
    #[derive(Debug, Default)]
    pub struct Tile {
        /// The number of iterations of each loop in a tile.
        size: i64,
        /// The most loops of one nest that are cut.
        loops: usize,
    }
}

impl FunctionPass for Tile {
    const NAME: &'static str = "tile";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("size", 32, "iterations of each loop in a tile").between(2, 1 << 20),
        OptionDef::int("loops", 3, "cut at most so many loops of a nest, the outer ones first")
            .between(2, 8),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        *self = Self { size: options.int("size"), loops: options.size("loops") };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let plans = self.plans(f, cx);
        if plans.is_empty() {
            return Ok(());
        }
        let (forest, counts) = (cx.analysis::<LoopForest>(f), cx.analysis::<TripCounts>(f));
        let variables = cx.analysis::<InductionVariables>(f);
        for plan in &plans {
            plan.carry_out(f, &forest, &counts, &variables, self.size)?;
            cx.count("nests tiled");
        }
        delete_unreachable(f, cx.analyses())?;
        Ok(())
    }
}

impl Tile {
    /// Plans for nests, none of which is in another.
    fn plans(&self, f: &Function, cx: &mut PassContext<'_>) -> Vec<Plan> {
        let forest = cx.analysis::<LoopForest>(f);
        if forest.loops().all(|l| forest.is_innermost(l)) {
            return Vec::new();
        }
        let facts = FusionAnalyses::of(f, cx, true);
        let (counts, variables) = (&*facts.counts, &*facts.variables);
        let shapes = Shapes { f, forest: &forest, counts, variables };
        let mut plans: Vec<Plan> = Vec::new();
        for l in forest.loops() {
            if plans.iter().any(|plan| forest.encloses(plan.band.outer().id, l)) {
                continue;
            }
            let largest = shapes.band(l, self.loops);
            // Where a band cannot be tiled, a part of it may.
            let bands = (2..=largest.map_or(0, |band| band.loops.len())).rev();
            plans.extend(bands.filter_map(|len| plan(&facts, shapes.band(l, len)?)).next());
        }
        plans
    }
}

fn plan(facts: &FusionAnalyses<'_>, band: Band) -> Option<Plan> {
    let loops: Vec<LoopId> = band.loops.iter().map(|l| l.id).collect();
    let keeps_order = |x: &MemoryAccess, y: &MemoryAccess| keeps_order(facts, &loops, x, y);
    let apart = facts.apart_to_reorder(band.outer().id, keeps_order)?;
    Some(Plan { band, apart })
}

/// Returns whether two accesses to one array, both in the body of these loops, are to one element only in
/// iterations that keep their order however the loops are nested.
fn keeps_order(
    facts: &FusionAnalyses<'_>,
    loops: &[LoopId],
    x: &MemoryAccess,
    y: &MemoryAccess,
) -> bool {
    let at = |access: &MemoryAccess| access.polynomials(facts.f, &facts.variables);
    let (Some(at_x), Some(at_y)) = (at(x), at(y)) else { return false };
    let Some(apart) = distances(&facts.variables, loops, &at_x, &at_y) else { return true };
    let moved: Vec<Option<i64>> = apart.into_iter().filter(|&d| d != Some(0)).collect();
    let all = |is: fn(i64) -> bool| moved.iter().all(|&d| d.is_some_and(is));
    moved.len() <= 1 || all(|d| d > 0) || all(|d| d < 0)
}
