//! Loops that have a version without checks.

use regraft_passes::transforms::bounds_elim::BoundsElim;
use regraft_passes::{AllLoops, FunctionPass, Options, Setting};

use crate::check_with;

#[track_caller]
fn versions(before: &str, after: &str) {
    let defs = AllLoops::<BoundsElim>::OPTIONS;
    let mut options = Options::defaults(defs);
    options.set(&defs[0], Setting::Flag(true)).unwrap();
    check_with::<AllLoops<BoundsElim>>(&options, before, after);
}

#[test]
fn a_loop_over_two_arrays_has_a_version_for_when_the_second_is_long_enough() {
    versions(
        "func @dot(%x: array<f64, 1>, %y: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %x
  br ^2(0, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.ge %4, %3
  br %6, ^4, ^3
^3:
  %i: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %i
  %9: f64 = mem.load %y, %i
  %10: f64 = arith.mul %8, %9
  %11: f64 = arith.add %s, %10
  br ^2(%i, %11)
^4:
  return %s
}
",
        "func @dot(%x: array<f64, 1>, %y: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %x
  %16: i64 = mem.length %y
  %17: bool = arith.le %3, %16
  br %17, ^5(0, 0.0), ^2(0, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.ge %4, %3
  br %6, ^4(%s), ^3
^3:
  %i: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %i {inbounds=true}
  %9: f64 = mem.load %y, %i {inbounds=false}
  %10: f64 = arith.mul %8, %9
  %11: f64 = arith.add %s, %10
  br ^2(%i, %11)
^5(%19: i64, %s.2: f64):
  %21: bool = arith.ge %19, %3
  br %21, ^4(%s.2), ^6
^6:
  %i.1: i64 = arith.add %19, 1
  %23: f64 = mem.load %x, %i.1 {inbounds=true}
  %24: f64 = mem.load %y, %i.1 {inbounds=true}
  %25: f64 = arith.mul %23, %24
  %26: f64 = arith.add %s.2, %25
  br ^5(%i.1, %26)
^4(%s.1: f64):
  return %s.1
}
",
    );
}

#[test]
fn a_limit_and_a_start_that_are_arguments_are_asked_for_before_the_loop() {
    versions(
        "func @f(%x: array<f64, 1>, %a: i64, %n: i64) -> f64 {
^1:
  br ^2(%a, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.lt %4, %n
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %7
  %9: f64 = arith.add %s, %8
  br ^2(%7, %9)
^4:
  return %s
}
",
        "func @f(%x: array<f64, 1>, %a: i64, %n: i64) -> f64 {
^1:
  %14: bool = arith.le 0, %a
  %15: i64 = mem.length %x
  %16: bool = arith.le %n, %15
  %17: bool = arith.and %14, %16
  br %17, ^5(%a, 0.0), ^2(%a, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.lt %4, %n
  br %6, ^3, ^4(%s)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %7 {inbounds=false}
  %9: f64 = arith.add %s, %8
  br ^2(%7, %9)
^5(%19: i64, %s.2: f64):
  %21: bool = arith.lt %19, %n
  br %21, ^6, ^4(%s.2)
^6:
  %22: i64 = arith.add %19, 1
  %23: f64 = mem.load %x, %22 {inbounds=true}
  %24: f64 = arith.add %s.2, %23
  br ^5(%22, %24)
^4(%s.1: f64):
  return %s.1
}
",
    );
}

#[test]
fn what_depends_on_the_loop_cannot_be_asked_before() {
    let text = "func @f(%x: array<i64, 1>, %n: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.load %x, %3
  %5: bool = arith.lt %4, %n
  br %5, ^2(%4), ^3
^3:
  return %3
}
";
    versions(text, text);
}
