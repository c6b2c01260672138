//! Loops that surely end and leave nothing but what can be computed go; all others stay.

use regraft_passes::AllLoops;
use regraft_passes::transforms::loop_delete::LoopDelete;

use super::{check, check_unchanged};

type Pass = AllLoops<LoopDelete>;

#[test]
fn a_loop_whose_results_nobody_uses_goes() {
    check::<Pass>(
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
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^4
^4:
  return %1
}
",
    );
}

#[test]
fn results_that_follow_from_the_trip_count_are_computed() {
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0, %2)
^2(%i: i64, %acc: i64):
  %5: bool = arith.lt %i, %1
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %i, 1
  %7: i64 = arith.add %acc, 3
  br ^2(%6, %7)
^4:
  return %acc
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %10: i64 = arith.max 0, %1
  %11: i64 = arith.mul %10, 3
  %acc: i64 = arith.add %2, %11
  br ^4
^4:
  return %acc
}
",
    );
}

#[test]
fn a_constant_count_gives_constants() {
    // From 0 by 7 while less than 50: left at 56, in the iteration of number 8.
    check::<Pass>(
        "func @f() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  %2: i64 = arith.mul %1, %1
  %3: bool = arith.lt %1, 50
  br %3, ^3, ^4(%2)
^3:
  %4: i64 = arith.add %1, 7
  br ^2(%4)
^4(%5: i64):
  %6: i64 = arith.add %5, %1
  return %6
}
",
        "func @f() -> i64 {
^1:
  br ^4(3136)
^4(%5: i64):
  %6: i64 = arith.add %5, 56
  return %6
}
",
    );
}

#[test]
fn a_nest_goes_from_within() {
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3(0, %4), ^5
^3(%6: i64, %7: i64):
  %8: bool = arith.lt %6, 10
  br %8, ^4, ^6
^4:
  %9: i64 = arith.add %6, 1
  %10: i64 = arith.add %7, %2
  br ^3(%9, %10)
^6:
  %11: i64 = arith.add %3, 1
  br ^2(%11, %7)
^5:
  return %4
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %15: i64 = arith.max 0, %1
  %16: i64 = arith.mul %15, 10
  %17: i64 = arith.mul %16, %2
  br ^5
^5:
  return %17
}
",
    );
}

#[test]
fn a_loop_that_never_goes_back_is_straight_code() {
    check::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(5)
^2(%2: i64):
  %3: unit = core.print %2
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, 6
  br %5, ^2(%4), ^3
^3:
  return %4
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(5)
^2(%2: i64):
  %3: unit = core.print %2
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, 6
  br ^3
^3:
  return %4
}
",
    );
}

#[test]
fn what_prints_or_may_trap_stays() {
    check_unchanged::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: bool = arith.lt %3, %1
  br %4, ^3, ^4
^3:
  %5: i64 = arith.div %3, %2
  %6: i64 = arith.add %3, 1
  br ^2(%6)
^4:
  br ^5(0)
^5(%7: i64):
  %8: bool = arith.lt %7, %1
  br %8, ^6, ^7
^6:
  %9: unit = core.print %7
  %10: i64 = arith.add %7, 1
  br ^5(%10)
^7:
  return %1
}
",
    );
}

#[test]
fn what_may_run_forever_stays() {
    // By 2 until equal: never, if `%1` is odd.
    check_unchanged::<Pass>(
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: bool = arith.eq %3, %1
  br %4, ^4, ^3
^3:
  %5: i64 = arith.add %3, 2
  br ^2(%5)
^4:
  br %2, ^4, ^5
^5:
  return %1
}
",
    );
}

#[test]
fn by_one_until_equal_ends_with_wrapping_around_if_need_be() {
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(%2)
^2(%3: i64):
  %4: bool = arith.eq %3, %1
  br %4, ^4, ^3
^3:
  %5: i64 = arith.add %3, 1
  br ^2(%5)
^4:
  return %3
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^4
^4:
  return %1
}
",
    );
}

#[test]
fn a_result_that_is_not_known_keeps_the_loop() {
    check_unchanged::<Pass>(
        "func @f(%1: i64) -> f64 {
^1:
  br ^2(0, 1.0)
^2(%2: i64, %3: f64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %2, 1
  %6: f64 = arith.mul %3, 1.5
  br ^2(%5, %6)
^4:
  return %3
}
",
    );
}

#[test]
fn one_loop_may_need_what_another_one_leaves() {
    check::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3, ^4(0, %2)
^3:
  %4: i64 = arith.add %2, 1
  br ^2(%4)
^4(%5: i64, %6: i64):
  %7: bool = arith.lt %5, %2
  br %7, ^5, ^6
^5:
  %8: i64 = arith.add %5, 1
  %9: i64 = arith.add %6, 2
  br ^4(%8, %9)
^6:
  return %6
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %13: i64 = arith.max 0, %1
  br ^7
^7:
  %10: i64 = arith.max 0, %13
  %11: i64 = arith.mul %10, 2
  %12: i64 = arith.add %13, %11
  br ^6
^6:
  return %12
}
",
    );
}

#[test]
fn a_count_may_depend_on_the_loop_around() {
    // The inner loop runs from `%2`, the iteration around, up to `%1`.
    check::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3(%2), ^5
^3(%4: i64):
  %5: bool = arith.lt %4, %1
  br %5, ^4, ^6
^4:
  %6: i64 = arith.add %4, 1
  br ^3(%6)
^6:
  %7: unit = core.print %4
  %8: i64 = arith.add %2, 1
  br ^2(%8)
^5:
  return 0
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^7, ^5
^7:
  br ^6
^6:
  %7: unit = core.print %1
  %8: i64 = arith.add %2, 1
  br ^2(%8)
^5:
  return 0
}
",
    );
}
