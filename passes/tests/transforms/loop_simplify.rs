//! Loops get a preheader, a single latch, dedicated exits, and, if asked, are closed.

use regraft_passes::transforms::loop_simplify::LoopSimplify;
use regraft_passes::{AllLoops, LoopPass, Options, Setting};

use super::{check, check_unchanged, check_with};

type Pass = AllLoops<LoopSimplify>;

#[track_caller]
fn check_closed(before: &str, after: &str) {
    let mut options = Options::defaults(LoopSimplify::OPTIONS);
    options.set(&LoopSimplify::OPTIONS[0], Setting::Flag(true)).expect("it is a flag");
    check_with::<Pass>(&options, before, after);
}

#[test]
fn a_while_loop_has_its_form_already() {
    check_unchanged::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %2, 1
  br ^2(%4)
^4:
  return %2
}
",
    );
}

#[test]
fn a_loop_of_one_block_gets_a_preheader_and_an_exit() {
    check::<Pass>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(0), ^3(%2)
^2(%3: i64):
  %4: i64 = arith.add %3, 1
  %5: bool = arith.lt %4, %2
  br %5, ^2(%4), ^3(%4)
^3(%6: i64):
  return %6
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^5, ^3(%2)
^5:
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.add %3, 1
  %5: bool = arith.lt %4, %2
  br %5, ^2(%4), ^4
^4:
  br ^3(%4)
^3(%6: i64):
  return %6
}
",
    );
}

#[test]
fn ways_in_meet_and_pass_on_where_they_differ() {
    check::<Pass>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^4(0, %2)
^3:
  br ^4(1, %2)
^4(%3: i64, %4: i64):
  %5: i64 = arith.sub %4, %3
  %6: bool = arith.lt %3, %5
  br %6, ^4(%4, %5), ^5
^5:
  return %5
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^6(0)
^3:
  br ^6(1)
^6(%7: i64):
  br ^4(%7, %2)
^4(%3: i64, %4: i64):
  %5: i64 = arith.sub %4, %3
  %6: bool = arith.lt %3, %5
  br %6, ^4(%4, %5), ^5
^5:
  return %5
}
",
    );
}

#[test]
fn two_back_edges_of_one_branch_become_one() {
    check::<Pass>(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 10
  br %4, ^3, ^5
^3:
  %5: i64 = arith.add %2, 1
  br %1, ^2(%5, 1), ^2(%5, 2)
^5:
  return %3
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 10
  br %4, ^3, ^5
^3:
  %5: i64 = arith.add %2, 1
  br %1, ^6(1), ^6(2)
^6(%6: i64):
  br ^2(%5, %6)
^5:
  return %3
}
",
    );
}

#[test]
fn the_entry_is_left_if_it_is_a_header() {
    check::<Pass>(
        "func @f(%n: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %n, %2
  %4: bool = arith.lt %3, 100
  br %4, ^1(%3, %n), ^2
^2:
  return %3
}
",
        "func @f(%5: i64, %2: i64) -> i64 {
^1:
  br ^3(%5, %2)
^3(%n: i64, %7: i64):
  %3: i64 = arith.add %n, %7
  %4: bool = arith.lt %3, 100
  br %4, ^3(%3, %n), ^2
^2:
  return %3
}
",
    );
}

#[test]
fn the_exit_of_an_inner_loop_becomes_the_latch_of_the_outer_one() {
    check::<Pass>(
        "func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  br %1, ^3, ^4
^3:
  br %1, ^3, ^2
^4:
  return nothing
}
",
        "func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  br %1, ^6, ^4
^6:
  br ^3
^3:
  br %1, ^3, ^5
^5:
  br ^2
^4:
  return nothing
}
",
    );
}

#[test]
fn an_exit_of_two_loops_becomes_two() {
    check::<Pass>(
        "func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  br ^3
^3:
  br %1, ^4, ^6
^4:
  br %1, ^3, ^5
^5:
  br %1, ^2, ^6
^6:
  return nothing
}
",
        "func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  br ^3
^3:
  br %1, ^4, ^7
^7:
  br ^6
^4:
  br %1, ^3, ^5
^5:
  br %1, ^2, ^8
^8:
  br ^6
^6:
  return nothing
}
",
    );
}

#[test]
fn a_value_leaves_by_the_only_exit() {
    check_closed(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %i, 1
  br ^2(%4)
^4:
  %5: i64 = arith.mul %i, %i
  return %5
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^4(%i)
^3:
  %4: i64 = arith.add %i, 1
  br ^2(%4)
^4(%i.1: i64):
  %5: i64 = arith.mul %i.1, %i.1
  return %5
}
",
    );
}

#[test]
fn values_that_leave_by_several_exits_meet() {
    // `%i` leaves by ^5 and ^6 and is used where these meet; `%4` leaves by ^6 alone.
    check_closed(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^5
^3:
  %4: i64 = arith.mul %i, 3
  %5: bool = arith.eq %4, 12
  br %5, ^6, ^4
^4:
  %6: i64 = arith.add %i, 1
  br ^2(%6)
^5:
  br ^7(0)
^6:
  br ^7(%4)
^7(%7: i64):
  %8: i64 = arith.add %7, %i
  return %8
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^5(%i)
^3:
  %4: i64 = arith.mul %i, 3
  %5: bool = arith.eq %4, 12
  br %5, ^6(%i, %4), ^4
^4:
  %6: i64 = arith.add %i, 1
  br ^2(%6)
^5(%i.1: i64):
  br ^7(0, %i.1)
^6(%i.2: i64, %13: i64):
  br ^7(%13, %i.2)
^7(%7: i64, %i.3: i64):
  %8: i64 = arith.add %7, %i.3
  return %8
}
",
    );
}

#[test]
fn a_value_that_leaves_two_loops_passes_through_both() {
    check_closed(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  br ^3(%2)
^3(%3: i64):
  %4: i64 = arith.add %3, 1
  br %1, ^3(%4), ^4
^4:
  br %1, ^2(%4), ^5
^5:
  return %4
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  br ^3(%2)
^3(%3: i64):
  %4: i64 = arith.add %3, 1
  br %1, ^3(%4), ^4(%4)
^4(%5: i64):
  br %1, ^2(%5), ^5(%5)
^5(%6: i64):
  return %6
}
",
    );
}

#[test]
fn an_irreducible_region_is_left_alone() {
    check_unchanged::<Pass>(
        "func @f(%1: bool) -> unit {
^1:
  br %1, ^2, ^3
^2:
  br ^3
^3:
  br %1, ^2, ^4
^4:
  return nothing
}
",
    );
}
