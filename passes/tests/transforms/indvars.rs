//! `indvars`.

use regraft_passes::transforms::indvars::Indvars;
use regraft_passes::{AllLoops, Options};

use crate::{apply, check, parse};

type Pass = AllLoops<Indvars>;

#[test]
fn a_second_parameter_goes_and_the_test_asks_the_counter() {
    check::<Pass>(
        "func @f(%1: array<i64, 1>) -> i64 {
^1:
  br ^2(1, 10)
^2(%i: i64, %k: i64):
  %4: bool = arith.le %i, 100
  br %4, ^3, ^4
^3:
  %5: unit = mem.store %1, %k, %i
  %6: i64 = arith.add %i, 1
  %7: i64 = arith.add %k, 3
  br ^2(%6, %7)
^4:
  return %i
}
",
        "func @f(%1: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%10: i64):
  %i: i64 = arith.add %10, 1
  %13: i64 = arith.mul %10, 3
  %k: i64 = arith.add %13, 10
  %15: bool = arith.lt %10, 100
  br %15, ^3, ^4
^3:
  %5: unit = mem.store %1, %k, %i
  br ^2(%i)
^4:
  return 101
}
",
    );
}

#[test]
fn a_loop_over_an_array_counts_from_zero() {
    check::<Pass>(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  br ^2(0.0, 1)
^2(%s: f64, %i: i64):
  %5: bool = arith.le %i, %n
  br %5, ^3, ^4
^3:
  %6: f64 = mem.load %x, %i
  %7: f64 = arith.add %s, %6
  %8: i64 = arith.add %i, 1
  br ^2(%7, %8)
^4:
  return %s
}
",
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  br ^2(0.0, 0)
^2(%s: f64, %13: i64):
  %i: i64 = arith.add %13, 1
  %16: bool = arith.lt %13, %n
  br %16, ^3, ^4
^3:
  %6: f64 = mem.load %x, %i
  %7: f64 = arith.add %s, %6
  br ^2(%7, %i)
^4:
  return %s
}
",
    );
}

#[test]
fn a_bound_that_the_counter_may_pass_keeps_its_test() {
    check::<Pass>(
        "func @f(%n: i64) -> i64 {
^1:
  br ^2(1, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.le %i, %n
  br %5, ^3, ^4
^3:
  %7: i64 = arith.add %s, %i
  %8: i64 = arith.add %i, 1
  br ^2(%8, %7)
^4:
  %9: i64 = arith.add %s, %i
  return %9
}
",
        "func @f(%n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%s: i64, %13: i64):
  %i: i64 = arith.add %13, 1
  %5: bool = arith.le %i, %n
  br %5, ^3, ^4
^3:
  %7: i64 = arith.add %s, %i
  br ^2(%7, %i)
^4:
  %16: i64 = arith.add %n, 1
  %17: i64 = arith.max 1, %16
  %9: i64 = arith.add %s, %17
  return %9
}
",
    );
}

#[test]
fn rotated_loops_and_down_counts() {
    check::<Pass>(
        "func @f(%n: i64, %d: i64) -> i64 {
^1:
  br ^2(%n, 0, %d)
^2(%i: i64, %s: i64, %k: i64):
  %7: i64 = arith.mul %i, %k
  %8: i64 = arith.add %s, %7
  %9: i64 = arith.sub %i, 1
  %10: i64 = arith.add %k, %d
  %11: bool = arith.gt %9, 0
  br %11, ^2(%9, %8, %10), ^3(%10)
^3(%12: i64):
  %13: i64 = arith.add %8, %12
  return %13
}
",
        "func @f(%n: i64, %d: i64) -> i64 {
^1:
  %24: i64 = arith.add %n, -1
  %25: i64 = arith.min %24, 0
  %26: i64 = arith.sub %24, %25
  br ^2(0, 0)
^2(%s: i64, %19: i64):
  %i: i64 = arith.sub %n, %19
  %22: i64 = arith.mul %19, %d
  %k: i64 = arith.add %22, %d
  %7: i64 = arith.mul %i, %k
  %8: i64 = arith.add %s, %7
  %20: i64 = arith.add %19, 1
  %27: bool = arith.lt %19, %26
  br %27, ^2(%8, %20), ^4
^4:
  %28: i64 = arith.add %26, 2
  %29: i64 = arith.mul %28, %d
  br ^3(%29)
^3(%12: i64):
  %13: i64 = arith.add %8, %12
  return %13
}
",
    );
}

#[test]
fn narrow_counters_become_one_wide_one() {
    check::<Pass>(
        "func @f(%n: i32) -> i64 {
^1:
  br ^2(0i32, 5, 0)
^2(%i: i32, %j: i64, %s: i64):
  %6: bool = arith.lt %i, %n
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %s, %j
  %8: i32 = arith.add %i, 1i32
  %9: i64 = arith.add %j, 2
  br ^2(%8, %9, %7)
^4:
  %10: i64 = arith.sext %i
  %11: i64 = arith.add %10, %s
  return %11
}
",
        "func @f(%n: i32) -> i64 {
^1:
  %21: i32 = arith.max 0i32, %n
  %22: i64 = arith.zext %21
  br ^2(0, 0)
^2(%s: i64, %16: i64):
  %18: i64 = arith.mul %16, 2
  %j: i64 = arith.add %18, 5
  %23: bool = arith.lt %16, %22
  br %23, ^3, ^4
^3:
  %7: i64 = arith.add %s, %j
  %17: i64 = arith.add %16, 1
  br ^2(%7, %17)
^4:
  %24: i32 = arith.max 0i32, %n
  %10: i64 = arith.sext %24
  %11: i64 = arith.add %10, %s
  return %11
}
",
    );
}

#[test]
fn the_canonical_loop_stays() {
    check::<Pass>(
        "func @f(%n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.ge %i, %n
  br %5, ^4, ^3
^3:
  %7: i64 = arith.add %i, 1
  %8: i64 = arith.mul %s, %7
  br ^2(%7, %8)
^4:
  return %s
}
",
        "func @f(%n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.ge %i, %n
  br %5, ^4, ^3
^3:
  %7: i64 = arith.add %i, 1
  %8: i64 = arith.mul %s, %7
  br ^2(%7, %8)
^4:
  return %s
}
",
    );
}

#[test]
fn inner_loops_start_with_the_outer_counter() {
    check::<Pass>(
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^7
^3:
  br ^4(%i, %s, 0)
^4(%j: i64, %t: i64, %u: i64):
  %9: bool = arith.lt %j, %n
  br %9, ^5, ^6
^5:
  %10: i64 = arith.mul %u, %j
  %11: i64 = arith.add %t, %10
  %12: i64 = arith.add %j, 1
  %x: i64 = arith.add %u, %i
  br ^4(%12, %11, %x)
^6:
  %13: i64 = arith.add %i, 1
  br ^2(%13, %t)
^7:
  return %s
}
",
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^7
^3:
  %26: i64 = arith.sub %n, %i
  br ^4(%s, 0)
^4(%t: i64, %22: i64):
  %j: i64 = arith.add %22, %i
  %u: i64 = arith.mul %22, %i
  %27: bool = arith.ne %22, %26
  br %27, ^5, ^6
^5:
  %10: i64 = arith.mul %u, %j
  %11: i64 = arith.add %t, %10
  %23: i64 = arith.add %22, 1
  br ^4(%11, %23)
^6:
  %13: i64 = arith.add %i, 1
  br ^2(%13, %t)
^7:
  return %s
}
",
    );
}

#[test]
fn an_exit_that_passes_values_of_two_loops_is_split_for_one_of_them() {
    // The arguments move to the block on the edge, which is made for the loop of ^5.
    let mut module = parse(
        "func @f() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  br false, ^3, ^5(0)
^3:
  br false, ^3, ^4
^4:
  %2: i64 = arith.add 1, %1
  br ^2(%2)
^5(%3: i64):
  br ^7
^6(%4: bool, %5: i64):
  return 0
^7:
  br false, ^7, ^8
^8:
  %6: i64 = arith.sub %3, 1
  br false, ^5(%6), ^6(false, %1)
}
",
    );
    apply::<Pass>(&mut module, &Options::defaults(<Pass as regraft_passes::FunctionPass>::OPTIONS));
}

#[test]
fn a_block_on_the_way_from_an_inner_loop_to_the_outer_header_is_in_the_outer_loop() {
    check::<Pass>(
        "func @f(%a: array<i64, 1>, %n: i64) -> i64 {
^1:
  br ^2(1, 0)
^2(%i: i64, %s: i64):
  %1: bool = arith.le %i, %n
  br %1, ^3, ^6
^3:
  %i2: i64 = arith.add %i, 1
  br ^4(1)
^4(%j: i64):
  mem.store %a, %i, %j
  %j2: i64 = arith.add %j, 1
  %2: bool = arith.le %j2, %n
  br %2, ^4(%j2), ^2(%i2, %j2)
^6:
  return %s
}
",
        "func @f(%a: array<i64, 1>, %n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%s: i64, %16: i64):
  %i: i64 = arith.add %16, 1
  %1: bool = arith.le %i, %n
  br %1, ^3, ^6
^3:
  br ^4(0)
^4(%11: i64):
  %j: i64 = arith.add %11, 1
  %9: unit = mem.store %a, %i, %j
  %j2: i64 = arith.add %j, 1
  %2: bool = arith.le %j2, %n
  br %2, ^4(%j), ^7
^7:
  %14: i64 = arith.add %n, 1
  %15: i64 = arith.max 2, %14
  br ^2(%15, %i)
^6:
  return %s
}
",
    );
}

#[test]
fn a_final_value_of_an_inner_loop_leaves_the_outer_one_as_well() {
    let mut module = parse(
        "func @f(%a: array<i64, 1>, %n: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  br ^4(%i)
^4(%j: i64):
  mem.store %a, %i, 1
  %j2: i64 = arith.add %j, 1
  %k: i64 = arith.sub %j2, %i
  %2: bool = arith.lt %k, 10
  br %2, ^4(%j2), ^5
^5:
  %i2: i64 = arith.add %i, 1
  %1: bool = arith.lt %i2, 20
  br %1, ^2(%i2), ^6
^6:
  return %j2
}
",
    );
    apply::<Pass>(&mut module, &Options::defaults(<Pass as regraft_passes::FunctionPass>::OPTIONS));
    // In its last iteration `%i` is 19, and `%k` is 10.
    let found = module.to_string();
    assert!(found.ends_with("return 29\n}\n"), "{found}");
}
