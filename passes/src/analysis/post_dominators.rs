//! The post-dominator tree: block `a` post-dominates block `b` if every path from `b` to the end
//! goes through `a`.
//!
//! ```text
//! ^1: br %1, ^2, ^3          ^4 post-dominates ^1, ^2, ^3, and itself
//! ^2: br ^4
//! ^3: br ^4
//! ^4: return nothing
//! ```
//!
//! # Method
//! The end is a node of its own that all blocks without a successor lead to. Where no such block
//! is reached, control stays forever: of each cycle that is never left (a strongly connected
//! component without a way out), the last block in reverse postorder is taken to lead to the end
//! as well, so that every block has its place in the tree. It is that of the dominators of the
//! reversed graph, which [`semi_nca`] finds. Nothing is recursive.
//!
//! # Cost
//! Near linear in blocks and edges; `analysis_speed` shows it. Questions are O(1), as a preorder of
//! the tree and sizes of subtrees are kept.

use std::fmt::Write as _;

use regraft_ir::semi_nca::{self, Preorder, SearchedGraph};
use regraft_ir::{Block, ControlFlow, Function};

use super::block_list::list;
use super::components::Components;
use super::{Analyses, Analysis, Facets};

/// No place in an order.
const NONE: u32 = u32::MAX;

/// The post-dominator tree of the blocks that the entry reaches. Its root is the end, which is no
/// block.
#[derive(Clone, Debug)]
pub struct PostDominatorTree {
    /// The blocks in preorder of the tree.
    order: Vec<Block>,
    /// By preorder number: how many blocks the subtree has, itself included.
    size: Vec<u32>,
    /// By preorder number: that of the immediate post-dominator; `NONE` if that is the end.
    parent: Vec<u32>,
    /// By preorder number: how many blocks post-dominate it, itself included.
    depth: Vec<u32>,
    /// Preorder numbers by [`Block::index`]; `NONE` for what is not reachable.
    pre: Vec<u32>,
    /// Blocks of endless cycles that are taken to lead to the end.
    endless: Vec<Block>,
}

impl PostDominatorTree {
    /// Computes the tree. Near linear.
    pub fn compute(f: &Function, cfg: &ControlFlow) -> Self {
        let mut search = Search::new(f, cfg);
        let endless = search.run();
        let parents = semi_nca::immediate_dominators(&Reversed::new(&search, &endless));
        let (n, preorder) = (search.order.len(), Preorder::of(&parents));
        // Node 0, which is the end, is no block: those have the places after it.
        let place = |node: usize| (preorder.place[node] - 1) as usize;
        let mut tree = Self {
            order: search.order.clone(),
            size: vec![0; n],
            parent: vec![NONE; n],
            depth: vec![1; n],
            pre: vec![NONE; f.block_capacity()],
            endless,
        };
        for (i, &block) in search.order.iter().enumerate() {
            let (node, parent) = (i + 1, parents[i + 1] as usize);
            let at = place(node);
            if parent > 0 {
                tree.parent[at] = place(parent) as u32;
                tree.depth[at] = tree.depth[place(parent)] + 1;
            }
            tree.order[at] = block;
            tree.size[at] = preorder.size[node];
            tree.pre[block.index()] = at as u32;
        }
        tree
    }

    fn pre(&self, block: Block) -> Option<u32> {
        self.pre.get(block.index()).copied().filter(|&pre| pre != NONE)
    }

    /// Returns whether every path from `b` to the end goes through `a`; each block post-dominates
    /// itself. Nothing is said of blocks that the entry does not reach: `false`. O(1).
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        let (Some(a), Some(b)) = (self.pre(a), self.pre(b)) else { return false };
        b.wrapping_sub(a) < self.size[a as usize]
    }

    /// The immediate post-dominator: the first block that every path from `block` to the end goes
    /// through after it. `None` if that is the end itself, or if `block` is not reachable. O(1).
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        let parent = self.parent[self.pre(block)? as usize];
        (parent != NONE).then(|| self.order[parent as usize])
    }

    /// Returns how many blocks post-dominate a block, itself included; 0 if it is not reachable.
    /// O(1).
    pub fn depth(&self, block: Block) -> u32 {
        self.pre(block).map_or(0, |pre| self.depth[pre as usize])
    }

    /// The places in [`PostDominatorTree::order`] of the blocks that `block` post-dominates, its own
    /// first. O(1).
    pub fn subtree(&self, block: Block) -> std::ops::Range<usize> {
        let Some(pre) = self.pre(block) else { return 0..0 };
        pre as usize..(pre + self.size[pre as usize]) as usize
    }

    /// The reachable blocks in preorder of the tree: each after those that post-dominate it.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// The blocks that have no immediate post-dominator, in tree order: what ends the function,
    /// and where paths to different ends part.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Block> + '_ {
        self.siblings(0..self.order.len())
    }

    /// The blocks that `block` immediately post-dominates, in tree order. O(1) for each.
    pub fn children(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let subtree = self.subtree(block);
        self.siblings((subtree.start + 1).min(subtree.end)..subtree.end)
    }

    fn siblings(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Block> + '_ {
        let mut next = range.start;
        std::iter::from_fn(move || {
            let at = (next < range.end).then_some(next)?;
            next += self.size[at] as usize;
            Some(self.order[at])
        })
    }

    /// For each cycle that is never left, the block that is taken to lead to the end.
    pub fn endless(&self) -> &[Block] {
        &self.endless
    }

    /// The tree as text: what each block that is no leaf immediately post-dominates.
    pub fn describe(&self, _: &Function) -> String {
        let mut out = format!("the end post-dominates {}\n", list(self.roots()));
        for &block in self.order.iter().filter(|&&block| self.subtree(block).len() > 1) {
            let _ = writeln!(out, "{block} post-dominates {}", list(self.children(block)));
        }
        if !self.endless.is_empty() {
            let _ = writeln!(out, "endless: {}", list(self.endless.iter().copied()));
        }
        out
    }
}

impl Analysis for PostDominatorTree {
    const NAME: &'static str = "post-dominator tree";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f))
    }
}

/// A depth-first search from the end, against the edges.
struct Search<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    /// The blocks in the order in which they were found; node `i + 1` is `order[i]`.
    order: Vec<Block>,
    /// By node: the node it was found from.
    parent: Vec<u32>,
    /// Nodes by [`Block::index`].
    node: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(f: &'a Function, cfg: &'a ControlFlow) -> Self {
        let node = vec![NONE; f.block_capacity()];
        Self { f, cfg, order: Vec::with_capacity(cfg.reachable_count()), parent: vec![0], node }
    }

    /// Finds all blocks. Returns those of endless cycles that it began from.
    fn run(&mut self) -> Vec<Block> {
        let f = self.f;
        for block in self.cfg.reverse_postorder() {
            if f.successors(block).next().is_none() {
                self.walk(block);
            }
        }
        if self.order.len() == self.cfg.reachable_count() {
            return Vec::new();
        }
        let left: Vec<Block> =
            self.cfg.reverse_postorder().filter(|b| self.node[b.index()] == NONE).collect();
        let mut endless = Vec::new();
        // A component comes after those that it leads to: if one of those is marked, it has a way
        // out of itself, and the walk from there has found it.
        for component in Components::new(f).among(&left) {
            let last = component.into_iter().max_by_key(|&block| self.cfg.rpo_index(block));
            if let Some(last) = last.filter(|last| self.node[last.index()] == NONE) {
                endless.push(last);
                self.walk(last);
            }
        }
        endless
    }

    /// Finds what leads to `start`.
    fn walk(&mut self, start: Block) {
        let mut stack = vec![(start, 0)];
        while let Some((block, parent)) = stack.pop() {
            if self.node[block.index()] != NONE {
                continue;
            }
            self.order.push(block);
            let node = self.order.len() as u32;
            self.node[block.index()] = node;
            self.parent.push(parent);
            // In layout order, so that nothing depends on the order of use lists.
            let preds = self.f.predecessors(block).into_iter().rev();
            let unseen = preds
                .filter(|&pred| self.cfg.is_reachable(pred) && self.node[pred.index()] == NONE);
            stack.extend(unseen.map(|pred| (pred, node)));
        }
    }
}

/// The edges between the blocks that were found, reversed.
struct Reversed<'a> {
    search: &'a Search<'a>,
    /// By node: whether it is taken to lead to the end.
    leads_to_end: Vec<bool>,
}

impl<'a> Reversed<'a> {
    fn new(search: &'a Search<'a>, endless: &[Block]) -> Self {
        let mut leads_to_end = vec![false; search.order.len() + 1];
        for block in endless {
            leads_to_end[search.node[block.index()] as usize] = true;
        }
        Self { search, leads_to_end }
    }
}

impl SearchedGraph for Reversed<'_> {
    fn parents(&self) -> &[u32] {
        &self.search.parent
    }

    fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.search.f.successors(self.search.order[node as usize - 1]).peekable();
        let end = self.leads_to_end[node as usize] || next.peek().is_none();
        next.map(|next| self.search.node[next.index()]).chain(end.then_some(0))
    }
}
