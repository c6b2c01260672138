//! The blocks in which arrays are given what they keep: not where it is defined, if that runs once more than what needs it.
//!
//! ```text
//! ^2(%s):                               ^2(%s):
//!   mem.store %kept, %s, %i     =>        br %more, ^3, ^4
//!   br %more, ^3, ^4                    ^3:
//! ^3:                                     mem.store %kept, %s, %i
//! ```
//!
//! The header of a loop runs a last time when the loop is left. What only the counterparts of other blocks of the loop need is kept
//! in the first of these, so that nothing stands between two iterations, and the array has no place more than there are iterations.
//!
//! # Why it is right
//! The block dominates all blocks of the forward sweep in whose counterparts the value is found, and is in the same
//! loops as the definition: an iteration in which it is found has stored it. Where a value of a loop is needed in
//! an inner one, it is found in the counterpart of a block that the inner loop is left to; all of them count as blocks in which it is found.
//!
//! # Cost
//! O(depth of the dominator tree) for each residual, and for each value that it is found from.

use regraft_ir::{Block, Value};
use regraft_passes::analysis::LoopId;
use rustc_hash::FxHashMap;

use super::{Planner, Source};

impl Planner<'_> {
    /// Returns, of values that arrays keep, the blocks in which they are stored, where that is another one than that of the
    /// definition. `asked` are the residuals, with the blocks that are reversed where they are found.
    pub(super) fn storing_blocks(&self, asked: &[(Value, Block)]) -> FxHashMap<Value, Block> {
        let kept: Vec<(Value, LoopId)> =
            self.plan.kept_in_loops().filter_map(|v| Some((v, self.loop_left_after(v)?))).collect();
        if kept.is_empty() {
            return FxHashMap::default();
        }
        let found_in = self.found_in(asked);
        let place = |(v, l)| Some((v, self.storing_block(v, l, *found_in.get(&v)?)?));
        kept.into_iter().filter_map(place).collect()
    }

    /// The innermost loop around the definition of a value that an array keeps, if that runs when the loop is left.
    fn loop_left_after(&self, v: Value) -> Option<LoopId> {
        let home = self.f.block_of(v);
        let source = self.plan.of(v).map(|known| &known.source);
        let l = self.loops.forest.loop_of(home)?;
        (matches!(source, Some(Source::CachedPerIteration { .. }))
            && self.loops.runs_in_last(l, home))
        .then_some(l)
    }

    /// The nearest blocks that dominate all those in whose counterparts values are found.
    fn found_in(&self, asked: &[(Value, Block)]) -> FxHashMap<Value, Block> {
        let dom = &self.loops.dom;
        let mut found_in: FxHashMap<Value, Block> = FxHashMap::default();
        let mut pending: Vec<(Value, Block)> = asked.to_vec();
        while let Some((v, block)) = pending.pop() {
            let before = found_in.get(&v).copied();
            let mut all = before.into_iter().chain(self.left_to(v, block));
            let above = all.try_fold(block, |above, other| dom.common_dominator(above, other));
            let Some(above) = above.filter(|_| above != before) else { continue };
            found_in.insert(v, above);
            let from = match self.plan.of(v).map(|decision| &decision.source) {
                Some(&Source::Made((block, _))) => block,
                _ => above,
            };
            pending.extend(self.found_from(v).into_iter().map(|part| (part, from)));
        }
        found_in
    }

    /// The blocks to which the outermost loop is left that is around a block but not around the definition of `v`.
    fn left_to(&self, v: Value, block: Block) -> impl Iterator<Item = Block> {
        let (f, forest) = (self.f, &self.loops.forest);
        let home = f.block_of(v);
        let inner = self.loops.around(block).take_while(move |&l| !forest.contains(l, home)).last();
        let exits = inner.into_iter().flat_map(move |l| &forest.get(l).exits);
        let targets = exits.map(move |exit| f.edge_target(exit.edge(f)));
        targets.filter(move |&target| self.loops.dom.dominates(home, target))
    }

    /// The first block between the definition of a value and `last` that does not run when their loop is left.
    fn storing_block(&self, v: Value, l: LoopId, last: Block) -> Option<Block> {
        let (home, loops) = (self.f.block_of(v), self.loops);
        if !loops.dom.dominates(home, last) {
            return None;
        }
        let is_of_loop = |&block: &Block| loops.forest.loop_of(block) == Some(l);
        let between = std::iter::successors(Some(last), |&at| loops.dom.idom(at));
        let between = between.take_while(|&at| at != home).filter(is_of_loop);
        between.filter(|&at| !loops.is_irregular(at) && !loops.runs_in_last(l, at)).last()
    }
}
