//! The dominator tree: block `a` dominates block `b` if every path from the entry to `b` goes
//! through `a`.
//!
//! Semi-NCA (Loukas Georgiadis: "Linear-Time Algorithms for Dominators and Related Problems",
//! Princeton 2005, section 2.3): semidominators as in Lengauer and Tarjan, with path
//! compression, then the nearest common ancestor of the depth-first parent and the
//! semidominator. O(n²) in the worst case, near linear on every graph that programs have. A
//! preorder of the tree, with the size of each subtree, then answers "does `a` dominate `b`" in
//! O(1). Nothing is recursive, so that a chain of 10⁶ blocks is no problem.

use smallvec::SmallVec;

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
        let idom = search.immediate_dominators(f);
        Self::number(f, &search.order, &idom)
    }

    /// Numbers the tree whose nodes are the places in `dfs`, given parents that come before
    /// their children.
    fn number(f: &Function, dfs: &[Block], parents: &[u32]) -> Self {
        let n = dfs.len();
        let mut size = vec![1u32; n];
        for node in (1..n).rev() {
            size[parents[node] as usize] += size[node];
        }
        // A child's number follows that of its parent and of the subtrees of earlier children.
        let mut number = vec![0u32; n];
        let mut free: Vec<u32> = vec![1; n];
        let mut tree = Self {
            order: vec![Block::NONE; n],
            size: vec![0; n],
            idom: vec![NONE; n],
            pre: vec![NONE; f.block_capacity()],
        };
        for node in 0..n {
            if node > 0 {
                let parent = parents[node] as usize;
                number[node] = free[parent];
                free[parent] += size[node];
                free[node] = number[node] + 1;
                tree.idom[number[node] as usize] = number[parent];
            }
            let place = number[node] as usize;
            tree.order[place] = dfs[node];
            tree.size[place] = size[node];
            tree.pre[dfs[node].index()] = place as u32;
        }
        tree
    }

    #[inline]
    fn pre(&self, b: Block) -> Option<u32> {
        self.pre.get(b.index()).copied().filter(|&pre| pre != NONE)
    }

    /// Whether the entry reaches a block. O(1).
    #[inline]
    pub fn is_reachable(&self, b: Block) -> bool {
        self.pre(b).is_some()
    }

    /// Whether every path from the entry to `b` goes through `a`; each block dominates itself.
    /// A block that is not reachable is dominated by every block, as no path leads to it, and
    /// dominates no reachable one. O(1).
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let Some(b) = self.pre(b) else { return true };
        let Some(a) = self.pre(a) else { return false };
        b.wrapping_sub(a) < self.size[a as usize]
    }

    /// Whether `a` dominates `b` and is another block. O(1).
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

    /// Whether a value is there when an instruction runs that stands at `at`: it is defined
    /// before it in the same block, or in a block that strictly dominates. What stands in a
    /// block that is not reachable sees everything. Both have to be live. O(1).
    ///
    /// # Panics
    /// If one of the two is a value of another function.
    pub fn value_dominates(&self, f: &Function, value: Value, at: Value) -> bool {
        let (from, to) = (f.block_of(value), f.block_of(at));
        if from == to && self.is_reachable(to) {
            return f.comes_before(value, at);
        }
        self.dominates(from, to)
    }

    /// Whether a use of `value` may stand at `at`. The arguments of an edge are used at the end of
    /// the block that the edge leaves: by its terminator, not in the block that it enters. O(1).
    ///
    /// # Panics
    /// As [`DominatorTree::value_dominates`].
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

    /// By place: the place of the immediate dominator, which is smaller.
    fn immediate_dominators(&self, f: &Function) -> Vec<u32> {
        let n = self.order.len();
        let mut semi: Vec<u32> = (0..n as u32).collect();
        let mut forest =
            Forest { ancestor: self.parent.clone(), label: semi.clone(), path: Vec::new() };
        for node in (1..n as u32).rev() {
            let mut best = semi[node as usize];
            for edge in f.in_edges(self.order[node as usize]) {
                let pred = self.place[edge.from.index()];
                if pred != NONE {
                    best = best.min(forest.lowest(pred, node));
                }
            }
            semi[node as usize] = best;
            forest.label[node as usize] = best;
        }
        let mut idom = self.parent.clone();
        for node in 1..n {
            let mut at = idom[node];
            while at > semi[node] {
                at = idom[at as usize];
            }
            idom[node] = at;
        }
        idom
    }
}

/// Paths of the depth-first tree, compressed.
struct Forest {
    ancestor: Vec<u32>,
    /// The smallest semidominator on the path to `ancestor`, which is left out. Nodes that are
    /// not processed yet have themselves.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The smallest semidominator on the way from `from` up through the nodes that are
    /// processed: those greater than `last`. A node that is not processed stands for itself.
    fn lowest(&mut self, from: u32, last: u32) -> u32 {
        if from <= last {
            return from;
        }
        let mut at = from;
        while self.ancestor[at as usize] > last {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        // `at` is the topmost processed node; everything below is linked to its ancestor.
        let (top, mut label) = (self.ancestor[at as usize], self.label[at as usize]);
        while let Some(node) = self.path.pop() {
            label = label.min(self.label[node as usize]);
            self.label[node as usize] = label;
            self.ancestor[node as usize] = top;
        }
        label
    }
}

#[cfg(test)]
mod tests;
