//! `fold`.

use regraft_passes::transforms::fold::Fold;

use crate::{check, check_unchanged};

#[test]
fn constants_are_computed_and_identities_go_in_one_run() {
    check::<Fold>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul 6, 7
  %3: i64 = arith.add %1, 0
  %4: i64 = arith.mul %3, 1
  %5: i64 = arith.sub %2, %4
  return %5
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %5: i64 = arith.sub 42, %1
  return %5
}
",
    );
}

#[test]
fn a_block_laid_out_before_the_one_that_dominates_it_is_folded_too() {
    check::<Fold>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^3
^2:
  %2: i64 = arith.add %3, 1
  return %2
^3:
  %3: i64 = arith.add 1, 1
  br ^2
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^3
^2:
  return 3
^3:
  br ^2
}
",
    );
}

#[test]
fn integers_wrap() {
    check::<Fold>(
        "func @f() -> i64 {
^1:
  %1: i64 = arith.add 9223372036854775807, 1
  return %1
}
",
        "func @f() -> i64 {
^1:
  return -9223372036854775808
}
",
    );
}

#[test]
fn a_trap_stays() {
    check_unchanged::<Fold>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.div 1, 0
  %3: i64 = arith.div -9223372036854775808, -1
  %4: i64 = arith.mul %2, %3
  return %4
}
",
    );
}

#[test]
fn what_is_not_exact_for_every_float_stays() {
    // -0.0 + 0.0 is 0.0, NaN * 0.0 is NaN, and NaN - NaN is not 0.0.
    check_unchanged::<Fold>(
        "func @f(%1: f64) -> f64 {
^1:
  %2: f64 = arith.add %1, 0.0
  %3: f64 = arith.mul %2, 0.0
  %4: f64 = arith.sub %3, %3
  return %4
}
",
    );
}

#[test]
fn floats_are_rounded_once() {
    check::<Fold>(
        "func @f() -> f64 {
^1:
  %1: f64 = arith.add 0.1, 0.2
  return %1
}
",
        "func @f() -> f64 {
^1:
  return 0.30000000000000004
}
",
    );
}

#[test]
fn an_operand_that_is_checked_when_the_program_runs_keeps_the_instruction() {
    // `f("text")` traps.
    check_unchanged::<Fold>(
        "func @f(%1: any) -> any {
^1:
  %2: any = arith.add %1, 0
  return %2
}
",
    );
}

#[test]
fn a_use_that_does_not_accept_the_constant_stays() {
    // Adding an i64 to an f64 traps when the program runs; put in, it would not be valid.
    check::<Fold>(
        "func @f() -> any {
^1:
  %1: any = core.select true, 1, 2
  %2: unit = core.print %1
  %3: any = arith.add %1, 0.5
  %4: any = arith.add %1, 3
  return %1
}
",
        "func @f() -> any {
^1:
  %1: any = core.select true, 1, 2
  %2: unit = core.print 1
  %3: any = arith.add %1, 0.5
  return 1
}
",
    );
}

#[test]
fn a_branch_on_a_constant_is_left_to_simplify_cfg() {
    check::<Fold>(
        "func @f() -> i64 {
^1:
  %1: bool = arith.lt 1, 2
  br %1, ^2, ^3
^2:
  return 1
^3:
  return 2
}
",
        "func @f() -> i64 {
^1:
  br true, ^2, ^3
^2:
  return 1
^3:
  return 2
}
",
    );
}

#[test]
fn a_name_is_handed_on() {
    check::<Fold>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.add %1, 2
  %sum: i64 = arith.add %2, 0
  return %sum
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %sum: i64 = arith.add %1, 2
  return %sum
}
",
    );
}
