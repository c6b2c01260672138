//! The dominator tree: block `a` dominates block `b` if every path from the entry to `b` goes
//! through `a`.
//!
//! It is found by [`semi_nca`](crate::semi_nca). A preorder of the tree, with the size of each
//! subtree, then answers "does `a` dominate `b`" in O(1). Nothing is recursive, so that a chain of
//! 10⁶ blocks is no problem.

use smallvec::SmallVec;

use crate::semi_nca::{Preorder, SearchedGraph, immediate_dominators};
use crate::{Block, Function, Use, Value};

/// No place in an order.
const NONE: u32 = u32::MAX;

/// The dominator tree of the blocks that the entry reaches.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    /// Reachable blocks in preorder of the tree.
    order: Vec<Block>,
    /// By preorder number: how many blocks the subtree has, itself included.
    size: Vec<u32>,
    /// By preorder number: that of the immediate dominator; `NONE` for the entry.
    idom: Vec<u32>,
    /// Preorder numbers by [`Block::index`]; `NONE` for what is not reachable.
    pre: Vec<u32>,
}

impl DominatorTree {
    /// Computes the tree.
    pub fn compute(f: &Function) -> Self {
        let search = Search::run(f);
        let parents = immediate_dominators(&Edges { f, search: &search });
        let (n, preorder) = (search.order.len(), Preorder::of(&parents));
        let mut tree = Self {
            order: vec![Block::NONE; n],
            size: vec![0; n],
            idom: vec![NONE; n],
            pre: vec![NONE; f.block_capacity()],
        };
        for (node, &block) in search.order.iter().enumerate() {
            let place = preorder.place[node];
            if node > 0 {
                tree.idom[place as usize] = preorder.place[parents[node] as usize];
            }
            tree.order[place as usize] = block;
            tree.size[place as usize] = preorder.size[node];
            tree.pre[block.index()] = place;
        }
        tree
    }

    #[inline]
    fn pre(&self, b: Block) -> Option<u32> {
        self.pre.get(b.index()).copied().filter(|&pre| pre != NONE)
    }

    /// Returns whether the entry reaches a block. O(1).
    #[inline]
    pub fn is_reachable(&self, b: Block) -> bool {
        self.pre(b).is_some()
    }

    /// Returns whether every path from the entry to `b` goes through `a`; each block dominates
    /// itself. A block that is not reachable is dominated by every block, as no path leads to it,
    /// and dominates no reachable one. O(1).
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let Some(b) = self.pre(b) else { return true };
        let Some(a) = self.pre(a) else { return false };
        b.wrapping_sub(a) < self.size[a as usize]
    }

    /// Returns whether `a` dominates `b` and is another block. O(1).
    #[inline]
    pub fn strictly_dominates(&self, a: Block, b: Block) -> bool {
        a != b && self.dominates(a, b)
    }

    /// The immediate dominator: the nearest block that strictly dominates `b`. `None` for the
    /// entry and for what is not reachable. O(1).
    pub fn idom(&self, b: Block) -> Option<Block> {
        let idom = self.idom[self.pre(b)? as usize];
        (idom != NONE).then(|| self.order[idom as usize])
    }

    /// The blocks that `b` immediately dominates, in tree order. O(1) for each.
    pub fn children(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        let range = self.pre(b).map_or(0..0, |pre| pre + 1..pre + self.size[pre as usize]);
        let mut next = range.start;
        std::iter::from_fn(move || {
            let child = (next < range.end).then_some(next)? as usize;
            next += self.size[child];
            Some(self.order[child])
        })
    }

    /// The reachable blocks in preorder of the tree: each after its dominators.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// The nearest block that dominates both; `None` if one is not reachable. O(depth).
    pub fn common_dominator(&self, a: Block, b: Block) -> Option<Block> {
        let (mut at, b) = (self.pre(a)?, self.pre(b)?);
        while b.wrapping_sub(at) >= self.size[at as usize] {
            at = self.idom[at as usize];
        }
        Some(self.order[at as usize])
    }

    /// Returns whether a value is there when an instruction runs that stands at `at`: it is defined
    /// before it in the same block, or in a block that strictly dominates. What stands in a
    /// block that is not reachable sees everything. Both have to be live. O(1).
    ///
    /// # Panics
    /// If one of the two is a value of another function.
    #[track_caller]
    pub fn value_dominates(&self, f: &Function, value: Value, at: Value) -> bool {
        let (from, to) = (f.block_of(value), f.block_of(at));
        if from == to && self.is_reachable(to) {
            return f.comes_before(value, at);
        }
        self.dominates(from, to)
    }

    /// Returns whether a use of `value` may stand at `at`. The arguments of an edge are used at the
    /// end of the block that the edge leaves: by its terminator, not in the block that it enters.
    /// O(1).
    ///
    /// # Panics
    /// As [`DominatorTree::value_dominates`].
    #[track_caller]
    pub fn dominates_use(&self, f: &Function, value: Value, at: Use) -> bool {
        self.value_dominates(f, value, at.user)
    }
}

/// A depth-first search from the entry.
struct Search {
    /// The blocks in the order in which they were found.
    order: Vec<Block>,
    /// By place in `order`: that of the block it was found from.
    parent: Vec<u32>,
    /// Places by [`Block::index`].
    place: Vec<u32>,
}

impl Search {
    fn run(f: &Function) -> Self {
        let mut search = Self {
            order: Vec::with_capacity(f.block_count()),
            parent: Vec::with_capacity(f.block_count()),
            place: vec![NONE; f.block_capacity()],
        };
        // A block may be on the stack once for each edge; the last one to be put there is taken.
        let mut stack: Vec<(Block, u32)> = f.entry().map(|entry| (entry, 0)).into_iter().collect();
        let mut targets: SmallVec<[Block; 8]> = SmallVec::new();
        while let Some((block, parent)) = stack.pop() {
            if search.place[block.index()] != NONE {
                continue;
            }
            let place = search.order.len() as u32;
            search.place[block.index()] = place;
            search.order.push(block);
            search.parent.push(parent);
            targets.extend(
                f.successors(block).filter(|&target| {
                    f.is_live_block(target) && search.place[target.index()] == NONE
                }),
            );
            stack.extend(targets.drain(..).rev().map(|target| (target, place)));
        }
        search
    }
}

/// The edges between the blocks that were found.
struct Edges<'a> {
    f: &'a Function,
    search: &'a Search,
}

impl SearchedGraph for Edges<'_> {
    fn parents(&self) -> &[u32] {
        &self.search.parent
    }

    fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let edges = self.f.in_edges(self.search.order[node as usize]);
        edges.map(|edge| self.search.place[edge.from.index()]).filter(|&place| place != NONE)
    }
}

#[cfg(test)]
mod tests;
