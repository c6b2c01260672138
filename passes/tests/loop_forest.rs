//! Loops are found with their headers, latches, exits and nesting; what is no natural loop is
//! named as such.

mod support_graphs;

use regraft_ir::{ControlFlow, DominatorTree, Function};
use regraft_passes::analysis::LoopForest;
use support_graphs::graph;

fn forest(f: &Function) -> LoopForest {
    LoopForest::compute(f, &ControlFlow::compute(f), &DominatorTree::compute(f))
}

#[track_caller]
fn check(edges: &[&[usize]], expected: &str) {
    let f = graph(edges);
    assert_eq!(forest(&f).describe(&f), expected);
}

#[test]
fn straight_code_has_no_loops() {
    check(&[&[2, 3], &[4], &[4], &[]], "no loops\n");
}

#[test]
fn a_while_loop_has_a_preheader_a_latch_and_an_exit() {
    check(
        &[&[2], &[3, 4], &[2], &[]],
        "loop ^2: blocks ^2, ^3; latches ^3; preheader ^1; exits ^2 -> ^4\n",
    );
}

#[test]
fn the_entry_can_be_a_header() {
    check(&[&[1, 2], &[]], "loop ^1: blocks ^1; latches ^1; exits ^1 -> ^2\n");
}

#[test]
fn a_block_that_enters_from_a_branch_is_no_preheader() {
    check(&[&[2, 4], &[3, 4], &[2], &[]], "loop ^2: blocks ^2, ^3; latches ^3; exits ^2 -> ^4\n");
}

#[test]
fn nested_loops_are_numbered_outer_first_and_blocks_stand_together() {
    // ^2 outer, ^3 and ^5 inner ones beside each other.
    let edges: &[&[usize]] = &[&[2], &[3, 8], &[4, 5], &[3], &[6, 7], &[5], &[2], &[]];
    check(
        edges,
        "loop ^2: blocks ^2, ^3, ^4, ^5, ^6, ^7; latches ^7; preheader ^1; exits ^2 -> ^8
  loop ^3: blocks ^3, ^4; latches ^4; exits ^3 -> ^5
  loop ^5: blocks ^5, ^6; latches ^6; exits ^5 -> ^7
",
    );
    let f = graph(edges);
    let forest = forest(&f);
    let block = |number| f.block_by_number(number).expect("it is there");
    let ids: Vec<_> = forest.loops().collect();
    assert!(forest.encloses(ids[0], ids[2]) && !forest.encloses(ids[1], ids[2]));
    assert!(forest.contains(ids[0], block(6)) && !forest.contains(ids[1], block(6)));
    assert_eq!(forest.children(ids[0]).collect::<Vec<_>>(), ids[1..]);
    assert_eq!((forest.depth(block(4)), forest.depth(block(8))), (2, 0));
    assert_eq!(forest.headed_by(block(3)), Some(ids[1]));
    assert_eq!(forest.headed_by(block(4)), None);
}

#[test]
fn loops_with_the_same_header_are_one() {
    check(
        &[&[2], &[3, 5], &[2, 4], &[2], &[]],
        "loop ^2: blocks ^2, ^3, ^4; latches ^3, ^4; preheader ^1; exits ^2 -> ^5\n",
    );
}

#[test]
fn an_edge_out_of_two_loops_is_an_exit_of_both() {
    check(
        &[&[2], &[3, 6], &[4, 5], &[3, 6], &[2], &[]],
        "loop ^2: blocks ^2, ^3, ^4, ^5; latches ^5; preheader ^1; exits ^2 -> ^6, ^4 -> ^6
  loop ^3: blocks ^3, ^4; latches ^4; exits ^3 -> ^5, ^4 -> ^6
",
    );
}

#[test]
fn an_endless_loop_has_no_exits() {
    check(&[&[2], &[2]], "loop ^2: blocks ^2; latches ^2; preheader ^1; no exits\n");
}

#[test]
fn what_is_entered_in_two_places_is_irreducible() {
    check(&[&[2, 3], &[3], &[2, 4], &[]], "irreducible: blocks ^2, ^3\n");
}

#[test]
fn an_irreducible_region_is_named_within_its_loop() {
    check(
        &[&[2], &[3, 4], &[4], &[3, 5], &[2, 6], &[]],
        "loop ^2: blocks ^2, ^3, ^4, ^5; latches ^5; preheader ^1; exits ^5 -> ^6; \
         with an irreducible region\nirreducible: blocks ^3, ^4\n",
    );
}

#[test]
fn a_natural_loop_within_an_irreducible_region_is_found() {
    // ^2 and ^3 are entered both; ^4 loops to itself among them.
    check(
        &[&[2, 3], &[4], &[2, 5], &[4, 3], &[]],
        "loop ^4: blocks ^4; latches ^4; preheader ^2; exits ^4 -> ^3
irreducible: blocks ^2, ^4, ^3
",
    );
}

#[test]
fn blocks_that_cannot_be_reached_are_in_no_loop() {
    // ^4 goes to the header, but nothing goes to ^4.
    check(
        &[&[2], &[2, 3], &[], &[2]],
        "loop ^2: blocks ^2; latches ^2; preheader ^1; exits ^2 -> ^3\n",
    );
}

#[test]
fn loops_nested_a_hundred_deep_are_found() {
    // ^1 .. ^100 are headers, each going inward or to the latch of the loop around it.
    let depth = 100;
    let mut edges: Vec<Vec<usize>> = vec![vec![2]];
    for level in 1..=depth {
        let exit = if level == 1 { 2 * depth + 2 } else { depth + level };
        let inward = if level == depth { depth + 1 + depth } else { level + 2 };
        edges.push(vec![inward, exit]);
    }
    for level in 1..=depth {
        edges.push(vec![level + 1]);
    }
    edges.push(vec![]);
    let edges: Vec<&[usize]> = edges.iter().map(Vec::as_slice).collect();
    let f = graph(&edges);
    let forest = forest(&f);
    assert_eq!(forest.len(), depth);
    for (i, id) in forest.loops().enumerate() {
        assert_eq!(forest.get(id).depth as usize, i + 1);
        assert_eq!(forest.blocks(id).len(), 2 * (depth - i));
    }
}

#[test]
fn exits_are_known_by_their_number_as_arguments_come_and_go() {
    let text = "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%3: i64, %4: i64):
  br %1, ^2(%2, %3), ^3(%2)
^3(%5: i64):
  return %5
}
";
    let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text);
    let module = module.unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
    let mut f = module.function("f").expect("it is there").clone();
    let mut analyses = regraft_passes::Analyses::default();
    let before = analyses.get::<LoopForest>(&f);
    let unused = f.value_by_number(4).expect("live");
    f.remove_param(unused).expect("nothing uses it");
    let after = analyses.get::<LoopForest>(&f);
    assert!(std::sync::Arc::ptr_eq(&before, &after), "the graph is what it was");
    let exit = after.get(after.loops().next().expect("there is one")).exits[0].edge(&f);
    assert_eq!(f.edge_target(exit), f.block_by_number(3).expect("live"));
}
