//! `sroa`.

use regraft_passes::transforms::sroa::Sroa;

use crate::{check as check_pass, check_unchanged as unchanged};

#[track_caller]
fn check(before: &str, after: &str) {
    check_pass::<Sroa>(before, after);
}

#[track_caller]
fn check_unchanged(text: &str) {
    unchanged::<Sroa>(text);
}

#[test]
fn the_fields_of_a_mutable_struct_become_parameters() {
    check(
        "mutable struct @Acc { n: i64, s: f64 }
func @f(%1: f64, %2: i64) -> f64 {
^1:
  %a: @Acc = data.new_object 0, 0.0
  br ^2
^2:
  %4: i64 = data.getfield %a, :n
  %5: i64 = arith.add %4, 1
  %6: unit = data.setfield %a, :n, %5
  %7: f64 = data.getfield %a, 2
  %8: f64 = arith.add %7, %1
  %9: unit = data.setfield %a, :s, %8
  %10: bool = arith.lt %5, %2
  br %10, ^2, ^3
^3:
  %11: f64 = data.getfield %a, :s
  return %11
}
",
        "mutable struct @Acc { n: i64, s: f64 }
func @f(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%a.n: i64, %a.s: f64):
  %5: i64 = arith.add %a.n, 1
  %8: f64 = arith.add %a.s, %1
  %10: bool = arith.lt %5, %2
  br %10, ^2(%5, %8), ^3
^3:
  return %8
}
",
    );
}

#[test]
fn small_arrays_with_constant_indices_become_values() {
    check(
        "func @f(%1: f64, %2: i64) -> f64 {
^1:
  %3: array<f64, 1> = mem.array %1, 2.0
  %4: array<f64, 2> = mem.alloc 2, 2
  %5: array<i64, 1> = mem.fill %2, 3
  %6: f64 = mem.load %3, 2
  mem.store %4, %6, 2, 1
  %8: f64 = mem.load %4, 2
  %9: f64 = mem.load %4, 1, 2
  %10: i64 = mem.length %4
  %11: i64 = mem.size %5, 1
  %12: i64 = mem.load %5, 3
  %13: i64 = arith.add %10, %11
  %14: i64 = arith.add %13, %12
  %15: f64 = core.convert %14
  %16: f64 = arith.add %8, %9
  %17: f64 = arith.add %15, %16
  return %17
}
",
        "func @f(%1: f64, %2: i64) -> f64 {
^1:
  %13: i64 = arith.add 4, 3
  %14: i64 = arith.add %13, %2
  %15: f64 = core.convert %14
  %16: f64 = arith.add 2.0, 0.0
  %17: f64 = arith.add %15, %16
  return %17
}
",
    );
}

#[test]
fn what_would_trap_or_is_not_defined_stays() {
    check_unchanged(
        "mutable struct @Acc { n: i64 }
func @f(%1: any, %2: i64) -> any {
^1:
  %3: @Acc = data.new_object 0
  %4: any = data.getfield %3, :m
  %5: @Acc = data.new_object 0
  %6: unit = data.setfield %5, :n, %1
  %7: array<f64, 1> = mem.alloc 2
  %8: f64 = mem.load %7, 3
  %9: array<str, 1> = mem.alloc 2
  %10: str = mem.load %9, 1
  %11: array<f64, 1> = mem.alloc 2
  %12: f64 = mem.load %11, %2
  %13: array<f64, 1> = mem.alloc -1
  %14: i64 = mem.length %13
  %15: tuple<any, f64, str, f64, i64> = core.tuple %4, %8, %10, %12, %14
  return %15
}
",
    );
}
