//! Iterated dominance frontiers: the blocks where the definitions of a variable meet, one variable
//! at a time.
//!
//! # Method
//! An edge joins paths if its source is not the immediate dominator of its target. What is defined in
//! a block meets something else at the targets of those join edges that leave the blocks which it
//! dominates, and whose targets are no deeper in the dominator tree than it is itself; each of
//! these defines the variable anew. Blocks are taken up deepest first, so that no part of the tree
//! is looked at twice (Sreedhar and Gao, "A Linear Time Algorithm for Placing φ-Nodes", POPL 1995).
//! The blocks that one dominates stand together in preorder of the tree, and so do the join edges
//! that leave them: a segment tree with the least depth of a target finds those that count without
//! a look at the others.
//!
//! # Cost
//! O(blocks + edges) once. For a variable O((definitions + edges into the blocks found) × log
//! edges), however large the function is.

use crate::analysis::block_list::places;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use regraft_ir::{Block, DominatorTree, Function};
use rustc_hash::FxHashSet;

/// No depth.
const NONE: u32 = u32::MAX;

/// The place of a block in preorder of the dominator tree. The blocks that it dominates follow it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place(u32);

/// The join edges of a function, and where its blocks stand in the dominator tree.
#[derive(Debug)]
pub(super) struct Joins<'a> {
    /// The reachable blocks by place.
    order: &'a [Block],
    /// By [`Block::index`].
    places: Vec<u32>,
    /// By place: where the blocks end that the block dominates.
    ends: Vec<u32>,
    /// By place: how many blocks dominate the block strictly.
    depths: Vec<u32>,
    /// The join edges by the place of their source.
    edges: Vec<Edge>,
    /// A segment tree over the edges: the least depth of a target below each node.
    least: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    source: u32,
    target: u32,
}

impl<'a> Joins<'a> {
    /// Finds the join edges. O(blocks + edges).
    pub(super) fn new(f: &Function, tree: &'a DominatorTree) -> Self {
        let order = tree.order();
        let places = places(f, order);
        let parent = |block| tree.idom(block).map(|idom| places[idom.index()]);
        let mut depths = vec![0; order.len()];
        let mut ends: Vec<u32> = (1..=order.len() as u32).collect();
        for (place, &block) in order.iter().enumerate() {
            depths[place] = parent(block).map_or(0, |parent| depths[parent as usize] + 1);
        }
        for (place, &block) in order.iter().enumerate().rev() {
            if let Some(parent) = parent(block) {
                ends[parent as usize] = ends[parent as usize].max(ends[place]);
            }
        }
        let mut edges = Vec::new();
        for (source, &block) in order.iter().enumerate() {
            for target in f.successors(block).filter(|&target| tree.idom(target) != Some(block)) {
                edges.push(Edge { source: source as u32, target: places[target.index()] });
            }
        }
        let width = edges.len().next_power_of_two();
        let mut least = vec![NONE; 2 * width];
        for (leaf, edge) in least[width..].iter_mut().zip(&edges) {
            *leaf = depths[edge.target as usize];
        }
        for node in (1..width).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Self { order, places, ends, depths, edges, least }
    }

    /// The place of a reachable block.
    pub(super) fn place(&self, block: Block) -> Place {
        Place(self.places[block.index()])
    }

    /// The block at a place.
    pub(super) fn block(&self, place: Place) -> Block {
        self.order[place.0 as usize]
    }

    /// Returns whether the block at `above` dominates the one at `place`, of two of which the
    /// latter comes no earlier.
    pub(super) fn still_dominates(&self, above: Place, place: Place) -> bool {
        place.0 < self.ends[above.0 as usize]
    }

    /// The blocks at which definitions meet, in no particular order: the iterated dominance frontier
    /// of `defs`, of which the first one dominates all others, as far as it strictly dominates the
    /// frontier.
    pub(super) fn frontier(&self, home: Place, defs: impl Iterator<Item = Place>) -> Vec<Place> {
        let depth = |place: u32| self.depths[place as usize];
        let mut known: FxHashSet<u32> = FxHashSet::default();
        let mut pending: BinaryHeap<(u32, u32)> = BinaryHeap::new();
        for Place(def) in defs {
            if known.insert(def) {
                pending.push((depth(def), def));
            }
        }
        // Parts of the tree that were looked at: their beginnings and ends.
        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        let mut found: FxHashSet<u32> = FxHashSet::default();
        while let Some((limit, at)) = pending.pop() {
            let end = self.ends[at as usize];
            let mut from = at;
            while from < end {
                let next = seen.range(from..end).next().map(|(&start, &end)| (start, end));
                let to = next.map_or(end, |(start, _)| start);
                for target in self.targets(from..to, limit) {
                    if depth(target) > depth(home.0) && found.insert(target) && known.insert(target)
                    {
                        pending.push((depth(target), target));
                    }
                }
                if let Some((start, _)) = next {
                    seen.remove(&start);
                }
                from = next.map_or(end, |(_, end)| end);
            }
            seen.insert(at, end);
        }
        found.into_iter().map(Place).collect()
    }

    /// The targets of depth `limit` at most of the join edges that leave blocks at these places.
    fn targets(&self, from: Range<u32>, limit: u32) -> impl Iterator<Item = u32> + '_ {
        let index = |place: u32| self.edges.partition_point(|edge| edge.source < place);
        let (mut next, end) = (index(from.start), index(from.end));
        std::iter::from_fn(move || {
            next = (next < end).then(|| self.next_within(next, limit)).flatten()?;
            let target = self.edges.get(next).filter(|_| next < end)?.target;
            next += 1;
            Some(target)
        })
    }

    /// The first edge from number `from` on whose target has this depth at most.
    fn next_within(&self, from: usize, limit: u32) -> Option<usize> {
        let width = self.least.len() / 2;
        let mut node = width + from;
        while self.least[node] > limit {
            // The tree to the right of this one.
            node = (node + 1) >> (node + 1).trailing_zeros();
            if node == 1 {
                return None;
            }
        }
        while node < width {
            node *= 2;
            node += usize::from(self.least[node] > limit);
        }
        Some(node - width)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use regraft_dialects::{cf, context};
    use regraft_ir::{Context, Inst, Operand, Type};

    use super::*;

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) % n as u64) as usize
        }
    }

    /// A function of up to 14 blocks that go anywhere, many of them in irreducible cycles.
    fn graph(ctx: &Arc<Context>, random: &mut Random) -> Function {
        let mut f = Function::new(ctx, "f", &[], Type::UNIT);
        let count = random.below(14);
        let blocks: Vec<Block> = f.entry().into_iter().collect();
        let blocks: Vec<Block> =
            blocks.into_iter().chain((0..count).map(|_| f.add_block())).collect();
        let [yes, nothing] = [f.constant_id(true), f.constant_id(regraft_ir::Constant::Unit)];
        for &block in &blocks {
            let [a, b] = [(); 2].map(|()| blocks[random.below(blocks.len())]);
            let none = [] as [Operand; 0];
            let inst = match random.below(9) {
                0 => Inst::new(cf::RETURN).operand(nothing),
                1 | 2 => cf::br(a, none),
                _ => cf::br_if(yes, a, none, b, none),
            };
            f.set_terminator(block, inst).expect("it fits");
        }
        f
    }

    /// The iterated dominance frontier by its definition: `y` is in that of `x` if `x` dominates a
    /// predecessor of `y`, but not `y` strictly.
    fn by_definition(
        f: &Function,
        tree: &DominatorTree,
        home: Block,
        defs: &[Block],
    ) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        loop {
            let meets = |&y: &Block| {
                let joins = |&x: &Block| {
                    let mut preds = f.in_edges(y).filter(|edge| tree.is_reachable(edge.from));
                    !tree.strictly_dominates(x, y) && preds.any(|edge| tree.dominates(x, edge.from))
                };
                !found.contains(&y)
                    && tree.strictly_dominates(home, y)
                    && defs.iter().chain(&found).any(joins)
            };
            let new: Vec<Block> = tree.order().iter().copied().filter(meets).collect();
            if new.is_empty() {
                found.sort_unstable();
                return found;
            }
            found.extend(new);
        }
    }

    #[test]
    fn frontiers_of_random_graphs_are_what_their_definition_says() {
        let mut random = Random(7);
        let ctx = context();
        let mut total = 0;
        for _ in 0..1_000 {
            let f = graph(&ctx, &mut random);
            let tree = DominatorTree::compute(&f);
            let joins = Joins::new(&f, &tree);
            let order = tree.order();
            let home = order[[0, random.below(order.len())][random.below(2)]];
            let mut defs = vec![home];
            for _ in 0..random.below(4) {
                let block = order[random.below(order.len())];
                defs.extend(Some(block).filter(|&block| tree.dominates(home, block)));
            }
            let places = defs.iter().map(|&def| joins.place(def));
            let found = joins.frontier(joins.place(home), places);
            let mut found: Vec<Block> = found.into_iter().map(|place| joins.block(place)).collect();
            found.sort_unstable();
            assert_eq!(found, by_definition(&f, &tree, home, &defs), "{home}, {defs:?}\n{f}");
            total += found.len();
        }
        assert!(total > 300, "{total} joins");
    }
}
