//! What nothing depends on goes, branches included; what can be noticed stays, running on
//! forever included.

use regraft_passes::transforms::adce::Adce;

use super::{check, check_unchanged};

#[test]
fn a_branch_between_whose_ways_nothing_is_left_goes() {
    check::<Adce>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.mul %2, 3
  br ^4(%3)
^3:
  br ^4(0)
^4(%4: i64):
  return %2
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^4
^4:
  return %2
}
",
    );
}

#[test]
fn a_branch_that_decides_what_is_returned_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.mul %2, 3
  br ^4(%3)
^3:
  br ^4(0)
^4(%4: i64):
  return %4
}
",
    );
}

#[test]
fn an_edge_that_decides_stays_also_if_both_lead_to_one_block() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(1), ^2(2)
^2(%2: i64):
  return %2
}
",
    );
    check::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(1, 5), ^2(2, 5)
^2(%2: i64, %3: i64):
  return %3
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(5)
^2(%3: i64):
  return %3
}
",
    );
}

#[test]
fn what_decides_on_a_dead_branch_goes_with_it() {
    // `%2` decides on the way to a trap that is there; `%4` and the inner diamond on nothing.
    check::<Adce>(
        "func @f(%1: i64, %2: bool, %3: i64) -> i64 {
^1:
  br %2, ^2, ^6
^2:
  %4: bool = arith.lt %1, 5
  %5: i64 = arith.div %1, %3
  br %4, ^3, ^4
^3:
  br ^5(1)
^4:
  br ^5(2)
^5(%6: i64):
  br ^6
^6:
  return %1
}
",
        "func @f(%1: i64, %2: bool, %3: i64) -> i64 {
^1:
  br %2, ^2, ^6
^2:
  %5: i64 = arith.div %1, %3
  br ^5
^5:
  br ^6
^6:
  return %1
}
",
    );
}

#[test]
fn values_that_feed_each_other_around_a_loop_go_and_the_loop_stays() {
    check::<Adce>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^6
^3:
  %5: bool = arith.lt %3, 3
  br %5, ^4, ^5(0)
^4:
  br ^5(1)
^5(%6: i64):
  %7: i64 = arith.add %3, %6
  %8: i64 = arith.add %2, 1
  br ^2(%8, %7)
^6:
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^6
^3:
  br ^5
^5:
  %8: i64 = arith.add %2, 1
  br ^2(%8)
^6:
  return %1
}
",
    );
}

#[test]
fn a_way_into_an_endless_loop_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^2
^3:
  return 1
}
",
    );
}

#[test]
fn a_loop_that_may_run_forever_stays_in_a_region_without_anything() {
    // ^2 goes around as long as `%1` is true.
    check_unchanged::<Adce>(
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br %2, ^2, ^4
^2:
  br %1, ^2, ^3
^3:
  br ^4
^4:
  return 1
}
",
    );
}

#[test]
fn a_cycle_with_two_ways_in_stays_a_cycle() {
    // Which way it is entered does not matter, as ^2 does nothing.
    check::<Adce>(
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br %2, ^2, ^3
^2:
  br ^3
^3:
  br %1, ^2, ^4
^4:
  return 1
}
",
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br ^3
^2:
  br ^3
^3:
  br %1, ^2, ^4
^4:
  return 1
}
",
    );
}

#[test]
fn a_branch_on_any_stays_as_it_traps_unless_it_is_a_bool() {
    check_unchanged::<Adce>(
        "func @f(%1: any) -> i64 {
^1:
  br %1, ^2, ^2
^2:
  return 1
}
",
    );
}

#[test]
fn a_switch_goes_like_a_branch() {
    check::<Adce>(
        "func @f(%1: i64) -> i64 {
^1:
  switch %1, ^2, 1: ^3, 2: ^5(7)
^2:
  br ^4
^3:
  br ^4
^4:
  br ^5(8)
^5(%2: i64):
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^5
^5:
  return %1
}
",
    );
}

#[test]
fn a_switch_without_cases_is_a_jump() {
    check::<Adce>(
        "func @f() -> i64 {
^1:
  %1: i64 = arith.and 0, 0
  switch %1, ^2
^2:
  return 0
}
",
        "func @f() -> i64 {
^1:
  br ^2
^2:
  return 0
}
",
    );
}

#[test]
fn a_branch_to_different_ends_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  return 1
^3:
  unreachable
}
",
    );
}

#[test]
fn unreachable_blocks_go() {
    check::<Adce>(
        "func @f() -> i64 {
^1:
  return 1
^2:
  br ^3
^3:
  br ^2
}
",
        "func @f() -> i64 {
^1:
  return 1
}
",
    );
}
