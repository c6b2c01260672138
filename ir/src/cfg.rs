//! The control flow graph of a function: which blocks are reachable, and their reverse postorder.
//!
//! Successors and predecessors themselves need no analysis, see [`Function::successors`] and
//! [`Function::predecessors`].

use crate::{Block, Function};

/// No place in an order.
const NONE: u32 = u32::MAX;

/// The blocks that the entry reaches, in depth-first orders. Successors are visited in operand
/// order, so that the orders depend on nothing but the function.
#[derive(Clone, Debug)]
pub struct ControlFlow {
    /// Reachable blocks, each after all its successors but those on the way to it.
    postorder: Vec<Block>,
    /// The place in reverse postorder, by [`Block::index`].
    rpo_index: Vec<u32>,
}

impl ControlFlow {
    /// Walks the graph from the entry. O(blocks + operands of terminators), not recursive.
    pub fn compute(f: &Function) -> Self {
        let mut postorder = Vec::with_capacity(f.block_count());
        let mut rpo_index = vec![NONE; f.block_capacity()];
        let mut stack = Vec::new();
        if let Some(entry) = f.entry() {
            rpo_index[entry.index()] = 0;
            stack.push((entry, f.out_edges(entry)));
        }
        while let Some((block, edges)) = stack.last_mut() {
            let Some(edge) = edges.next() else {
                postorder.push(*block);
                stack.pop();
                continue;
            };
            let target = f.edge_target(edge);
            // An edge to a block that is not there is an error for the verifier to find.
            if f.is_live_block(target) && rpo_index[target.index()] == NONE {
                rpo_index[target.index()] = 0;
                stack.push((target, f.out_edges(target)));
            }
        }
        for (i, block) in postorder.iter().rev().enumerate() {
            rpo_index[block.index()] = i as u32;
        }
        Self { postorder, rpo_index }
    }

    /// The reachable blocks in reverse postorder, the entry first: each before all its
    /// successors, but for the edges that go back in a loop.
    pub fn reverse_postorder(
        &self,
    ) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + '_ {
        self.postorder.iter().rev().copied()
    }

    /// The reachable blocks in postorder, the entry last.
    pub fn postorder(&self) -> &[Block] {
        &self.postorder
    }

    /// The number of reachable blocks.
    pub fn reachable_count(&self) -> usize {
        self.postorder.len()
    }

    /// Returns whether the entry reaches a block. O(1).
    #[inline]
    pub fn is_reachable(&self, b: Block) -> bool {
        self.rpo_index(b).is_some()
    }

    /// The place of a reachable block in reverse postorder, from 0. O(1).
    #[inline]
    pub fn rpo_index(&self, b: Block) -> Option<usize> {
        let index = *self.rpo_index.get(b.index())?;
        (index != NONE).then_some(index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{BR, COND, RETURN, UNREACHABLE, context, inst, pow};
    use crate::{Inst, Type};

    fn numbers(blocks: impl IntoIterator<Item = Block>) -> Vec<u32> {
        blocks.into_iter().map(Block::number).collect()
    }

    #[test]
    fn pow_has_the_graph_that_irtools_gives() {
        // `[[2], [4, 3], [2], []]` with the branch for a true condition first.
        let f = pow(&context());
        let graph: Vec<Vec<u32>> = f.blocks().map(|b| numbers(f.successors(b))).collect();
        assert_eq!(graph, [vec![2], vec![3, 4], vec![2], vec![]]);
        let cfg = ControlFlow::compute(&f);
        assert_eq!(numbers(cfg.reverse_postorder()), [1, 2, 4, 3]);
        assert_eq!(numbers(cfg.postorder().to_vec()), [3, 4, 2, 1]);
        let blocks: Vec<Block> = f.blocks().collect();
        assert_eq!(
            blocks.iter().map(|&b| cfg.rpo_index(b)).collect::<Vec<_>>(),
            [0, 1, 3, 2].map(Some)
        );
    }

    #[test]
    fn what_the_entry_does_not_reach_has_no_place() {
        let ctx = context();
        let mut f = Function::new(&ctx, "f", &[Type::BOOL], Type::BOOL);
        let entry = f.entry().unwrap();
        let c = f.param(entry, 0).unwrap();
        let (dead, exit) = (f.add_block(), f.add_block());
        f.set_terminator(entry, inst(COND, [c.into(), exit.into(), exit.into()])).unwrap();
        f.set_terminator(dead, inst(BR, [exit.into()])).unwrap();
        f.set_terminator(exit, inst(RETURN, [c.into()])).unwrap();
        let cfg = ControlFlow::compute(&f);
        assert_eq!(numbers(cfg.reverse_postorder()), [1, 3]);
        assert_eq!(cfg.reachable_count(), 2);
        assert!(!cfg.is_reachable(dead) && cfg.rpo_index(dead).is_none());
    }

    #[test]
    fn a_function_without_blocks_or_terminators_has_a_graph() {
        let ctx = context();
        let f = Function::without_entry(&ctx, "f", Type::UNIT);
        assert_eq!(ControlFlow::compute(&f).reachable_count(), 0);
        let mut f = Function::new(&ctx, "f", &[], Type::UNIT);
        assert_eq!(ControlFlow::compute(&f).reachable_count(), 1);
        f.set_terminator(f.entry().unwrap(), Inst::new(UNREACHABLE)).unwrap();
        assert_eq!(ControlFlow::compute(&f).reachable_count(), 1);
    }
}
