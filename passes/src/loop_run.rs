//! The order in which loop passes see the loops of a function.
//!
//! The **height** of a loop is how deep loops are nested within it: 0 for an innermost one.
//! Loops of one height are disjoint, so that a pass can be given all of them at once, and what it
//! computes from the function it computes once for them; loops are visited height after height,
//! so that what is left of inner loops is known when the ones around them are looked at.
//!
//! ```text
//! loop ^2            height 1
//!   loop ^3          height 0, visited first, with ^5
//! loop ^5            height 0
//! ```
//!
//! # Method
//! The heights are those that the loops have when the walk begins. A loop is known by its header.
//! What a pass makes of the loops that it was given (a loop whose header is another block, a
//! second copy of it) belongs with them from then on: the passes after it in the same `loop(..)`
//! see that too, and passes that come back to greater heights do not see it again. So every walk
//! ends, whatever a pass does.
//!
//! # Cost
//! O(blocks) for each pass and height, and one loop forest for each change of the graph.

use regraft_ir::{Block, Function};

use crate::analysis::{Analyses, LoopForest};

/// The headers of all loops in the order in which a walk comes to them: by height, and those of
/// one height in layout order. O(loops × log loops).
pub(crate) fn by_nesting_depth(f: &Function, forest: &LoopForest) -> Vec<Block> {
    let heights = nesting_depths(forest);
    let mut headers: Vec<(usize, Block)> =
        forest.loops().map(|id| (heights[id.index()], forest.get(id).header)).collect();
    headers.sort_by(|&(i, a), &(j, b)| {
        i.cmp(&j).then_with(|| f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b)))
    });
    headers.into_iter().map(|(_, header)| header).collect()
}

/// By loop: how deep loops are nested within it.
fn nesting_depths(forest: &LoopForest) -> Vec<usize> {
    let mut heights = vec![0; forest.len()];
    for id in forest.innermost_first() {
        if let Some(parent) = forest.get(id).parent {
            let above = heights[id.index()] + 1;
            heights[parent.index()] = above.max(heights[parent.index()]);
        }
    }
    heights
}

/// A walk over the loops of a function, height after height.
pub(crate) struct LoopWalk {
    /// The function object that the headers belong to.
    lineage: u64,
    /// The headers of the loops that have not been visited, by height, the greatest first.
    heights: Vec<Vec<Block>>,
    /// By [`Block::index`], whether a loop is not to be visited (yet, or again).
    barred: Vec<bool>,
}

impl LoopWalk {
    /// A walk over all loops, before the first height.
    pub(crate) fn new(f: &Function, analyses: &mut Analyses) -> Self {
        let forest = analyses.get::<LoopForest>(f);
        let mut heights: Vec<Vec<Block>> = Vec::new();
        let mut barred = vec![false; f.block_capacity()];
        let own = self::nesting_depths(&forest);
        for id in forest.innermost_first() {
            let (own, header) = (own[id.index()], forest.get(id).header);
            if heights.len() <= own {
                heights.resize(own + 1, Vec::new());
            }
            heights[own].push(header);
            barred[header.index()] = true;
        }
        heights.reverse();
        Self { lineage: f.stamp().lineage, heights, barred }
    }

    /// Goes on to the next height. Says whether there is one.
    pub(crate) fn advance(&mut self, f: &Function, analyses: &mut Analyses) -> bool {
        if self.heights.is_empty() {
            return false;
        }
        // What the passes made of the loops of this height has been visited with them.
        let forest = analyses.get::<LoopForest>(f);
        for id in forest.loops() {
            self.bar(forest.get(id).header, true);
        }
        let Some(headers) = self.heights.pop() else { return false };
        for &block in &headers {
            self.bar(block, false);
        }
        true
    }

    /// The headers of the loops of this height as they are now, in layout order: what passes made
    /// of them included, those left out that are no loops any more.
    pub(crate) fn loops(&self, f: &Function, analyses: &mut Analyses) -> Vec<Block> {
        let mut headers = Vec::new();
        if f.stamp().lineage != self.lineage {
            return headers;
        }
        let forest = analyses.get::<LoopForest>(f);
        // Of nested loops, which only the copy of a nest can bring about, the outermost is taken.
        let mut outer = None;
        for id in forest.loops() {
            let header = forest.get(id).header;
            let barred = self.barred.get(header.index()) == Some(&true);
            if !barred && !outer.is_some_and(|outer| forest.encloses(outer, id)) {
                headers.push(header);
                outer = Some(id);
            }
        }
        headers.sort_by(|&a, &b| f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b)));
        headers
    }

    fn bar(&mut self, block: Block, barred: bool) {
        if self.barred.len() <= block.index() {
            self.barred.resize(block.index() + 1, false);
        }
        self.barred[block.index()] = barred;
    }
}
