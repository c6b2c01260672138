//! Control flow as shapes and as scopes: the examples of IRTools, and what all graphs have.

mod support_graphs;

use regraft_ir::{Block, ControlFlow, DominatorTree, Function};
use regraft_passes::analysis::{LoopForest, Shape, Structure};
use support_graphs::{graph, random_graphs};

fn structure(f: &Function) -> Structure {
    let (cfg, dom) = (ControlFlow::compute(f), DominatorTree::compute(f));
    let forest = LoopForest::compute(f, &cfg, &dom);
    Structure::compute(f, &cfg, &dom, &forest)
}

#[track_caller]
fn check(edges: &[&[usize]], expected: &str) {
    let f = graph(edges);
    assert_eq!(structure(&f).describe(&f), expected);
}

#[test]
fn relu_chooses_one_of_two() {
    check(
        &[&[3, 2], &[4], &[4], &[]],
        "Simple(^1, Multiple([Simple(^3), Simple(^2)], Simple(^4)))
order ^1, ^2, ^3, ^4
forward ^1 -> ^2, ^1 -> ^3, ^1 -> ^4
",
    );
}

#[test]
fn pow_repeats() {
    check(
        &[&[2], &[4, 3], &[2], &[]],
        "Simple(^1, Loop(Simple(^2, Simple(^3)), Simple(^4)))
order ^1, ^2, ^3, ^4
forward ^1 -> ^2, ^2 -> ^3, ^2 -> ^4
back ^3 -> ^2
",
    );
}

#[test]
fn a_choice_may_have_one_part() {
    check(
        &[&[2, 3], &[3], &[]],
        "Simple(^1, Multiple([Simple(^2)], Simple(^3)))
order ^1, ^2, ^3
forward ^1 -> ^2, ^1 -> ^3
",
    );
}

#[test]
fn loops_within_loops_are_left_one_by_one_or_at_once() {
    check(
        &[&[2], &[3], &[3, 4], &[2, 5], &[]],
        "Simple(^1, Loop(Simple(^2, Loop(Simple(^3), Simple(^4))), Simple(^5)))
order ^1, ^2, ^3, ^4, ^5
forward ^1 -> ^2, ^2 -> ^3, ^3 -> ^4, ^2 -> ^5
back ^4 -> ^2, ^3 -> ^3
",
    );
    // ^3 leaves both loops.
    check(
        &[&[2], &[3], &[4, 5], &[3, 2], &[]],
        "Simple(^1, Loop(Simple(^2, Loop(Simple(^3, Simple(^4)))), Simple(^5)))
order ^1, ^2, ^3, ^4, ^5
forward ^1 -> ^2, ^2 -> ^3, ^3 -> ^4, ^2 -> ^5
back ^4 -> ^2, ^4 -> ^3
",
    );
}

#[test]
fn a_loop_with_two_exits_is_followed_by_a_choice() {
    check(
        &[&[2], &[3, 4], &[2, 5], &[6], &[6], &[]],
        "Simple(^1, Loop(Simple(^2, Simple(^3)), Multiple([Simple(^5), Simple(^4)], Simple(^6))))
order ^1, ^2, ^3, ^4, ^5, ^6
forward ^1 -> ^2, ^2 -> ^3, ^2 -> ^4, ^2 -> ^5, ^2 -> ^6
back ^3 -> ^2
",
    );
}

#[test]
fn a_cycle_with_two_ways_in_is_named() {
    check(
        &[&[2, 3], &[3], &[2, 4], &[]],
        "Simple(^1, Irreducible([Simple(^2), Simple(^3, Simple(^4))]))
order ^1, ^2, ^3, ^4
forward ^1 -> ^2, ^1 -> ^3, ^3 -> ^4
irreducible ^3 -> ^2
",
    );
}

#[test]
fn what_follows_a_cycle_with_two_ways_in_comes_after_it() {
    check(
        &[&[2, 3], &[3, 4], &[2, 4], &[]],
        "Simple(^1, Irreducible([Simple(^2), Simple(^3)], Simple(^4)))
order ^1, ^2, ^3, ^4
forward ^1 -> ^2, ^1 -> ^3, ^1 -> ^4
irreducible ^3 -> ^2
",
    );
}

/// The blocks of the shapes in a shape.
fn blocks_of(structure: &Structure, whole: regraft_passes::analysis::ShapeId) -> Vec<Block> {
    let mut found = Vec::new();
    let mut stack = vec![whole];
    while let Some(id) = stack.pop() {
        match structure.get(id) {
            Shape::Simple { block, next } => {
                found.push(*block);
                stack.extend(next);
            }
            Shape::Loop { inner, next } => {
                stack.push(*inner);
                stack.extend(next);
            }
            Shape::Multiple { parts, next } | Shape::Irreducible { parts, next } => {
                stack.extend(parts);
                stack.extend(next);
            }
        }
    }
    found
}

#[test]
fn random_graphs_have_each_block_once_and_scopes_that_are_nested() {
    for f in random_graphs(600) {
        let (cfg, dom) = (ControlFlow::compute(&f), DominatorTree::compute(&f));
        let forest = LoopForest::compute(&f, &cfg, &dom);
        let structure = structure(&f);
        let text = structure.describe(&f);
        let mut blocks = blocks_of(&structure, structure.root().expect("there is a block"));
        let mut all: Vec<Block> = cfg.reverse_postorder().collect();
        blocks.sort_unstable();
        all.sort_unstable();
        assert_eq!(blocks, all, "{f}{text}");
        let named = text.contains("Irreducible");
        assert_eq!(named, !forest.irreducible().is_empty(), "{f}{text}");
        assert_eq!(structure.is_reducible(), !named, "{f}{text}");
        assert_eq!(text.matches("Loop(").count(), forest.len(), "{f}{text}");
        let place = |block: Block| {
            structure.scopes().order().iter().position(|&b| b == block).expect("it is ordered")
        };
        let scopes: Vec<(usize, usize)> =
            structure.scopes().forward().iter().map(|&(a, b)| (place(a), place(b))).collect();
        let loops = forest.loops().map(|id| {
            let blocks = forest.blocks(id);
            (place(blocks[0]), place(blocks[0]) + blocks.len())
        });
        let ranges: Vec<(usize, usize)> = scopes.iter().copied().chain(loops).collect();
        for &(a, b) in &ranges {
            assert!(ranges.iter().all(|&(c, d)| !(a < c && c < b && b < d)), "{f}{text}");
        }
        // Each edge leaves scopes to where one ends, or goes back.
        for &source in &all {
            for target in f.successors(source) {
                let (from, to) = (place(source), place(target));
                let forward = scopes.iter().any(|&(a, b)| a <= from && b == to);
                let back = structure.scopes().back().contains(&(source, target));
                let other = structure.scopes().irreducible().contains(&(source, target));
                assert!(if from < to { forward } else { back || other }, "{f}{text}");
            }
        }
    }
}
