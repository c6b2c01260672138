//! An order of blocks with scopes, as for a machine that can only leave and repeat scopes (compare
//! `CFGStackify` of LLVM's WebAssembly backend).
//!
//! Each loop stands together, its header first; otherwise a block comes after those that lead to
//! it. A scope for jumps forward to a block begins at the first block that jumps there, or further
//! up, so that scopes are nested in each other and in loops: at the header of the outermost loop
//! that such a jump leaves, and at the beginning of scopes that it would cross.

use regraft_ir::{Block, DominatorTree, Function};

use crate::analysis::LoopForest;

/// An order of the blocks, and where scopes begin and end.
#[derive(Clone, Default, Debug)]
pub struct Scopes {
    order: Vec<Block>,
    forward: Vec<(Block, Block)>,
    back: Vec<(Block, Block)>,
    irreducible: Vec<(Block, Block)>,
}

impl Scopes {
    pub(super) fn compute(f: &Function, dom: &DominatorTree, forest: &LoopForest) -> Self {
        let mut scopes = Self { order: forest.order().to_vec(), ..Self::default() };
        let mut place = vec![0usize; f.block_capacity()];
        for (i, block) in scopes.order.iter().enumerate() {
            place[block.index()] = i;
        }
        // Scopes that are in no other one so far: where they begin, and where they end.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (end, &target) in scopes.order.iter().enumerate() {
            let mut begin = end;
            for edge in f.in_edges_in_order(target) {
                let source = edge.from;
                if !dom.is_reachable(source) {
                    continue;
                }
                if dom.dominates(target, source) {
                    push_once(&mut scopes.back, (source, target));
                } else if place[source.index()] >= end {
                    push_once(&mut scopes.irreducible, (source, target));
                } else {
                    begin = begin.min(place[outside(forest, source, target).index()]);
                }
            }
            if begin == end {
                continue;
            }
            while let Some(&(from, to)) = open.last()
                && to > begin
            {
                begin = begin.min(from);
                open.pop();
            }
            open.push((begin, end));
            scopes.forward.push((scopes.order[begin], target));
        }
        scopes
    }

    /// The blocks that the entry reaches, each loop together.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// For each block that is jumped to from before it: where the scope begins that ends there.
    pub fn forward(&self) -> &[(Block, Block)] {
        &self.forward
    }

    /// The edges that repeat a loop.
    pub fn back(&self) -> &[(Block, Block)] {
        &self.back
    }

    /// The edges that go back to where no loop begins.
    pub fn irreducible(&self) -> &[(Block, Block)] {
        &self.irreducible
    }
}

/// Two edges between the same blocks come one after the other.
fn push_once(edges: &mut Vec<(Block, Block)>, edge: (Block, Block)) {
    if edges.last() != Some(&edge) {
        edges.push(edge);
    }
}

/// The header of the outermost loop around `source` that `target` is not in, or `source`.
fn outside(forest: &LoopForest, source: Block, target: Block) -> Block {
    let mut at = forest.loop_of(source);
    let mut found = source;
    while let Some(id) = at.filter(|&id| !forest.contains(id, target)) {
        found = forest.get(id).header;
        at = forest.get(id).parent;
    }
    found
}
