//! Values are released at their last use, and not before.

mod common;

use regraft_exec::value::{Array, live_bytes};
use regraft_exec::{Engine, Limits, Val};

/// Runs `@f` with room for two arrays of a megabyte, not for three.
fn run_in_two_megabytes(text: &str, args: &[Val]) -> String {
    let mut engine = common::engine(text);
    engine.set_limits(Limits { memory: 5 << 19, ..Limits::default() });
    let before = live_bytes();
    let shown = common::shown(&mut engine, "f", args);
    // The stacks stay, as long as the longest frame was.
    assert!(live_bytes() < before + (1 << 16), "{text}");
    shown
}

#[test]
fn a_chain_of_arrays_through_blocks() {
    let text = "
func @f(%n: i64) -> i64 {
^1:
  %1: array<f64, 1> = mem.alloc %n
  br ^2
^2:
  %2: array<f64, 1> = mem.copy %1
  br ^3
^3:
  %3: array<f64, 1> = mem.copy %2
  br ^4
^4:
  %4: array<f64, 1> = mem.copy %3
  br ^5
^5:
  %5: i64 = mem.length %4
  return %5
}";
    assert_eq!(run_in_two_megabytes(text, &[Val::I64(1 << 17)]), "131072");
}

#[test]
fn an_argument_that_only_the_callee_needs() {
    let text = "
func @g(%1: array<f64, 1>) -> i64 {
^1:
  %2: i64 = mem.length %1
  br ^2
^2:
  %3: array<f64, 1> = mem.alloc %2
  %4: array<f64, 1> = mem.copy %3
  %5: i64 = mem.length %4
  return %5
}
func @f(%n: i64) -> i64 {
^1:
  %1: array<f64, 1> = mem.alloc %n
  %2: i64 = call @g(%1)
  return %2
}";
    assert_eq!(run_in_two_megabytes(text, &[Val::I64(1 << 17)]), "131072");
}

#[test]
fn what_a_loop_needed_after_it_and_what_one_branch_needs_on_the_other() {
    let text = "
func @f(%n: i64) -> i64 {
^1:
  %1: array<f64, 1> = mem.alloc %n
  br ^2(1)
^2(%i: i64):
  %x: f64 = mem.load %1, %i
  %j: i64 = arith.add %i, 1
  %more: bool = arith.le %j, 3
  br %more, ^2(%j), ^3
^3:
  %2: array<f64, 1> = mem.alloc %n
  %c: bool = arith.lt %n, 0
  br %c, ^4, ^5
^4:
  %4: i64 = mem.length %2
  return %4
^5:
  %5: array<f64, 1> = mem.alloc %n
  %6: array<f64, 1> = mem.alloc %n
  %7: i64 = mem.length %5
  %8: i64 = mem.length %6
  %9: i64 = arith.add %7, %8
  return %9
}";
    assert_eq!(run_in_two_megabytes(text, &[Val::I64(1 << 17)]), "262144");
}

#[test]
fn results_that_nobody_needs() {
    let text = "
func @make(%n: i64) -> any {
^1:
  %1: array<f64, 1> = mem.alloc %n
  return %1
}
func @f(%n: i64) -> i64 {
^1:
  %1: any = call @make(%n)
  %2: any = call @make(%n)
  %3: array<f64, 1> = mem.alloc %n
  %4: array<f64, 1> = mem.alloc %n
  %5: i64 = mem.length %3
  %6: i64 = mem.length %4
  %7: i64 = arith.add %5, %6
  return %7
}";
    assert_eq!(run_in_two_megabytes(text, &[Val::I64(1 << 17)]), "262144");
}

#[test]
fn an_operand_that_stands_twice_is_there_both_times() {
    let text = "
func @pair(%1: any, %2: any) -> tuple<any, any, any> {
^1:
  %3: tuple<any, any, any> = core.tuple %1, %2, %1
  return %3
}
func @f(%1: any) -> any {
^1:
  %2: tuple<any, any> = core.tuple %1, %1
  %3: tuple<any, any, any> = call @pair(%2, %2)
  %f: any = core.convert @pair
  %4: any = core.apply %f, %3, %3
  %5: tuple<any, any, any> = core.typeassert %4
  %6: any = core.get %5, 3
  %7: tuple<any, any> = core.tuple %6, %6
  br ^2(%7, %7, 0)
^2(%8: tuple<any, any>, %9: tuple<any, any>, %i: i64):
  %j: i64 = arith.add %i, 1
  %more: bool = arith.lt %j, 3
  br %more, ^2(%9, %8, %j), ^3
^3:
  %r = core.tuple %8, %9
  return %r
}";
    let triple = "((1, 1), (1, 1), (1, 1))";
    let pair = format!("({triple}, {triple})");
    assert_eq!(common::run(text, &[Val::I64(1)]), format!("({pair}, {pair})"));
}

#[test]
fn the_callers_arguments_are_the_callers() {
    let text = "
func @f(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  %2: unit = mem.push %1, 2.0
  %3: array<f64, 1> = mem.copy %1
  return %3
}";
    let argument = Val::from(Array::vector(&[1.0]));
    assert_eq!(common::run(text, std::slice::from_ref(&argument)), "[1.0, 2.0]");
    assert_eq!(argument.as_array().and_then(Array::to_vec::<f64>), Some(vec![1.0, 2.0]));
}
