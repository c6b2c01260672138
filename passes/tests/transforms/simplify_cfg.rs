//! `simplify-cfg`: what it always does. Selections and jump threading: `simplify_cfg_paths`.

use std::fmt::Write;

use regraft_passes::analysis::Analyses;
use regraft_passes::transforms::simplify_cfg::{self, Config, SimplifyCfg};

use regraft_passes::{FunctionPass, Options, Setting};

use crate::{check, check_unchanged, check_with, only, parse};

/// The option `plain`.
fn plain() -> Options {
    let mut options = Options::defaults(SimplifyCfg::OPTIONS);
    let def = SimplifyCfg::OPTIONS.iter().find(|def| def.name == "plain").expect("declared");
    options.set(def, Setting::Flag(true)).expect("a flag");
    options
}

#[test]
fn a_decided_branch_leaves_a_straight_line() {
    check::<SimplifyCfg>(
        "func @f(%1: i64) -> i64 {
^1:
  br true, ^2, ^3
^2:
  br ^4(%1)
^3:
  br ^4(0)
^4(%2: i64):
  %3: i64 = arith.add %2, 1
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, 1
  return %3
}
",
    );
}

#[test]
fn a_false_condition_takes_the_second_edge() {
    check::<SimplifyCfg>(
        "func @f() -> i64 {
^1:
  br false, ^2(1), ^2(2)
^2(%1: i64):
  return %1
}
",
        "func @f() -> i64 {
^1:
  return 2
}
",
    );
}

#[test]
fn a_switch_on_a_constant_takes_its_case_or_the_default() {
    check::<SimplifyCfg>(
        "func @f() -> i64 {
^1:
  switch 5, ^2(0), 1: ^2(10), 5: ^2(50)
^2(%1: i64):
  return %1
}
func @g() -> i64 {
^1:
  switch 6, ^2(0), 1: ^2(10), 5: ^2(50)
^2(%1: i64):
  return %1
}
",
        "func @f() -> i64 {
^1:
  return 50
}
func @g() -> i64 {
^1:
  return 0
}
",
    );
}

#[test]
fn one_decision_leads_to_the_next() {
    // %1 is true, so nothing leads to ^3, so %2 is true, so nothing leads to ^6.
    check::<SimplifyCfg>(
        "func @f() -> i64 {
^1:
  br true, ^2(true), ^3
^2(%1: bool):
  br %1, ^4(true), ^3
^3:
  br ^4(false)
^4(%2: bool):
  br %2, ^5, ^6
^5:
  return 1
^6:
  return 2
}
",
        "func @f() -> i64 {
^1:
  return 1
}
",
    );
}

#[test]
fn what_an_edge_that_may_be_taken_passes_counts() {
    // That ^3 cannot be reached takes looking at all of the loop at once, as sccp does.
    check::<SimplifyCfg>(
        "func @f() -> i64 {
^1:
  br true, ^2(true), ^3
^2(%1: bool):
  br %1, ^4, ^3
^3:
  br ^2(false)
^4:
  return 1
}
",
        "func @f() -> i64 {
^1:
  br ^2(true)
^2(%1: bool):
  br %1, ^4, ^2(false)
^4:
  return 1
}
",
    );
}

#[test]
fn edges_that_are_alike_need_no_branch() {
    check::<SimplifyCfg>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2), ^2(%2)
^2(%3: i64):
  return %3
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  return %2
}
",
    );
}

#[test]
fn a_condition_that_may_be_no_bool_is_still_looked_at() {
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: any) -> i64 {
^1:
  br %1, ^2, ^2
^2:
  return 0
}
",
    );
}

#[test]
fn edges_that_differ_in_an_argument_stay() {
    let text = "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(1), ^2(2)
^2(%2: i64):
  return %2
}
";
    check_with::<SimplifyCfg>(&plain(), text, text);
}

#[test]
fn empty_blocks_are_gone_around() {
    check_with::<SimplifyCfg>(
        &plain(),
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3(%2)
^2:
  br ^4(1, %2)
^3(%3: i64):
  br ^4(%3, 2)
^4(%4: i64, %5: i64):
  %6: i64 = arith.sub %4, %5
  return %6
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^4(1, %2), ^4(%2, 2)
^4(%4: i64, %5: i64):
  %6: i64 = arith.sub %4, %5
  return %6
}
",
    );
}

#[test]
fn an_empty_block_whose_parameter_is_used_further_down_stays() {
    // ^2 decides what %3 is; ^4 uses it.
    let text = "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(1), ^2(%2)
^2(%3: i64):
  br ^3(0)
^3(%4: i64):
  %5: i64 = arith.add %4, %3
  %6: bool = arith.lt %5, 100
  br %6, ^3(%5), ^4
^4:
  %7: i64 = arith.mul %5, %3
  return %7
}
";
    check_with::<SimplifyCfg>(&plain(), text, text);
}

#[test]
fn many_arguments_are_not_copied_onto_many_edges() {
    // ^4 passes five constants for three edges; going around it would write them three times.
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: i64) -> i64 {
^1:
  switch %1, ^5(0, 0, 0, 0, 0), 1: ^2, 2: ^3, 3: ^4
^2:
  %2: unit = core.print 2
  br ^4
^3:
  %3: unit = core.print 3
  br ^4
^4:
  br ^5(1, 2, 3, 4, 5)
^5(%4: i64, %5: i64, %6: i64, %7: i64, %8: i64):
  %9: unit = core.print %4, %5, %6, %7, %8
  return %4
}
",
    );
}

#[test]
fn loops_without_an_end_stay() {
    check::<SimplifyCfg>(
        "func @itself() -> i64 {
^1:
  br ^2
^2:
  br ^2
}
func @two(%1: bool) -> i64 {
^1:
  br %1, ^2, ^4
^2:
  br ^3
^3:
  br ^2
^4:
  return 0
}
func @entry() -> i64 {
^1:
  br ^1
}
",
        "func @itself() -> i64 {
^1:
  br ^2
^2:
  br ^2
}
func @two(%1: bool) -> i64 {
^1:
  br %1, ^3, ^4
^3:
  br ^3
^4:
  return 0
}
func @entry() -> i64 {
^1:
  br ^1
}
",
    );
}

#[test]
fn an_entry_that_is_a_loop_keeps_its_parameters() {
    check::<SimplifyCfg>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, 100
  br %3, ^2, ^3
^2:
  %4: i64 = arith.add %1, %2
  br ^1(%4, %2)
^3:
  return %1
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, 100
  br %3, ^2, ^3
^2:
  %4: i64 = arith.add %1, %2
  br ^1(%4, %2)
^3:
  return %1
}
",
    );
}

#[test]
fn unreachable_loops_go_with_what_they_pass_on() {
    check::<SimplifyCfg>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  return %2
^3(%3: i64):
  %4: i64 = arith.add %3, %5
  br ^4
^4:
  %5: i64 = arith.add %4, 1
  br %6, ^3(%5), ^2(%5)
^5:
  %6: bool = arith.lt %4, 1
  br ^3(0)
}
",
        "func @f(%1: i64) -> i64 {
^1:
  return %1
}
",
    );
}

#[test]
fn swapped_parameters_that_are_one_value_go() {
    check::<SimplifyCfg>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, %1, 0)
^2(%2: i64, %3: i64, %4: i64):
  %5: i64 = arith.add %4, %2
  %6: bool = arith.lt %5, 100
  br %6, ^2(%3, %2, %5), ^3
^3:
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%4: i64):
  %5: i64 = arith.add %4, %1
  %6: bool = arith.lt %5, 100
  br %6, ^2(%5), ^3
^3:
  return %1
}
",
    );
}

#[test]
fn an_irreducible_loop_keeps_its_two_entries() {
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(1), ^3(2)
^2(%3: i64):
  %4: unit = core.print %3
  br %1, ^3(%3), ^4
^3(%5: i64):
  %6: unit = core.print %5
  br ^2(%5)
^4:
  return %2
}
",
    );
}

#[test]
fn a_block_is_merged_where_its_users_accept_a_more_special_type() {
    check::<SimplifyCfg>(
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1)
^2(%2: any):
  %3: unit = core.print %2
  %4: any = arith.add %2, 1
  return %4
}
",
        "func @f(%1: i64) -> any {
^1:
  %3: unit = core.print %1
  %4: any = arith.add %1, 1
  return %4
}
",
    );
}

#[test]
fn a_block_is_not_merged_where_a_user_does_not() {
    // This traps when the program runs; `arith.add %1, 0.5` would not even be valid.
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1)
^2(%2: any):
  %3: unit = core.print %2
  %4: any = arith.add %2, 0.5
  return %4
}
",
    );
}

#[test]
fn effects_keep_their_order() {
    check::<SimplifyCfg>(
        "func @f(%1: bool) -> unit {
^1:
  %2: unit = core.print 1
  br ^3
^2:
  %3: unit = core.print 3
  return nothing
^3:
  %4: unit = core.print 2
  br true, ^2, ^1(%1)
}
",
        "func @f(%1: bool) -> unit {
^1:
  %2: unit = core.print 1
  %4: unit = core.print 2
  %3: unit = core.print 3
  return nothing
}
",
    );
}

#[test]
fn a_long_chain_is_merged_without_depth() {
    const BLOCKS: usize = 20_000;
    let mut text = String::from("func @f(%1: i64) -> i64 {\n^1:\n  br ^2(%1)\n");
    for i in 2..BLOCKS {
        let (param, sum) = (2 * i, 2 * i + 1);
        let _ = writeln!(text, "^{i}(%{param}: i64):\n  %{sum}: i64 = arith.add %{param}, 1");
        let _ = writeln!(text, "  br ^{}(%{sum})", i + 1);
    }
    let _ = writeln!(text, "^{BLOCKS}(%2: i64):\n  return %2\n}}");
    let mut module = parse(&text);
    let f = only(&mut module);
    let done = simplify_cfg::run(f, Config::PLAIN, &mut Analyses::default()).unwrap();
    assert_eq!(done.merged, BLOCKS - 1);
    assert_eq!((f.block_count(), f.inst_count()), (1, BLOCKS - 2));
}
