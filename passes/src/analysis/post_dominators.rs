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
//! as well, so that every block has its place in the tree. On the reversed graph, semi-NCA (Loukas
//! Georgiadis: "Linear-Time Algorithms for Dominators and Related Problems", Princeton 2005,
//! section 2.3), as the dominator tree is found. Nothing is recursive.
//!
//! # Cost
//! Near linear in blocks and edges; `analysis_speed` shows it. Questions are O(1), as a preorder of
//! the tree and sizes of subtrees are kept.

use std::fmt::Write as _;

use regraft_ir::{Block, ControlFlow, Function};

use super::components::Components;
use super::printable::list;
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
        let parents = search.immediate_post_dominators(&endless);
        Self::number(f, &search.order, &parents, endless)
    }

    /// Numbers the tree whose nodes are the end (0) and the blocks `dfs[i]` (`i + 1`), given
    /// parents that come before their children.
    fn number(f: &Function, dfs: &[Block], parents: &[u32], endless: Vec<Block>) -> Self {
        let n = dfs.len();
        let mut size = vec![1u32; n + 1];
        for node in (1..=n).rev() {
            size[parents[node] as usize] += size[node];
        }
        // Preorder numbers of blocks begin at 0, as the end has none.
        let mut number = vec![0u32; n + 1];
        let mut free: Vec<u32> = vec![0; n + 1];
        let mut tree = Self {
            order: dfs.to_vec(),
            size: vec![0; n],
            parent: vec![NONE; n],
            depth: vec![1; n],
            pre: vec![NONE; f.block_capacity()],
            endless,
        };
        for node in 1..=n {
            let parent = parents[node] as usize;
            number[node] = free[parent];
            free[parent] += size[node];
            free[node] = number[node] + 1;
            let place = number[node] as usize;
            if parent > 0 {
                tree.parent[place] = number[parent];
                tree.depth[place] = tree.depth[number[parent] as usize] + 1;
            }
            tree.order[place] = dfs[node - 1];
            tree.size[place] = size[node];
            tree.pre[dfs[node - 1].index()] = place as u32;
        }
        tree
    }

    fn pre(&self, block: Block) -> Option<u32> {
        self.pre.get(block.index()).copied().filter(|&pre| pre != NONE)
    }

    /// Whether every path from `b` to the end goes through `a`; each block post-dominates itself.
    /// Nothing is said of blocks that the entry does not reach: `false`. O(1).
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

    /// How many blocks post-dominate a block, itself included; 0 if it is not reachable. O(1).
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
    pub fn roots(&self) -> impl Iterator<Item = Block> + '_ {
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
        let cfg = analyses.get::<ControlFlow>(f);
        Self::compute(f, &cfg)
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

    /// By node: that of the immediate post-dominator, which is smaller.
    fn immediate_post_dominators(&self, endless: &[Block]) -> Vec<u32> {
        let n = self.order.len() + 1;
        let mut leads_to_end = vec![false; n];
        for block in endless {
            leads_to_end[self.node[block.index()] as usize] = true;
        }
        let mut semi: Vec<u32> = (0..n as u32).collect();
        let mut forest =
            Forest { ancestor: self.parent.clone(), label: semi.clone(), path: Vec::new() };
        for node in (1..n as u32).rev() {
            let mut best = semi[node as usize];
            let mut is_end = true;
            for next in self.f.successors(self.order[node as usize - 1]) {
                is_end = false;
                best = best.min(forest.lowest(self.node[next.index()], node));
            }
            if is_end || leads_to_end[node as usize] {
                best = 0;
            }
            semi[node as usize] = best;
            forest.label[node as usize] = best;
        }
        let mut ipdom = self.parent.clone();
        for node in 1..n {
            let mut at = ipdom[node];
            while at > semi[node] {
                at = ipdom[at as usize];
            }
            ipdom[node] = at;
        }
        ipdom
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
        let (top, mut label) = (self.ancestor[at as usize], self.label[at as usize]);
        while let Some(node) = self.path.pop() {
            label = label.min(self.label[node as usize]);
            self.label[node as usize] = label;
            self.ancestor[node as usize] = top;
        }
        label
    }
}
