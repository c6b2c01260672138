//! `unroll`.

use crate::{check_text, parse, run_text};

/// Checks what unrolling by a factor makes. What comes out has a loop that could be unrolled again.
#[track_caller]
fn check_once(pipeline: &str, before: &str, after: &str) {
    let mut module = parse(before);
    run_text(pipeline, &mut module);
    let (found, wanted) = (module.to_string(), parse(after).to_string());
    assert!(found == wanted, "`{pipeline}` gives\n{found}\nand should give\n{wanted}");
}

#[track_caller]
fn by_two(before: &str, after: &str) {
    check_once("unroll{factor=2}", before, after);
}

#[track_caller]
fn by_four(before: &str, after: &str) {
    check_once("unroll{factor=4}", before, after);
}

#[track_caller]
fn keeping_tests(before: &str, after: &str) {
    check_once("unroll{factor=3, any-count}", before, after);
}

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
fn a_count_may_depend_on_the_loop_around() {
    by_four(
        "func @triangle(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3(0, %4), ^6
^3(%6: i64, %7: i64):
  %8: bool = arith.lt %6, %3
  br %8, ^4, ^5
^4:
  %9: i64 = arith.mul %7, %6
  %10: i64 = arith.add %9, %3
  %11: i64 = arith.add %6, 1
  br ^3(%11, %10)
^5:
  %12: i64 = arith.add %3, 1
  br ^2(%12, %7)
^6:
  return %4
}
",
        "func @triangle(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^7, ^6
^7:
  %13: i64 = arith.max 0, %3
  %14: bool = arith.ge %13, 4
  br %14, ^8(0, %4, %13), ^3(0, %4)
^8(%16: i64, %17: i64, %42: i64):
  %19: i64 = arith.mul %17, %16
  %20: i64 = arith.add %19, %3
  %21: i64 = arith.add %16, 1
  %25: i64 = arith.mul %20, %21
  %26: i64 = arith.add %25, %3
  %27: i64 = arith.add %21, 1
  %31: i64 = arith.mul %26, %27
  %32: i64 = arith.add %31, %3
  %33: i64 = arith.add %27, 1
  %37: i64 = arith.mul %32, %33
  %38: i64 = arith.add %37, %3
  %39: i64 = arith.add %33, 1
  %43: i64 = arith.sub %42, 4
  %44: bool = arith.ge %43, 4
  br %44, ^8(%39, %38, %43), ^3(%39, %38)
^3(%6: i64, %7: i64):
  %8: bool = arith.lt %6, %3
  br %8, ^4, ^5(%7)
^4:
  %9: i64 = arith.mul %7, %6
  %10: i64 = arith.add %9, %3
  %11: i64 = arith.add %6, 1
  br ^3(%11, %10)
^5(%15: i64):
  %12: i64 = arith.add %3, 1
  br ^2(%12, %15)
^6:
  return %4
}
",
    );
}

#[test]
fn a_narrow_count_is_unsigned() {
    by_four(
        "func @narrow(%1: i8) -> i8 {
^1:
  br ^2(-128i8, 0i8)
^2(%3: i8, %4: i8):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4
^3:
  %6: i8 = arith.add %3, 1i8
  %7: i8 = arith.xor %4, %3
  br ^2(%6, %7)
^4:
  return %4
}
",
        "func @narrow(%1: i8) -> i8 {
^1:
  %8: i8 = arith.add %1, -128i8
  %9: i64 = arith.zext %8
  %10: bool = arith.ge %9, 4
  br %10, ^5(-128i8, 0i8, %9), ^2(-128i8, 0i8)
^5(%12: i8, %13: i8, %34: i64):
  %15: i8 = arith.add %12, 1i8
  %16: i8 = arith.xor %13, %12
  %20: i8 = arith.add %15, 1i8
  %21: i8 = arith.xor %16, %15
  %25: i8 = arith.add %20, 1i8
  %26: i8 = arith.xor %21, %20
  %30: i8 = arith.add %25, 1i8
  %31: i8 = arith.xor %26, %25
  %35: i64 = arith.sub %34, 4
  %36: bool = arith.ge %35, 4
  br %36, ^5(%30, %31, %35), ^2(%30, %31)
^2(%3: i8, %4: i8):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4(%4)
^3:
  %6: i8 = arith.add %3, 1i8
  %7: i8 = arith.xor %4, %3
  br ^2(%6, %7)
^4(%11: i8):
  return %11
}
",
    );
}

#[test]
fn a_count_that_may_not_hold_is_right_where_it_matters() {
    by_four(
        "func @two(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  %3: bool = arith.ne %2, 0
  br %3, ^3, ^4
^3:
  %4: i64 = arith.sub %2, 2
  %5: unit = core.print %4
  br ^2(%4)
^4:
  return %2
}
",
        "func @two(%1: i64) -> i64 {
^1:
  %6: i64 = arith.neg %1
  %7: i64 = arith.shr %6, 1
  %8: i64 = arith.mul %7, -1
  %9: i64 = arith.and %8, 9223372036854775807
  %10: bool = arith.ge %9, 4
  br %10, ^5(%1, %9), ^2(%1)
^5(%12: i64, %29: i64):
  %14: i64 = arith.sub %12, 2
  %15: unit = core.print %14
  %18: i64 = arith.sub %14, 2
  %19: unit = core.print %18
  %22: i64 = arith.sub %18, 2
  %23: unit = core.print %22
  %26: i64 = arith.sub %22, 2
  %27: unit = core.print %26
  %30: i64 = arith.sub %29, 4
  %31: bool = arith.ge %30, 4
  br %31, ^5(%26, %30), ^2(%26)
^2(%2: i64):
  %3: bool = arith.ne %2, 0
  br %3, ^3, ^4(%2)
^3:
  %4: i64 = arith.sub %2, 2
  %5: unit = core.print %4
  br ^2(%4)
^4(%11: i64):
  return %11
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
fn a_count_may_come_out_of_another_loop() {
    by_four(
        "func @chain(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4(0, 0)
^3:
  %6: i64 = arith.add %3, 1
  %7: i64 = arith.mul %4, %2
  %8: i64 = arith.xor %7, %3
  br ^2(%6, %8)
^4(%9: i64, %10: i64):
  %11: bool = arith.lt %9, %4
  br %11, ^5, ^6
^5:
  %12: i64 = arith.add %9, 1
  %13: i64 = arith.sub %10, %9
  br ^4(%12, %13)
^6:
  %14: i64 = arith.add %10, %4
  return %14
}
",
        "func @chain(%1: i64, %2: i64) -> i64 {
^1:
  %15: i64 = arith.max 0, %1
  %16: bool = arith.ge %15, 4
  br %16, ^8(0, 0, %15), ^2(0, 0)
^8(%20: i64, %21: i64, %46: i64):
  %23: i64 = arith.add %20, 1
  %24: i64 = arith.mul %21, %2
  %25: i64 = arith.xor %24, %20
  %29: i64 = arith.add %23, 1
  %30: i64 = arith.mul %25, %2
  %31: i64 = arith.xor %30, %23
  %35: i64 = arith.add %29, 1
  %36: i64 = arith.mul %31, %2
  %37: i64 = arith.xor %36, %29
  %41: i64 = arith.add %35, 1
  %42: i64 = arith.mul %37, %2
  %43: i64 = arith.xor %42, %35
  %47: i64 = arith.sub %46, 4
  %48: bool = arith.ge %47, 4
  br %48, ^8(%41, %43, %47), ^2(%41, %43)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^7(%4)
^7(%19: i64):
  %17: i64 = arith.max 0, %19
  %18: bool = arith.ge %17, 4
  br %18, ^17(0, 0, %17), ^4(0, 0)
^17(%50: i64, %51: i64, %72: i64):
  %53: i64 = arith.add %50, 1
  %54: i64 = arith.sub %51, %50
  %58: i64 = arith.add %53, 1
  %59: i64 = arith.sub %54, %53
  %63: i64 = arith.add %58, 1
  %64: i64 = arith.sub %59, %58
  %68: i64 = arith.add %63, 1
  %69: i64 = arith.sub %64, %63
  %73: i64 = arith.sub %72, 4
  %74: bool = arith.ge %73, 4
  br %74, ^17(%68, %69, %73), ^4(%68, %69)
^3:
  %6: i64 = arith.add %3, 1
  %7: i64 = arith.mul %4, %2
  %8: i64 = arith.xor %7, %3
  br ^2(%6, %8)
^4(%9: i64, %10: i64):
  %11: bool = arith.lt %9, %19
  br %11, ^5, ^6(%10)
^5:
  %12: i64 = arith.add %9, 1
  %13: i64 = arith.sub %10, %9
  br ^4(%12, %13)
^6(%49: i64):
  %14: i64 = arith.add %49, %19
  return %14
}
",
    );
}

#[test]
fn a_counter_that_may_jump_over_the_end_is_asked_for() {
    by_four(
        "func @stride(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(%1, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %3, 3
  %7: i64 = arith.add %4, %3
  br ^2(%6, %7)
^4:
  return %4
}
",
        "func @stride(%1: i64, %2: i64) -> i64 {
^1:
  %8: i64 = arith.max %1, %2
  %9: i64 = arith.sub %8, %1
  %10: bool = arith.ne %9, 0
  %11: i64 = arith.zext %10
  %12: i64 = arith.sub %9, %11
  %13: i64 = arith.shr %12, 1
  %14: i64 = arith.div %13, 3
  %15: i64 = arith.add %14, %14
  %16: i64 = arith.mul %15, 3
  %17: i64 = arith.sub %12, %16
  %18: bool = arith.ge %17, 3
  %19: bool = arith.lt %17, 0
  %20: bool = arith.or %18, %19
  %21: i64 = core.select %20, 1, 0
  %22: i64 = arith.add %15, %21
  %23: i64 = arith.add %22, %11
  %24: bool = arith.ge %23, 4
  %25: bool = arith.le %2, 9223372036854775805
  %26: bool = arith.and %24, %25
  br %26, ^5(%1, 0, %23), ^2(%1, 0)
^5(%28: i64, %29: i64, %50: i64):
  %31: i64 = arith.add %28, 3
  %32: i64 = arith.add %29, %28
  %36: i64 = arith.add %31, 3
  %37: i64 = arith.add %32, %31
  %41: i64 = arith.add %36, 3
  %42: i64 = arith.add %37, %36
  %46: i64 = arith.add %41, 3
  %47: i64 = arith.add %42, %41
  %51: i64 = arith.sub %50, 4
  %52: bool = arith.ge %51, 4
  br %52, ^5(%46, %47, %51), ^2(%46, %47)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^4(%4)
^3:
  %6: i64 = arith.add %3, 3
  %7: i64 = arith.add %4, %3
  br ^2(%6, %7)
^4(%27: i64):
  return %27
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

#[test]
fn large_loops_stay() {
    // 17 times through the header, and 64 copies of 4 instructions.
    let text = "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: i64):
  %4: bool = arith.ge %2, 16
  br %4, ^4, ^3
^3:
  %5: i64 = arith.mul %3, %3
  %6: i64 = arith.add %2, 1
  br ^2(%6, %5)
^4:
  return %3
}
";
    check_text("unroll", text, text);
    check_text("unroll{factor=64, size=255}", text, text);
}

#[test]
fn a_count_that_is_decided_late_is_left_alone_if_so_asked() {
    let text = "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, 1
  %4: bool = arith.lt %3, %1
  br %4, ^2(%3), ^3
^3:
  return %2
}
";
    check_text("unroll{factor=4, runtime=false}", text, text);
}

#[test]
fn an_irreducible_region_is_not_copied() {
    let text = "func @f(%1: bool) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  br %1, ^3, ^4
^3:
  %3: unit = core.print 3
  br %1, ^4, ^5
^4:
  %4: unit = core.print 4
  br %1, ^3, ^5
^5:
  %5: i64 = arith.add %2, 1
  %6: bool = arith.lt %5, 3
  br %6, ^2(%5), ^6
^6:
  return %2
}
";
    check_text("unroll{factor=4, any-count}", text, text);
}

#[test]
fn edges_that_lost_arguments_are_still_found() {
    // The exit moves within its terminator when `dce` drops the second parameter of ^2.
    let text = "func @f(%1: array<f64, 1>, %2: i64) -> i64 {
^1:
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: f64 = mem.load %1, %3
  %6: bool = arith.le 0, %2
  br %6, ^2(0, 0.0), ^3
^3:
  return 0
}
";
    let mut module = parse(text);
    run_text("loop-simplify, dce, unroll{factor=3}", &mut module);
    // A condition that never changes: the exit is taken at once, or never.
    assert!(module.to_string().contains("arith.ge 0, 3"), "{module}");
}
