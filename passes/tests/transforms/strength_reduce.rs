//! `strength-reduce`.

use regraft_passes::AllLoops;
use regraft_passes::transforms::strength_reduce::StrengthReduce;

use crate::check;

type Pass = AllLoops<StrengthReduce>;

#[test]
fn a_product_with_an_invariant_is_carried_along() {
    check::<Pass>(
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^4
^3:
  %k: i64 = arith.mul %i, %m
  %7: i64 = arith.xor %s, %k
  %8: i64 = arith.add %i, 1
  br ^2(%8, %7)
^4:
  return %s
}
",
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0, 0, 0)
^2(%i: i64, %s: i64, %k: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^4
^3:
  %7: i64 = arith.xor %s, %k
  %8: i64 = arith.add %i, 1
  %15: i64 = arith.add %k, %m
  br ^2(%8, %7, %15)
^4:
  return %s
}
",
    );
}

#[test]
fn products_that_are_a_constant_apart_share_a_parameter() {
    check::<Pass>(
        "func @f(%n: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %4: bool = arith.lt %i, %n
  br %4, ^3, ^4
^3:
  %5: i64 = arith.mul %i, 12
  %6: i64 = arith.add %i, 1
  %7: i64 = arith.mul %6, 12
  %8: unit = mem.store %x, %5, %7
  br ^2(%6)
^4:
  return %n
}
",
        "func @f(%n: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %12: i64):
  %4: bool = arith.lt %i, %n
  br %4, ^3, ^4
^3:
  %6: i64 = arith.add %i, 1
  %14: i64 = arith.add %12, 12
  %8: unit = mem.store %x, %12, %14
  %13: i64 = arith.add %12, 12
  br ^2(%6, %13)
^4:
  return %n
}
",
    );
}

#[test]
fn what_runs_in_some_iterations_and_what_is_a_shift_stays() {
    check::<Pass>(
        "func @f(%n: i64, %m: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^6
^3:
  %6: i64 = arith.mul %i, 8
  %7: bool = arith.lt %6, %m
  br %7, ^4, ^5
^4:
  %8: i64 = arith.mul %i, %m
  %9: unit = mem.store %x, %8, 1
  br ^5
^5:
  %10: i64 = arith.add %i, 1
  br ^2(%10)
^6:
  return %n
}
",
        "func @f(%n: i64, %m: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^6
^3:
  %6: i64 = arith.mul %i, 8
  %7: bool = arith.lt %6, %m
  br %7, ^4, ^5
^4:
  %8: i64 = arith.mul %i, %m
  %9: unit = mem.store %x, %8, 1
  br ^5
^5:
  %10: i64 = arith.add %i, 1
  br ^2(%10)
^6:
  return %n
}
",
    );
}

#[test]
fn a_linear_index_of_two_loops_begins_with_that_of_the_outer_one() {
    check::<Pass>(
        "func @f(%n: i64, %m: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^7
^3:
  %6: i64 = arith.add %i, 1
  br ^4(0)
^4(%j: i64):
  %8: bool = arith.lt %j, %n
  br %8, ^5, ^6
^5:
  %9: i64 = arith.mul %j, %m
  %10: i64 = arith.add %9, %i
  %11: i64 = arith.mul %10, 24
  %12: unit = mem.store %x, %11, %10
  %13: i64 = arith.add %j, 1
  br ^4(%13)
^6:
  br ^2(%6)
^7:
  return %n
}
",
        "func @f(%n: i64, %m: i64, %x: array<i64, 1>) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %25: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^7
^3:
  %6: i64 = arith.add %i, 1
  %22: i64 = arith.mul %m, 24
  br ^4(0, 0, %25)
^4(%j: i64, %19: i64, %23: i64):
  %8: bool = arith.lt %j, %n
  br %8, ^5, ^6
^5:
  %10: i64 = arith.add %19, %i
  %12: unit = mem.store %x, %23, %10
  %13: i64 = arith.add %j, 1
  %20: i64 = arith.add %19, %m
  %24: i64 = arith.add %23, %22
  br ^4(%13, %20, %24)
^6:
  %26: i64 = arith.add %25, 24
  br ^2(%6, %26)
^7:
  return %n
}
",
    );
}

#[test]
fn products_of_floats_and_of_what_grows_faster_stay() {
    check::<Pass>(
        "func @f(%n: i64, %m: f64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^4
^3:
  %6: i64 = arith.mul %i, %i
  %7: f64 = arith.int_to_float %6
  %8: f64 = arith.mul %7, %m
  %9: f64 = arith.add %s, %8
  %10: i64 = arith.add %i, 1
  br ^2(%10, %9)
^4:
  return %s
}
",
        "func @f(%n: i64, %m: f64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^4
^3:
  %6: i64 = arith.mul %i, %i
  %7: f64 = arith.int_to_float %6
  %8: f64 = arith.mul %7, %m
  %9: f64 = arith.add %s, %8
  %10: i64 = arith.add %i, 1
  br ^2(%10, %9)
^4:
  return %s
}
",
    );
}
