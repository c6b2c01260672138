//! Control dependence: which branches decide whether a block runs.
//!
//! A block depends on a branch if one way of the branch always leads to it and another one need not
//! (Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization",
//! 1987): it post-dominates a successor of the branch, and does not strictly post-dominate the
//! block of the branch. So an edge `a -> s` decides on the blocks of the tree path from `s` up to
//! the immediate post-dominator of `a`, which is left out.
//!
//! # Method
//! The list of all dependences can be quadratic (each level of a nest depends on those around it).
//! [`Controllers`] therefore gives each branch out once, when the first of the blocks that depend
//! on it is asked for: edges stand in the order of the tree numbers of their targets, and a tree of
//! minima over them finds, among those with a target in the subtree of the block, one whose path
//! ends above it.
//!
//! # Cost
//! O(log edges) for each block asked for and each branch given out.

use regraft_ir::{Block, ControlFlow, Function};

use super::PostDominatorTree;

/// Gives out the branches on which blocks depend, each branch at most once for each of its edges.
pub(crate) struct Controllers<'a> {
    tree: &'a PostDominatorTree,
    /// The edges of branches, by the tree number of their targets: that number, and the source.
    edges: Vec<(usize, Block)>,
    /// A heap-ordered tree of minima over the edges: the depth at which the path of an edge ends,
    /// `u32::MAX` if it is given out.
    lowest: Vec<u32>,
    /// The number of leaves of `lowest`: a power of two.
    leaves: usize,
}

impl<'a> Controllers<'a> {
    /// Considers the branches that can be reached. O(blocks + edges log edges).
    pub(crate) fn new(f: &Function, cfg: &ControlFlow, tree: &'a PostDominatorTree) -> Self {
        let mut edges: Vec<(usize, Block)> = Vec::new();
        for block in cfg.reverse_postorder() {
            if f.successors(block).nth(1).is_some() {
                edges.extend(f.successors(block).map(|next| (tree.subtree(next).start, block)));
            }
        }
        edges.sort_by_key(|&(place, _)| place);
        let leaves = edges.len().next_power_of_two();
        let mut lowest = vec![u32::MAX; 2 * leaves];
        for (i, &(_, block)) in edges.iter().enumerate() {
            lowest[leaves + i] = tree.ipdom(block).map_or(0, |above| tree.depth(above));
        }
        for i in (1..leaves).rev() {
            lowest[i] = lowest[2 * i].min(lowest[2 * i + 1]);
        }
        Self { tree, edges, lowest, leaves }
    }

    /// A block whose branch decides whether `block` runs, if there is one that was not given out.
    pub(crate) fn next(&mut self, block: Block) -> Option<Block> {
        let (subtree, depth) = (self.tree.subtree(block), self.tree.depth(block));
        let start = self.edges.partition_point(|&(place, _)| place < subtree.start);
        let end = self.edges.partition_point(|&(place, _)| place < subtree.end);
        // The nodes that together cover the edges from `start` to `end`.
        let (mut low, mut high) = (start + self.leaves, end + self.leaves);
        let mut found = None;
        while low < high && found.is_none() {
            if low & 1 == 1 {
                found = (self.lowest[low] < depth).then_some(low);
                low += 1;
            }
            if found.is_none() && high & 1 == 1 {
                high -= 1;
                found = (self.lowest[high] < depth).then_some(high);
            }
            (low, high) = (low / 2, high / 2);
        }
        let mut node = found?;
        while node < self.leaves {
            node = if self.lowest[2 * node] < depth { 2 * node } else { 2 * node + 1 };
        }
        let source = self.edges[node - self.leaves].1;
        self.lowest[node] = u32::MAX;
        while node > 1 {
            node /= 2;
            self.lowest[node] = self.lowest[2 * node].min(self.lowest[2 * node + 1]);
        }
        Some(source)
    }
}
