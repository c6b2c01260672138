//! The order in which loop passes see the loops of a function.
//!
//! The **nesting depth** of a loop, here, is how deep loops are nested within it: 0 for an
//! innermost one. Loops of one depth are disjoint, so that a pass can be given all of them at once,
//! and what it computes from the function it computes once for them; loops are visited depth after
//! depth, so that what is left of inner loops is known when the ones around them are looked at.
//!
//! ```text
//! loop ^2            depth 1
//!   loop ^3          depth 0, visited first, with ^5
//! loop ^5            depth 0
//! ```
//!
//! # Method
//! The depths are those that the loops have when the walk begins. A loop is known by its header.
//! What a pass makes of the loops that it was given (a loop whose header is another block, a
//! second copy of it) belongs with them from then on: the passes after it in the same `loop(..)`
//! see that too, and passes that come back to greater depths do not see it again. So every walk
//! ends, whatever a pass does.
//!
//! # Cost
//! O(blocks) for each pass and depth, and one loop forest for each change of the graph.

use regraft_ir::{Block, Function};

use crate::analysis::{Analyses, LoopForest};

/// The headers of all loops in the order in which a walk comes to them: by depth, and those of
/// one depth in layout order. O(loops × log loops).
pub(crate) fn by_nesting_depth(f: &Function, forest: &LoopForest) -> Vec<Block> {
    let depths = nesting_depths(forest);
    let mut headers: Vec<(usize, Block)> =
        forest.loops().map(|id| (depths[id.index()], forest.get(id).header)).collect();
    headers.sort_by(|&(i, a), &(j, b)| {
        i.cmp(&j).then_with(|| f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b)))
    });
    headers.into_iter().map(|(_, header)| header).collect()
}

/// By loop: how deep loops are nested within it.
fn nesting_depths(forest: &LoopForest) -> Vec<usize> {
    let mut depths = vec![0; forest.len()];
    for id in forest.innermost_first() {
        if let Some(parent) = forest.get(id).parent {
            let above = depths[id.index()] + 1;
            depths[parent.index()] = above.max(depths[parent.index()]);
        }
    }
    depths
}

/// A walk over the loops of a function, depth after depth.
pub(crate) struct LoopWalk {
    /// The function object that the headers belong to.
    lineage: u64,
    /// The headers of the loops that have not been visited, by depth, the greatest first.
    depths: Vec<Vec<Block>>,
    /// By [`Block::index`], whether a loop is not to be visited (yet, or again).
    barred: Vec<bool>,
}

impl LoopWalk {
    /// A walk over all loops, before the first depth.
    pub(crate) fn new(f: &Function, analyses: &mut Analyses) -> Self {
        let forest = analyses.get::<LoopForest>(f);
        let mut depths: Vec<Vec<Block>> = Vec::new();
        let mut barred = vec![false; f.block_capacity()];
        let own = self::nesting_depths(&forest);
        for id in forest.innermost_first() {
            let (own, header) = (own[id.index()], forest.get(id).header);
            if depths.len() <= own {
                depths.resize(own + 1, Vec::new());
            }
            depths[own].push(header);
            barred[header.index()] = true;
        }
        depths.reverse();
        Self { lineage: f.stamp().lineage, depths, barred }
    }

    /// Goes on to the next depth. Says whether there is one.
    pub(crate) fn advance(&mut self, f: &Function, analyses: &mut Analyses) -> bool {
        if self.depths.is_empty() {
            return false;
        }
        // What the passes made of the loops of this depth has been visited with them.
        let forest = analyses.get::<LoopForest>(f);
        for id in forest.loops() {
            self.bar(forest.get(id).header, true);
        }
        let Some(headers) = self.depths.pop() else { return false };
        for &block in &headers {
            self.bar(block, false);
        }
        true
    }

    /// The headers of the loops of this depth as they are now, in layout order: what passes made
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
