//! `sroa`.

use regraft_passes::transforms::sroa::Sroa;

use crate::{check as check_pass, check_text, check_unchanged as unchanged};

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

#[test]
fn parts_that_were_put_together_stand_for_what_is_taken_out() {
    check(
        "struct @P { x: f64, y: i64 }
func @f(%1: f64, %2: i64) -> i64 {
^1:
  %3: @P = data.new %1, %2
  %4: {p: @P, q: i64} = data.named %3, 7
  %5: @P = core.get %4, 1
  %6: i64 = data.getfield %5, :y
  %7: i64 = data.getfield %4, :q
  %8: i64 = arith.add %6, %7
  return %8
}
",
        "struct @P { x: f64, y: i64 }
func @f(%1: f64, %2: i64) -> i64 {
^1:
  %8: i64 = arith.add %2, 7
  return %8
}
",
    );
}

#[test]
fn a_part_of_type_any_stays_any() {
    check(
        "struct @Any { x: any }
func @f(%1: i64) -> any {
^1:
  %2: @Any = data.new %1
  %3: any = core.get %2, 1
  %4: any = arith.add %3, 1.5
  return %4
}
",
        "struct @Any { x: any }
func @f(%1: i64) -> any {
^1:
  %5: any = core.convert %1
  %4: any = arith.add %5, 1.5
  return %4
}
",
    );
}

#[test]
fn a_tuple_that_goes_around_a_loop_becomes_several_parameters() {
    // It is put together again where it is returned, and not in each turn.
    check(
        "func @f(%z: f64, %n: i64) -> tuple<f64, f64> {
^1:
  %3: tuple<f64, f64> = core.tuple 1.0, 0.0
  br ^2(0, %3)
^2(%4: i64, %w: tuple<f64, f64>):
  %6: bool = arith.ge %4, %n
  br %6, ^4, ^3
^3:
  %7: f64 = core.get %w, 1
  %8: f64 = core.get %w, 2
  %9: f64 = arith.mul %7, %z
  %10: f64 = arith.add %8, %7
  %11: tuple<f64, f64> = core.tuple %9, %10
  %12: i64 = arith.add %4, 1
  br ^2(%12, %11)
^4:
  return %w
}
",
        "func @f(%z: f64, %n: i64) -> tuple<f64, f64> {
^1:
  br ^2(0, 1.0, 0.0)
^2(%4: i64, %w.1: f64, %w.2: f64):
  %6: bool = arith.ge %4, %n
  br %6, ^4, ^3
^3:
  %9: f64 = arith.mul %w.1, %z
  %10: f64 = arith.add %w.2, %w.1
  %12: i64 = arith.add %4, 1
  br ^2(%12, %9, %10)
^4:
  %18: tuple<f64, f64> = core.tuple %w.1, %w.2
  return %18
}
",
    );
}

#[test]
fn only_parts_that_are_needed_are_passed_through_several_blocks() {
    check(
        "func @f(%1: bool, %2: i64, %3: tuple<i64, i64>) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %4: tuple<i64, i64> = core.tuple %2, 5
  br ^4(%4)
^3:
  br ^4(%3)
^4(%5: tuple<i64, i64>):
  br ^5(%5)
^5(%6: tuple<i64, i64>):
  %7: i64 = core.get %6, 2
  return %7
}
",
        "func @f(%1: bool, %2: i64, %3: tuple<i64, i64>) -> i64 {
^1:
  %8: i64 = core.get %3, 2
  br %1, ^2, ^3
^2:
  br ^4(5)
^3:
  br ^4(%8)
^4(%9: i64):
  br ^5(%9)
^5(%10: i64):
  return %10
}
",
    );
}

#[test]
fn two_edges_of_one_block_pass_different_parts() {
    check(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  %3: tuple<i64, i64> = core.tuple %2, 5
  %4: tuple<i64, i64> = core.tuple 6, %2
  br %1, ^2(%3), ^2(%4)
^2(%5: tuple<i64, i64>):
  %6: i64 = core.get %5, 1
  %7: i64 = core.get %5, 2
  %8: i64 = arith.sub %6, %7
  return %8
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2, 5), ^2(6, %2)
^2(%9: i64, %10: i64):
  %8: i64 = arith.sub %9, %10
  return %8
}
",
    );
}

#[test]
fn parameters_that_are_needed_whole_stay_whole_if_splitting_would_put_more_together() {
    check_unchanged(
        "func @g(%1: tuple<i64, i64>) -> tuple<i64, i64> {
^1:
  return %1
}
func @f(%1: i64) -> tuple<i64, i64> {
^1:
  %2: tuple<i64, i64> = core.tuple 0, 1
  br ^2(%2)
^2(%3: tuple<i64, i64>):
  %4: i64 = core.get %3, 1
  %5: tuple<i64, i64> = call @g(%3)
  %6: bool = arith.lt %4, %1
  br %6, ^2(%5), ^3
^3:
  return %3
}
",
    );
}

#[test]
fn nested_tuples_are_split_level_by_level() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  %2: tuple<i64, i64> = core.tuple 1, 2
  %3: tuple<tuple<i64, i64>, i64> = core.tuple %2, 0
  br ^2(%3)
^2(%4: tuple<tuple<i64, i64>, i64>):
  %5: tuple<i64, i64> = core.get %4, 1
  %6: i64 = core.get %5, 1
  %7: i64 = core.get %5, 2
  %8: i64 = core.get %4, 2
  %9: i64 = arith.add %8, 1
  %10: i64 = arith.add %6, %7
  %11: tuple<i64, i64> = core.tuple %7, %10
  %12: tuple<tuple<i64, i64>, i64> = core.tuple %11, %9
  %13: bool = arith.lt %9, %1
  br %13, ^2(%12), ^3
^3:
  return %10
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 1, 2)
^2(%15: i64, %16: i64, %17: i64):
  %9: i64 = arith.add %15, 1
  %10: i64 = arith.add %16, %17
  %13: bool = arith.lt %9, %1
  br %13, ^2(%9, %17, %10), ^3
^3:
  return %10
}
",
    );
}

#[test]
fn inner_tuples_are_put_together_before_what_is_made_of_them() {
    check(
        "func @f(%1: i64) -> tuple<tuple<tuple<i64, i64>, tuple<i64, i64>>, i64> {
^1:
  %2: tuple<i64, i64> = core.tuple %1, 2
  %3: tuple<i64, i64> = core.tuple 3, %1
  %4: tuple<tuple<i64, i64>, tuple<i64, i64>> = core.tuple %2, %3
  br ^2(%4)
^2(%5: tuple<tuple<i64, i64>, tuple<i64, i64>>):
  %6: tuple<i64, i64> = core.get %5, 1
  %7: i64 = core.get %6, 1
  %8: tuple<i64, i64> = core.get %5, 2
  %9: i64 = core.get %8, 1
  %10: i64 = arith.add %7, %9
  %11: tuple<tuple<tuple<i64, i64>, tuple<i64, i64>>, i64> = core.tuple %5, %10
  return %11
}
",
        "func @f(%1: i64) -> tuple<tuple<tuple<i64, i64>, tuple<i64, i64>>, i64> {
^1:
  br ^2(%1, 2, 3, %1)
^2(%15: i64, %16: i64, %17: i64, %18: i64):
  %19: tuple<i64, i64> = core.tuple %15, %16
  %20: tuple<i64, i64> = core.tuple %17, %18
  %14: tuple<tuple<i64, i64>, tuple<i64, i64>> = core.tuple %19, %20
  %10: i64 = arith.add %15, %17
  %11: tuple<tuple<tuple<i64, i64>, tuple<i64, i64>>, i64> = core.tuple %14, %10
  return %11
}
",
    );
}

#[test]
fn one_of_two_aggregates_is_one_of_two_of_each_part() {
    check(
        "func @f(%1: bool, %2: i64, %3: tuple<i64, i64>) -> i64 {
^1:
  %4: tuple<i64, i64> = core.tuple %2, 5
  %5: tuple<i64, i64> = core.select %1, %4, %3
  %6: i64 = core.get %5, 2
  return %6
}
",
        "func @f(%1: bool, %2: i64, %3: tuple<i64, i64>) -> i64 {
^1:
  %7: i64 = core.get %3, 2
  %8: i64 = core.select %1, 5, %7
  return %8
}
",
    );
}

#[test]
fn parts_of_a_shape_are_sizes() {
    check(
        "func @f(%1: array<f64, 2>) -> i64 {
^1:
  %2: tuple<i64, i64> = mem.shape %1
  %3: i64 = core.get %2, 1
  %4: i64 = core.get %2, 2
  %5: i64 = arith.mul %3, %4
  return %5
}
",
        "func @f(%1: array<f64, 2>) -> i64 {
^1:
  %6: i64 = mem.size %1, 1
  %7: i64 = mem.size %1, 2
  %5: i64 = arith.mul %6, %7
  return %5
}
",
    );
}

#[test]
fn a_closure_over_a_ref_goes_with_what_it_captured() {
    check_text(
        "inline, sroa",
        "struct @Count { k: ref<i64> } call @count
func @count(%1: @Count, %2: i64) -> i64 {
^1:
  %3: ref<i64> = core.get %1, 1
  %4: i64 = mem.ref_get %3
  %5: i64 = arith.add %4, %2
  mem.ref_set %3, %5
  return %5
}
func @f(%1: i64) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new 0
  %3: @Count = data.new %2
  br ^2(0)
^2(%i: i64):
  %5: i64 = core.apply %3, %i
  %6: i64 = arith.add %i, 1
  %7: bool = arith.lt %6, %1
  br %7, ^2(%6), ^3
^3:
  %8: i64 = mem.ref_get %2
  return %8
}
",
        "struct @Count { k: ref<i64> } call @count
func @count(%1: @Count, %2: i64) -> i64 {
^1:
  %3: ref<i64> = core.get %1, 1
  %4: i64 = mem.ref_get %3
  %5: i64 = arith.add %4, %2
  mem.ref_set %3, %5
  return %5
}
func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %14: i64):
  %12: i64 = arith.add %14, %i
  %6: i64 = arith.add %i, 1
  %7: bool = arith.lt %6, %1
  br %7, ^2(%6, %12), ^3
^3:
  return %12
}
",
    );
}

#[test]
fn aggregates_are_compared_part_by_part() {
    // Floats are the same if their bits are, which `arith.eq` does not say.
    check(
        "func @f(%1: i64, %2: f64, %3: tuple<i64, f64>, %4: {}) -> tuple<bool, bool> {
^1:
  %5: tuple<i64, f64> = core.tuple %1, %2
  %6: bool = core.same %5, %3
  %7: {} = data.named
  %8: bool = core.same %7, %4
  %9: tuple<bool, bool> = core.tuple %6, %8
  return %9
}
",
        "func @f(%1: i64, %2: f64, %3: tuple<i64, f64>, %4: {}) -> tuple<bool, bool> {
^1:
  %10: i64 = core.get %3, 1
  %11: bool = arith.eq %1, %10
  %12: f64 = core.get %3, 2
  %13: bool = core.same %2, %12
  %14: bool = arith.and %11, %13
  %9: tuple<bool, bool> = core.tuple %14, true
  return %9
}
",
    );
}

#[test]
fn aggregates_that_may_be_of_different_types_are_compared_as_a_whole() {
    check_unchanged(
        "func @f(%1: any, %2: tuple<any>, %3: tuple<i64>) -> tuple<bool, bool> {
^1:
  %4: tuple<any> = core.tuple %1
  %5: bool = core.same %4, %2
  %6: bool = core.same %4, %3
  %7: tuple<bool, bool> = core.tuple %5, %6
  return %7
}
",
    );
}
