//! The post-dominator tree against its definition, on small graphs and on random ones.

mod support_graphs;

use regraft_ir::{Block, ControlFlow, Function};
use regraft_passes::analysis::PostDominatorTree;
use support_graphs::{graph, random_graphs};

fn tree(f: &Function) -> PostDominatorTree {
    PostDominatorTree::compute(f, &ControlFlow::compute(f))
}

#[track_caller]
fn check(edges: &[&[usize]], expected: &str) {
    let f = graph(edges);
    assert_eq!(tree(&f).describe(&f), expected);
}

#[test]
fn the_join_of_a_diamond_post_dominates_it() {
    check(
        &[&[2, 3], &[4], &[4], &[]],
        "the end post-dominates ^4
^4 post-dominates ^2, ^1, ^3
",
    );
}

#[test]
fn of_several_ends_none_post_dominates_the_branch() {
    check(
        &[&[2, 3], &[], &[4], &[]],
        "the end post-dominates ^4, ^1, ^2
^4 post-dominates ^3
",
    );
}

#[test]
fn the_header_of_a_while_loop_post_dominates_its_body() {
    check(
        &[&[2], &[3, 4], &[2], &[]],
        "the end post-dominates ^4
^4 post-dominates ^2
^2 post-dominates ^1, ^3
",
    );
}

#[test]
fn an_endless_loop_ends_at_its_latch() {
    check(
        &[&[2], &[3], &[2]],
        "the end post-dominates ^3
^3 post-dominates ^2
^2 post-dominates ^1
endless: ^3
",
    );
    // Two endless loops, one of which leads to the other, and an end: only the last is endless.
    check(
        &[&[2, 5], &[3], &[2, 4], &[4], &[]],
        "the end post-dominates ^5, ^1, ^4
^4 post-dominates ^3
^3 post-dominates ^2
endless: ^4
",
    );
}

#[test]
fn unreachable_blocks_have_no_place() {
    let f = graph::<&[usize]>(&[&[2], &[], &[2]]);
    let (tree, third) = (tree(&f), f.block_by_number(3).expect("live"));
    assert!(!tree.post_dominates(third, third));
    assert_eq!((tree.ipdom(third), tree.depth(third)), (None, 0));
    assert_eq!(tree.order().len(), 2);
}

#[test]
fn random_graphs_have_the_tree_that_the_definition_gives() {
    for f in random_graphs(400) {
        let (cfg, tree) = (ControlFlow::compute(&f), tree(&f));
        let blocks: Vec<Block> = cfg.reverse_postorder().collect();
        for &a in &blocks {
            // What reaches the end without going through `a`.
            let mut avoids = vec![false; f.block_capacity()];
            let mut changed = true;
            while changed {
                changed = false;
                for &b in &blocks {
                    let ends = f.successors(b).next().is_none() || tree.endless().contains(&b);
                    let goes = ends || f.successors(b).any(|next| avoids[next.index()]);
                    if b != a && goes && !avoids[b.index()] {
                        avoids[b.index()] = true;
                        changed = true;
                    }
                }
            }
            for &b in &blocks {
                assert_eq!(tree.post_dominates(a, b), !avoids[b.index()], "{a} and {b} of\n{f}");
            }
        }
        for &b in &blocks {
            let above = tree.ipdom(b).map_or(0, |up| tree.depth(up));
            assert_eq!(tree.depth(b), above + 1);
            assert!(tree.children(b).all(|child| tree.ipdom(child) == Some(b)));
            assert_eq!(tree.order()[tree.subtree(b).start], b);
        }
        assert_eq!(tree.order().len(), blocks.len());
    }
}
