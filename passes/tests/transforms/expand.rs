//! `expand`.

use regraft_passes::transforms::expand::Expand;

use crate::{check, check_unchanged};

#[test]
fn what_a_loop_uses_goes_around_it() {
    check::<Expand>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, %1
  %4: bool = arith.lt %3, 100
  br %4, ^2(%3), ^3
^3:
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %5: i64):
  %3: i64 = arith.add %2, %5
  %4: bool = arith.lt %3, 100
  br %4, ^2(%3, %5), ^3(%3)
^3(%6: i64):
  return %6
}
",
    );
}

#[test]
fn a_block_passes_on_what_it_does_not_use() {
    check::<Expand>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^4
^3:
  br ^4
^4:
  return %2
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2), ^3(%2)
^2(%3: i64):
  br ^4(%3)
^3(%4: i64):
  br ^4(%4)
^4(%5: i64):
  return %5
}
",
    );
}

#[test]
fn parameters_stand_in_the_order_of_the_definitions() {
    check::<Expand>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, %2
  br ^2
^2:
  %4: i64 = arith.mul %3, %2
  %5: i64 = arith.mul %4, %1
  return %5
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, %2
  br ^2(%1, %2, %3)
^2(%6: i64, %7: i64, %8: i64):
  %4: i64 = arith.mul %8, %7
  %5: i64 = arith.mul %4, %6
  return %5
}
",
    );
}

#[test]
fn arguments_of_edges_are_uses_of_the_block_they_leave() {
    check::<Expand>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2
^2:
  br %1, ^3(%2), ^3(1)
^3(%3: i64):
  return %3
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%1, %2)
^2(%4: bool, %5: i64):
  br %4, ^3(%5), ^3(1)
^3(%3: i64):
  return %3
}
",
    );
}

#[test]
fn an_entry_that_is_a_loop_gets_no_parameter() {
    check::<Expand>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2
^2:
  br %1, ^1(%1, %2), ^3
^3:
  return 0
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%1, %2)
^2(%3: bool, %4: i64):
  br %3, ^1(%3, %4), ^3
^3:
  return 0
}
",
    );
}

#[test]
fn unreachable_blocks_go() {
    check::<Expand>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2
^2:
  return %1
^3:
  %2: i64 = arith.add %1, %3
  br ^4
^4:
  %3: i64 = arith.add %2, 1
  br ^3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%4: i64):
  return %4
}
",
    );
}

#[test]
fn what_passes_everything_already_stays() {
    check_unchanged::<Expand>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, 3)
^2(%2: i64, %3: i64):
  %4: i64 = arith.add %2, %3
  return %4
}
",
    );
}
