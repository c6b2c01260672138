use super::*;
use crate::testing::{ADD, BR, Random, context, inst, pow, with_graph};
use crate::{ControlFlow, Type};

fn numbers(blocks: impl IntoIterator<Item = Block>) -> Vec<u32> {
    blocks.into_iter().map(Block::number).collect()
}

/// The blocks that dominate `b`, from the tree.
fn dominators(f: &Function, tree: &DominatorTree, b: Block) -> Vec<u32> {
    numbers(f.blocks().filter(|&a| tree.dominates(a, b)))
}

#[test]
fn relu_has_the_tree_that_irtools_gives() {
    let f = with_graph(&context(), &[vec![2, 1], vec![3], vec![3], vec![]]);
    let tree = DominatorTree::compute(&f);
    let blocks: Vec<Block> = f.blocks().collect();
    let sets: Vec<Vec<u32>> = blocks.iter().map(|&b| dominators(&f, &tree, b)).collect();
    assert_eq!(sets, [vec![1], vec![1, 2], vec![1, 3], vec![1, 4]]);
    let mut children = numbers(tree.children(blocks[0]));
    children.sort_unstable();
    assert_eq!(children, [2, 3, 4]);
    assert_eq!(tree.idom(blocks[0]), None);
    assert_eq!(tree.common_dominator(blocks[1], blocks[2]), Some(blocks[0]));
}

#[test]
fn pow_has_a_loop_in_the_tree() {
    let f = pow(&context());
    let tree = DominatorTree::compute(&f);
    let idoms: Vec<Option<u32>> = f.blocks().map(|b| tree.idom(b).map(Block::number)).collect();
    assert_eq!(idoms, [None, Some(1), Some(2), Some(2)]);
}

/// Dominators as the greatest fixed point of the data-flow equations, as sets of bits.
fn naive(graph: &[Vec<usize>]) -> Vec<u64> {
    let n = graph.len();
    let mut reachable = vec![false; n];
    let mut stack = vec![0];
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut reachable[b], true) {
            stack.extend(&graph[b]);
        }
    }
    let mut dom = vec![u64::MAX; n];
    dom[0] = 1;
    loop {
        let mut changed = false;
        for b in 1..n {
            let mut meet = u64::MAX;
            for (p, targets) in graph.iter().enumerate() {
                if reachable[p] && targets.contains(&b) {
                    meet &= dom[p];
                }
            }
            meet |= 1 << b;
            if reachable[b] && meet != dom[b] {
                dom[b] = meet;
                changed = true;
            }
        }
        if !changed {
            return (0..n).map(|b| if reachable[b] { dom[b] } else { 0 }).collect();
        }
    }
}

#[test]
fn random_graphs_agree_with_the_data_flow_equations() {
    let ctx = context();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..3000 {
        let graph = random.graph(if round % 4 == 0 { 60 } else { 12 });
        let f = with_graph(&ctx, &graph);
        let (tree, cfg) = (DominatorTree::compute(&f), ControlFlow::compute(&f));
        let blocks: Vec<Block> = f.blocks().collect();
        let expected = naive(&graph);
        for (i, &b) in blocks.iter().enumerate() {
            let set = expected[i];
            assert_eq!(tree.is_reachable(b), set != 0, "{graph:?}");
            assert_eq!(cfg.is_reachable(b), set != 0, "{graph:?}");
            if set == 0 {
                assert!(tree.idom(b).is_none() && tree.children(b).next().is_none());
                continue;
            }
            for (j, &a) in blocks.iter().enumerate() {
                assert_eq!(tree.dominates(a, b), set & (1 << j) != 0, "{a} {b} {graph:?}");
            }
            // The immediate dominator is the one that all other strict dominators dominate.
            let strict = set & !(1 << i);
            let idom = (0..blocks.len()).find(|&j| strict & (1 << j) != 0 && expected[j] == strict);
            assert_eq!(tree.idom(b), idom.map(|j| blocks[j]), "{b} {graph:?}");
            assert!(tree.children(b).all(|child| tree.idom(child) == Some(b)));
        }
        let reachable = expected.iter().filter(|&&set| set != 0).count();
        assert_eq!(tree.order().len(), reachable);
        assert_eq!(cfg.reachable_count(), reachable);
        let children: usize = blocks.iter().map(|&b| tree.children(b).count()).sum();
        assert_eq!(children, reachable - 1);
        check_order(&f, &cfg);
    }
}

/// In a postorder, what a depth-first search finishes later never reaches what it finished
/// earlier, except through an edge back to a block that is open; on acyclic graphs, each block
/// comes after its successors.
fn check_order(f: &Function, cfg: &ControlFlow) {
    let back = |from: Block, to: Block| cfg.rpo_index(to) <= cfg.rpo_index(from);
    // Without the edges that go back the graph is acyclic by construction; what has to be shown
    // is that each of them closes a cycle.
    for b in cfg.reverse_postorder() {
        for target in f.successors(b).filter(|&target| back(b, target)) {
            let mut seen = vec![false; f.block_capacity()];
            let mut stack = vec![target];
            while let Some(at) = stack.pop() {
                if !std::mem::replace(&mut seen[at.index()], true) {
                    stack.extend(f.successors(at));
                }
            }
            assert!(seen[b.index()], "{b} -> {target} goes back outside of a cycle");
        }
    }
}

#[test]
fn a_chain_of_a_million_blocks_is_no_problem() {
    const N: usize = 1_000_000;
    let ctx = context();
    let mut f = Function::new(&ctx, "chain", &[], Type::UNIT);
    let mut last = f.entry().unwrap();
    for _ in 1..N {
        let next = f.add_block();
        f.set_terminator(last, inst(BR, [next.into()])).unwrap();
        last = next;
    }
    f.set_terminator(last, inst(BR, [last.into()])).unwrap();
    let tree = DominatorTree::compute(&f);
    assert_eq!(tree.order().len(), N);
    assert!(tree.dominates(f.entry().unwrap(), last));
    assert!(!tree.dominates(last, f.entry().unwrap()));
    assert_eq!(ControlFlow::compute(&f).rpo_index(last), Some(N - 1));
}

#[test]
fn values_dominate_what_runs_after_them() {
    let ctx = context();
    let mut f = with_graph(&ctx, &[vec![1, 2], vec![3], vec![3], vec![], vec![3]]);
    let blocks: Vec<Block> = f.blocks().collect();
    let x = f.param(blocks[0], 1).unwrap();
    let add =
        |f: &mut Function, b: usize| f.push(blocks[b], inst(ADD, [x.into(), x.into()])).unwrap();
    let (a, b) = (add(&mut f, 0), add(&mut f, 0));
    let (left, join, dead) = (add(&mut f, 1), add(&mut f, 3), add(&mut f, 4));
    let tree = DominatorTree::compute(&f);
    let holds = |value, at| tree.value_dominates(&f, value, at);
    assert!(holds(x, a) && holds(a, b) && holds(a, Value::terminator(blocks[0])));
    assert!(!holds(b, a) && !holds(a, a), "not before it is defined");
    assert!(holds(a, join) && holds(left, Value::terminator(blocks[1])));
    assert!(!holds(left, join), "not on the way through the other branch");
    assert!(holds(join, dead) && holds(dead, dead), "what never runs sees everything");
    assert!(!holds(dead, join));
    // As the argument of an edge a value is used in the block that the edge leaves.
    let user = Value::terminator(blocks[1]);
    assert!(tree.dominates_use(&f, left, Use { user, index: 1 }));
}
