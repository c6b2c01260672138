//! Arrays in registers that are written at several places, as native code knows them while a loop runs.

mod common;

use common::{leaves_nothing, run_both as run};
use regraft_exec::value::{Array, Val};

fn vector(items: &[f64]) -> Val {
    Array::vector(items).into()
}

/// Steps of a simulation that works on two arrays in turn. The other one has one element more.
const IN_TURN: &str = "
func @f(%x: array<f64, 1>, %y: array<f64, 1>, %n: i64) -> any {
^1:
  %u: array<f64, 1> = mem.copy %x
  %v: array<f64, 1> = mem.copy %y
  br ^2(0, %u, %v)
^2(%k: i64, %a: array<f64, 1>, %b: array<f64, 1>):
  %1: bool = arith.ge %k, %n
  br %1, ^5, ^3(0)
^3(%i: i64):
  %2: i64 = mem.length %a
  %3: bool = arith.ge %i, %2
  br %3, ^6, ^4
^4:
  %4: i64 = arith.add %i, 1
  %5: f64 = mem.load %a, %4
  %6: f64 = arith.add %5, 1.0
  %7: unit = mem.store %b, %6, %4
  br ^3(%4)
^6:
  %8: i64 = arith.add %k, 1
  br ^2(%8, %b, %a)
^5:
  %9: tuple<array<f64, 1>, array<f64, 1>> = core.tuple %a, %b
  %10: any = core.convert %9
  return %10
}";

#[test]
fn arrays_that_take_turns_have_elements_and_lengths_of_their_own() {
    let run = |u: &[f64], v: &[f64], n: i64| run(IN_TURN, &[vector(u), vector(v), n.into()]);
    assert_eq!(run(&[1.0, 2.0], &[0.0, 0.0, 5.0], 0), "([1.0, 2.0], [0.0, 0.0, 5.0])");
    assert_eq!(run(&[1.0, 2.0], &[0.0, 0.0, 5.0], 1), "([2.0, 3.0, 5.0], [1.0, 2.0])");
    // In the second step, the array that is written to has no third element.
    let error = run(&[1.0, 2.0], &[0.0, 0.0, 5.0], 2);
    assert!(error.starts_with("BoundsError") && error.ends_with(" at %7"), "{error}");
    assert_eq!(run(&[1.0, 2.0], &[0.0, 0.0], 5), "([6.0, 7.0], [5.0, 6.0])");
    assert_eq!(run(&[], &[], 3), "(Float64[], Float64[])");
    leaves_nothing(IN_TURN, &[vector(&[1.0]), vector(&[0.0]), 4i64.into()]);
}

#[test]
fn an_array_that_a_loop_makes_longer_is_looked_up_again() {
    // The inner loop appends as long as there are fewer than `%n` elements, to a vector that each step makes anew.
    let text = "
func @f(%n: i64, %steps: i64) -> f64 {
^1:
  %x: array<f64, 1> = mem.array 1.0
  br ^2(0, %x, 0.0)
^2(%k: i64, %a: array<f64, 1>, %s: f64):
  %1: bool = arith.ge %k, %steps
  br %1, ^5, ^3(%s)
^3(%t: f64):
  %2: i64 = mem.length %a
  %3: f64 = mem.load %a, %2
  %4: f64 = arith.add %t, %3
  %5: bool = arith.ge %2, %n
  br %5, ^6, ^4
^4:
  %6: f64 = arith.add %3, 2.0
  %7: unit = mem.push %a, %6
  br ^3(%4)
^6:
  %8: i64 = arith.add %k, 1
  %9: array<f64, 1> = mem.array %4, 0.0
  br ^2(%8, %9, %4)
^5:
  return %s
}";
    // 1 + 3 + 5 + 7; then 16 + 0 + 2 + 4.
    assert_eq!(run(text, &[4i64.into(), 1i64.into()]), "16.0");
    assert_eq!(run(text, &[4i64.into(), 2i64.into()]), "22.0");
    leaves_nothing(text, &[100i64.into(), 3i64.into()]);
}

#[test]
fn matrices_that_loops_hand_on_have_sizes_of_their_own() {
    // Each step transposes what it is given, so that rows become columns.
    let text = "
func @f(%m: i64, %n: i64, %steps: i64) -> array<f64, 2> {
^1:
  %x: array<f64, 2> = mem.alloc %m, %n
  %count: i64 = mem.length %x
  br ^9(0)
^9(%p: i64):
  %20: bool = arith.ge %p, %count
  br %20, ^2(0, %x), ^10
^10:
  %21: i64 = arith.add %p, 1
  %22: f64 = arith.int_to_float %21
  %23: unit = mem.store %x, %22, %21
  br ^9(%21)
^2(%k: i64, %a: array<f64, 2>):
  %1: bool = arith.ge %k, %steps
  br %1, ^8, ^3
^3:
  %2: i64 = mem.size %a, 1
  %3: i64 = mem.size %a, 2
  %b: array<f64, 2> = mem.alloc %3, %2
  br ^4(1)
^4(%j: i64):
  %4: bool = arith.gt %j, %3
  br %4, ^7, ^5(1)
^5(%i: i64):
  %5: bool = arith.gt %i, %2
  br %5, ^11, ^6
^6:
  %6: f64 = mem.load %a, %i, %j
  %7: unit = mem.store %b, %6, %j, %i
  %8: i64 = arith.add %i, 1
  br ^5(%8)
^11:
  %9: i64 = arith.add %j, 1
  br ^4(%9)
^7:
  %10: i64 = arith.add %k, 1
  br ^2(%10, %b)
^8:
  return %a
}";
    let run = |steps: i64| run(text, &[2i64.into(), 3i64.into(), steps.into()]);
    assert_eq!(run(0), "[1.0 3.0 5.0; 2.0 4.0 6.0]");
    assert_eq!(run(1), "[1.0 2.0; 3.0 4.0; 5.0 6.0]");
    assert_eq!(run(4), run(0));
    leaves_nothing(text, &[2i64.into(), 3i64.into(), 3i64.into()]);
}
