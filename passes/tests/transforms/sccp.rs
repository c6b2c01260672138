//! `sccp`.

use regraft_passes::transforms::sccp::Sccp;

use crate::{check, check_unchanged};

#[test]
fn what_is_constant_only_if_a_branch_is_never_taken_is_found_around_a_loop() {
    check::<Sccp>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^6
^3:
  %5: bool = arith.eq %3, 1
  br %5, ^5(%3), ^4
^4:
  br ^5(2)
^5(%6: i64):
  %7: i64 = arith.add %2, %6
  br ^2(%7, %6)
^6:
  return %3
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
  %7: i64 = arith.add %2, 1
  br ^2(%7)
^6:
  return 1
}
",
    );
}

#[test]
fn intervals_decide_comparisons_of_a_counter() {
    // The counter is never negative, and within the loop less than ten.
    check::<Sccp>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 10
  br %4, ^3, ^6
^3:
  %5: bool = arith.ge %2, 0
  br %5, ^4, ^5
^4:
  %6: bool = arith.le %2, 9
  %7: i64 = core.select %6, %1, 7
  %8: i64 = arith.add %3, %7
  %9: i64 = arith.add %2, 1
  br ^2(%9, %8)
^5:
  return -1
^6:
  %10: bool = arith.eq %2, 10
  br %10, ^7, ^5
^7:
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 10
  br %4, ^3, ^6
^3:
  br ^4
^4:
  %8: i64 = arith.add %3, %1
  %9: i64 = arith.add %2, 1
  br ^2(%9, %8)
^6:
  br ^7
^7:
  return %3
}
",
    );
}

#[test]
fn an_inner_condition_that_the_outer_one_implies_is_known() {
    check::<Sccp>(
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  %3: bool = arith.gt %1, 5
  %4: bool = arith.and %3, %2
  br %4, ^2, ^5
^2:
  %5: bool = arith.gt %1, 3
  br %5, ^3, ^4
^3:
  %6: i64 = core.select %2, 1, 2
  return %6
^4:
  return 3
^5:
  return 4
}
",
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  %3: bool = arith.gt %1, 5
  %4: bool = arith.and %3, %2
  br %4, ^2, ^5
^2:
  br ^3
^3:
  return 1
^5:
  return 4
}
",
    );
}

#[test]
fn a_switch_loses_the_cases_that_cannot_be() {
    check::<Sccp>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.and %1, 3
  switch %2, ^6, 0: ^2, 1: ^3, 2: ^4, 3: ^5, 7: ^6
^2:
  return 10
^3:
  return 11
^4:
  return 12
^5:
  switch %2, ^6, 1: ^6, 3: ^7
^6:
  return 0
^7:
  return %2
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.and %1, 3
  switch %2, ^5, 0: ^2, 1: ^3, 2: ^4
^2:
  return 10
^3:
  return 11
^4:
  return 12
^5:
  br ^7
^7:
  return %2
}
",
    );
}

#[test]
fn switches_on_symbols_and_bools_are_decided() {
    check::<Sccp>(
        "func @f(%1: bool) -> sym {
^1:
  br %1, ^2(:b), ^2(:b)
^2(%2: sym):
  switch %2, ^3, :a: ^4, :b: ^5
^3:
  return :c
^4:
  return :d
^5:
  br true, ^6, ^3
^6:
  return %2
}
",
        "func @f(%1: bool) -> sym {
^1:
  br %1, ^2, ^2
^2:
  br ^5
^5:
  br ^6
^6:
  return :b
}
",
    );
}

#[test]
fn what_traps_stays_and_so_does_what_has_an_effect() {
    check_unchanged::<Sccp>(
        "func @f(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  %3: i64 = arith.div 1, 0
  %4: i64 = arith.checked_add 9223372036854775807, 1
  %5: f64 = math.sqrt -1.0
  %6: i64 = mem.load %2, 0
  %7: unit = core.print 1
  %8: i64 = arith.add %3, %4
  return %8
}
",
    );
}

#[test]
fn a_division_that_cannot_trap_here_goes_with_its_value() {
    // The divisor is between 1 and 4, the quotient of 0 by it is 0.
    check::<Sccp>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.and %1, 3
  %3: i64 = arith.add %2, 1
  %4: i64 = arith.div 0, %3
  %5: i64 = arith.div 0, %2
  %6: i64 = arith.rem %2, 8
  %7: i64 = arith.add %6, %4
  return %7
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.and %1, 3
  %3: i64 = arith.add %2, 1
  %5: i64 = arith.div 0, %2
  %7: i64 = arith.add %2, 0
  return %7
}
",
    );
}

#[test]
fn lengths_are_not_negative() {
    check::<Sccp>(
        "func @f(%1: array<f64, 1>) -> i64 {
^1:
  %2: i64 = mem.length %1
  %3: i64 = arith.max %2, 0
  %4: i64 = arith.abs %3
  return %4
}
",
        "func @f(%1: array<f64, 1>) -> i64 {
^1:
  %2: i64 = mem.length %1
  return %2
}
",
    );
}

#[test]
fn wrapping_is_kept_in_mind() {
    // From a positive number on, adding may wrap: nothing is known of the sum.
    check_unchanged::<Sccp>(
        "func @f(%1: i64) -> bool {
^1:
  %2: bool = arith.gt %1, 0
  br %2, ^2, ^3
^2:
  %3: i64 = arith.add %1, 1
  %4: bool = arith.gt %3, 0
  return %4
^3:
  return false
}
",
    );
}

#[test]
fn floats_are_constant_only_bit_for_bit() {
    check::<Sccp>(
        "func @f(%1: bool) -> f64 {
^1:
  br %1, ^2(0.0, 1.5), ^2(-0.0, 1.5)
^2(%2: f64, %3: f64):
  %4: f64 = arith.add %3, 1.0
  %5: f64 = arith.mul %2, %4
  %6: f64 = arith.fdiv 0.0, 0.0
  %7: f64 = arith.add %5, %6
  return %7
}
",
        "func @f(%1: bool) -> f64 {
^1:
  br %1, ^2(0.0), ^2(-0.0)
^2(%2: f64):
  %5: f64 = arith.mul %2, 2.5
  %6: f64 = arith.fdiv 0.0, 0.0
  %7: f64 = arith.add %5, %6
  return %7
}
",
    );
}

#[test]
fn what_is_any_keeps_its_checks() {
    // With an `i64` in the place of `%3`, the sum would not be valid; it traps.
    check::<Sccp>(
        "func @f(%1: bool, %2: f64) -> any {
^1:
  br %1, ^2(1, 2, 3), ^2(1, 2, 3i8)
^2(%3: any, %4: any, %5: any):
  %6: any = arith.add %3, %2
  %7: unit = core.print %4, %5
  return %6
}
",
        "func @f(%1: bool, %2: f64) -> any {
^1:
  br %1, ^2(1, 3), ^2(1, 3i8)
^2(%3: any, %5: any):
  %6: any = arith.add %3, %2
  %7: unit = core.print 2, %5
  return %6
}
",
    );
}

#[test]
fn a_loop_without_an_end_stays_and_what_follows_it_goes() {
    check::<Sccp>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(true)
^2(%2: bool):
  br %2, ^2(%2), ^3
^3:
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2
^2:
  br ^2
}
",
    );
}

#[test]
fn constant_elements_of_tuples_are_known() {
    check::<Sccp>(
        "func @f(%1: f64) -> sym {
^1:
  %2: tuple<f64, sym> = core.tuple %1, :g
  %3: sym = core.get %2, 2
  %4: f64 = core.get %2, 1
  %5: unit = core.print %4
  return %3
}
",
        "func @f(%1: f64) -> sym {
^1:
  %2: tuple<f64, sym> = core.tuple %1, :g
  %4: f64 = core.get %2, 1
  %5: unit = core.print %4
  return :g
}
",
    );
}
