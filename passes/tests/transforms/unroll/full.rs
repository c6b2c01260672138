//! Loops of which nothing is left.

use crate::check_text;

#[test]
fn a_constant_count_leaves_no_loop() {
    check_text(
        "unroll",
        "func @full(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: i64):
  %4: bool = arith.ge %2, 2
  br %4, ^4, ^3
^3:
  %5: i64 = arith.mul %3, 3
  %6: i64 = arith.add %2, 1
  br ^2(%6, %5)
^4:
  return %3
}
",
        "func @full(%1: i64) -> i64 {
^1:
  %5: i64 = arith.mul %1, 3
  %6: i64 = arith.add 0, 1
  %11: i64 = arith.mul %5, 3
  %12: i64 = arith.add %6, 1
  return %11
}
",
    );
}

#[test]
fn a_loop_tested_at_its_end_runs_once_more() {
    check_text(
        "unroll",
        "func @rotated(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: i64):
  %5: i64 = arith.mul %3, 3
  %6: i64 = arith.add %2, 1
  %4: bool = arith.lt %6, 3
  br %4, ^2(%6, %5), ^4
^4:
  return %5
}
",
        "func @rotated(%1: i64) -> i64 {
^1:
  %5: i64 = arith.mul %1, 3
  %6: i64 = arith.add 0, 1
  %10: i64 = arith.mul %5, 3
  %11: i64 = arith.add %6, 1
  %15: i64 = arith.mul %10, 3
  return %15
}
",
    );
}

#[test]
fn other_exits_are_kept_in_each_copy() {
    check_text(
        "unroll",
        "func @several(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %5: bool = arith.lt %3, 3
  br %5, ^3, ^4(-1)
^3:
  %6: i64 = arith.add %3, 1
  %7: i64 = mem.load %2, %6
  %8: bool = arith.eq %7, %1
  br %8, ^4(%3), ^2(%6)
^4(%9: i64):
  return %9
}
",
        "func @several(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  %6: i64 = arith.add 0, 1
  %7: i64 = mem.load %2, %6
  %8: bool = arith.eq %7, %1
  br %8, ^4(0), ^5
^5:
  %12: i64 = arith.add %6, 1
  %13: i64 = mem.load %2, %12
  %14: bool = arith.eq %13, %1
  br %14, ^4(%6), ^7
^7:
  %17: i64 = arith.add %12, 1
  %18: i64 = mem.load %2, %17
  %19: bool = arith.eq %18, %1
  br %19, ^4(%12), ^9
^9:
  br ^4(-1)
^4(%9: i64):
  return %9
}
",
    );
}

#[test]
fn copies_have_names_of_their_own() {
    check_text(
        "unroll",
        "func @named(%n: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%i: i64, %product: i64):
  %next: i64 = arith.mul %product, %n
  %j: i64 = arith.add %i, 1
  %more: bool = arith.lt %j, 2
  br %more, ^2(%j, %next), ^3
^3:
  return %next
}
",
        "func @named(%n: i64) -> i64 {
^1:
  %next: i64 = arith.mul 1, %n
  %j: i64 = arith.add 0, 1
  %next.2: i64 = arith.mul %next, %n
  return %next.2
}
",
    );
}
