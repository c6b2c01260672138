//! Rounds of several iterations, and their exits.

use super::{by_four, check_once};

#[track_caller]
fn by_two(before: &str, after: &str) {
    check_once("unroll{factor=2}", before, after);
}

#[track_caller]
fn keeping_tests(before: &str, after: &str) {
    check_once("unroll{factor=3, any-count}", before, after);
}

#[test]
fn one_test_is_left_for_four_iterations() {
    by_four(
        "func @runtime(%1: i64, %2: array<f64, 1>) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %2, %6
  %8: f64 = arith.add %4, %7
  br ^2(%6, %8)
^4:
  return %4
}
",
        "func @runtime(%1: i64, %2: array<f64, 1>) -> f64 {
^1:
  %9: i64 = arith.max 0, %1
  %10: bool = arith.ge %9, 4
  br %10, ^5(0, 0.0, %9), ^2(0, 0.0)
^5(%12: i64, %13: f64, %38: i64):
  %15: i64 = arith.add %12, 1
  %16: f64 = mem.load %2, %15
  %17: f64 = arith.add %13, %16
  %21: i64 = arith.add %15, 1
  %22: f64 = mem.load %2, %21
  %23: f64 = arith.add %17, %22
  %27: i64 = arith.add %21, 1
  %28: f64 = mem.load %2, %27
  %29: f64 = arith.add %23, %28
  %33: i64 = arith.add %27, 1
  %34: f64 = mem.load %2, %33
  %35: f64 = arith.add %29, %34
  %39: i64 = arith.sub %38, 4
  %40: bool = arith.ge %39, 4
  br %40, ^5(%33, %35, %39), ^2(%33, %35)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4(%4)
^3:
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %2, %6
  %8: f64 = arith.add %4, %7
  br ^2(%6, %8)
^4(%11: f64):
  return %11
}
",
    );
}

#[test]
fn rounds_follow_each_other_where_the_latch_leaves_first() {
    by_two(
        "func @rotated(%1: i64, %2: array<f64, 1>) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: i64 = arith.add %3, 1
  %6: f64 = mem.load %2, %5
  %7: f64 = arith.add %4, %6
  %8: bool = arith.ge %5, %1
  br %8, ^3, ^2(%5, %7)
^3:
  return %7
}
",
        "func @rotated(%1: i64, %2: array<f64, 1>) -> f64 {
^1:
  %9: i64 = arith.max 1, %1
  %10: i64 = arith.sub %9, 1
  %11: bool = arith.ge %10, 2
  br %11, ^4(0, 0.0, %10), ^2(0, 0.0)
^4(%13: i64, %14: f64, %27: i64):
  %15: i64 = arith.add %13, 1
  %16: f64 = mem.load %2, %15
  %17: f64 = arith.add %14, %16
  %21: i64 = arith.add %15, 1
  %22: f64 = mem.load %2, %21
  %23: f64 = arith.add %17, %22
  %28: i64 = arith.sub %27, 2
  %29: bool = arith.ge %28, 2
  br %29, ^4(%21, %23, %28), ^2(%21, %23)
^2(%3: i64, %4: f64):
  %5: i64 = arith.add %3, 1
  %6: f64 = mem.load %2, %5
  %7: f64 = arith.add %4, %6
  %8: bool = arith.ge %5, %1
  br %8, ^3(%7), ^2(%5, %7)
^3(%12: f64):
  return %12
}
",
    );
}

#[test]
fn rounds_keep_the_exits_that_do_not_count() {
    by_four(
        "func @search(%1: i64, %2: array<i64, 1>, %20: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %5: bool = arith.lt %3, %20
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
        "func @search(%1: i64, %2: array<i64, 1>, %20: i64) -> i64 {
^1:
  %21: i64 = arith.max 0, %20
  %22: bool = arith.ge %21, 4
  br %22, ^5(0, %21), ^2(0)
^5(%23: i64, %44: i64):
  %25: i64 = arith.add %23, 1
  %26: i64 = mem.load %2, %25
  %27: bool = arith.eq %26, %1
  br %27, ^4(%23), ^7
^7:
  %30: i64 = arith.add %25, 1
  %31: i64 = mem.load %2, %30
  %32: bool = arith.eq %31, %1
  br %32, ^4(%25), ^9
^9:
  %35: i64 = arith.add %30, 1
  %36: i64 = mem.load %2, %35
  %37: bool = arith.eq %36, %1
  br %37, ^4(%30), ^11
^11:
  %40: i64 = arith.add %35, 1
  %41: i64 = mem.load %2, %40
  %42: bool = arith.eq %41, %1
  br %42, ^4(%35), ^13
^13:
  %45: i64 = arith.sub %44, 4
  %46: bool = arith.ge %45, 4
  br %46, ^5(%40, %45), ^2(%40)
^2(%3: i64):
  %5: bool = arith.lt %3, %20
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
    );
}

#[test]
fn a_function_that_begins_with_its_loop() {
    by_four(
        "func @entry(%1: i64) -> i64 {
^1:
  %2: i64 = arith.add %1, 1
  %3: bool = arith.lt %2, 100
  br %3, ^1(%2), ^2
^2:
  return %2
}
",
        "func @entry(%1: i64) -> i64 {
^1:
  %5: i64 = arith.add %1, 1
  %6: i64 = arith.max %5, 100
  %7: i64 = arith.sub %6, %5
  %8: bool = arith.ge %7, 4
  br %8, ^4(%1, %7), ^3(%1)
^4(%10: i64, %23: i64):
  %11: i64 = arith.add %10, 1
  %14: i64 = arith.add %11, 1
  %17: i64 = arith.add %14, 1
  %20: i64 = arith.add %17, 1
  %24: i64 = arith.sub %23, 4
  %25: bool = arith.ge %24, 4
  br %25, ^4(%20, %24), ^3(%20)
^3(%4: i64):
  %2: i64 = arith.add %4, 1
  %3: bool = arith.lt %2, 100
  br %3, ^3(%2), ^2(%2)
^2(%9: i64):
  return %9
}
",
    );
}

#[test]
fn what_is_left_of_an_inner_loop_is_unrolled_with_the_outer_one() {
    by_two(
        "func @nest(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3(0, %3), ^5
^3(%5: i64, %6: i64):
  %7: i64 = arith.mul %6, 10
  %8: i64 = arith.add %7, %5
  %9: i64 = arith.add %5, 1
  %10: bool = arith.lt %9, 3
  br %10, ^3(%9, %8), ^4
^4:
  %11: i64 = arith.add %2, 1
  br ^2(%11, %8)
^5:
  return %3
}
",
        "func @nest(%1: i64) -> i64 {
^1:
  %25: i64 = arith.max 0, %1
  %26: bool = arith.ge %25, 2
  br %26, ^9(0, 0, %25), ^2(0, 0)
^9(%28: i64, %29: i64, %54: i64):
  %31: i64 = arith.mul %29, 10
  %32: i64 = arith.add %31, 0
  %33: i64 = arith.add 0, 1
  %34: i64 = arith.mul %32, 10
  %35: i64 = arith.add %34, %33
  %36: i64 = arith.add %33, 1
  %37: i64 = arith.mul %35, 10
  %38: i64 = arith.add %37, %36
  %39: i64 = arith.add %28, 1
  %43: i64 = arith.mul %38, 10
  %44: i64 = arith.add %43, 0
  %45: i64 = arith.add 0, 1
  %46: i64 = arith.mul %44, 10
  %47: i64 = arith.add %46, %45
  %48: i64 = arith.add %45, 1
  %49: i64 = arith.mul %47, 10
  %50: i64 = arith.add %49, %48
  %51: i64 = arith.add %39, 1
  %55: i64 = arith.sub %54, 2
  %56: bool = arith.ge %55, 2
  br %56, ^9(%51, %50, %55), ^2(%51, %50)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^6, ^5(%3)
^6:
  %7: i64 = arith.mul %3, 10
  %8: i64 = arith.add %7, 0
  %9: i64 = arith.add 0, 1
  %15: i64 = arith.mul %8, 10
  %16: i64 = arith.add %15, %9
  %17: i64 = arith.add %9, 1
  %21: i64 = arith.mul %16, 10
  %22: i64 = arith.add %21, %17
  %11: i64 = arith.add %2, 1
  br ^2(%11, %22)
^5(%27: i64):
  return %27
}
",
    );
}

#[test]
fn without_a_count_copies_keep_their_tests() {
    keeping_tests(
        "func @while(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  %3: bool = arith.eq %2, 1
  br %3, ^4, ^3
^3:
  %4: i64 = arith.mul %2, %2
  %5: i64 = arith.rem %4, 1000003
  br ^2(%5)
^4:
  return %2
}
",
        "func @while(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  %3: bool = arith.eq %2, 1
  br %3, ^4(%2), ^3
^3:
  %4: i64 = arith.mul %2, %2
  %5: i64 = arith.rem %4, 1000003
  %8: bool = arith.eq %5, 1
  br %8, ^4(%5), ^6
^6:
  %9: i64 = arith.mul %5, %5
  %10: i64 = arith.rem %9, 1000003
  %12: bool = arith.eq %10, 1
  br %12, ^4(%10), ^8
^8:
  %13: i64 = arith.mul %10, %10
  %14: i64 = arith.rem %13, 1000003
  br ^2(%14)
^4(%6: i64):
  return %6
}
",
    );
}
