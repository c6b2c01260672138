//! Rounds of several iterations, and the counts that they take.

use super::by_four;
use crate::check_text;

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
^8(%21: i64, %22: i64, %47: i64):
  %24: i64 = arith.add %21, 1
  %25: i64 = arith.mul %22, %2
  %26: i64 = arith.xor %25, %21
  %30: i64 = arith.add %24, 1
  %31: i64 = arith.mul %26, %2
  %32: i64 = arith.xor %31, %24
  %36: i64 = arith.add %30, 1
  %37: i64 = arith.mul %32, %2
  %38: i64 = arith.xor %37, %30
  %42: i64 = arith.add %36, 1
  %43: i64 = arith.mul %38, %2
  %44: i64 = arith.xor %43, %36
  %48: i64 = arith.sub %47, 4
  %49: bool = arith.ge %48, 4
  br %49, ^8(%42, %44, %48), ^2(%42, %44)
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
^6(%20: i64):
  %14: i64 = arith.add %20, %19
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
