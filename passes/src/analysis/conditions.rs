//! The edges whose conditions hold in a block: the one by which alone it is entered, and those of
//! the blocks that dominate it.
//!
//! ```text
//! ^1: br %1, ^2, ^4
//! ^2: br ^3                   ^2 is entered by the edge from ^1 for true alone
//! ^3: br %2, ^3, ^4           ^3 by that from ^2: going around leaves what held before
//! ```
//!
//! An edge that goes back to a block from what it dominates says nothing new, and takes nothing
//! back: what a condition looks at is defined above the block, so that it is computed anew only
//! where the entering edge is taken again. An edge that no run comes to does not count.

use regraft_ir::{Block, DominatorTree, Edge, Function};

/// The most blocks up the dominator tree that are looked at for one.
const MAX_BLOCKS: usize = 8;

/// Returns the only edge to a block from outside of what it dominates. `None` for the entry.
/// O(edges back to it).
pub(crate) fn entering_edge(f: &Function, dom: &DominatorTree, block: Block) -> Option<Edge> {
    // Every block dominates one that is not reachable.
    let mut edges = f.in_edges(block).filter(|edge| !dom.dominates(block, edge.from));
    edges.next().filter(|_| edges.next().is_none())
}

/// Returns the edges that were taken, and whose conditions still hold, where a block begins: the
/// nearest first, of the nearest blocks that dominate it.
pub(crate) fn dominating_edges(
    f: &Function,
    dom: &DominatorTree,
    block: Block,
) -> impl Iterator<Item = Edge> {
    std::iter::successors(Some(block), |&at| dom.idom(at))
        .take(MAX_BLOCKS)
        .filter_map(|at| entering_edge(f, dom, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ways_in_from_outside_count_and_what_is_never_run_does_not() {
        let text = "
func @f(%a: bool, %b: bool) -> unit {
^1:
  br %a, ^2, ^5
^2:
  br ^3
^3:
  br %b, ^3, ^4
^4:
  br %a, ^5, ^5
^5:
  return nothing
^6:
  br %b, ^3, ^4
}";
        let ctx = regraft_dialects::context();
        let module = regraft_syntax::parse_module(&ctx, "test.ir", text).expect("it is valid");
        let f = module.function("f").expect("it is there");
        let dom = DominatorTree::compute(f);
        let block = |number| f.block_by_number(number).expect("it is there");
        let ends = |edge: Edge| (edge.from.number(), f.edge_target(edge).number());
        let entering = |number| entering_edge(f, &dom, block(number)).map(ends);
        assert_eq!([1, 2, 3].map(entering), [None, Some((1, 2)), Some((2, 3))]);
        // Two ways lead from ^4 to ^5, and one from ^1.
        assert_eq!([4, 5].map(entering), [Some((3, 4)), None]);
        let dominating = |number| dominating_edges(f, &dom, block(number)).map(ends);
        assert!(dominating(4).eq([(3, 4), (2, 3), (1, 2)]));
        assert!(dominating(5).eq([]));
    }
}
