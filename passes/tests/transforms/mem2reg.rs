//! `mem2reg`.

use regraft_passes::transforms::mem2reg::Mem2reg;

use crate::{check as check_pass, check_text, check_unchanged as unchanged};

#[track_caller]
fn check(before: &str, after: &str) {
    check_pass::<Mem2reg>(before, after);
}

#[track_caller]
fn check_unchanged(text: &str) {
    unchanged::<Mem2reg>(text);
}

#[test]
fn a_ref_that_is_never_written_is_what_it_was_made_with() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new %1
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.ref_get %2
  %5: i64 = arith.add %3, %4
  %6: bool = arith.lt %5, 100
  br %6, ^2(%5), ^3
^3:
  return %5
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %5: i64 = arith.add %3, %1
  %6: bool = arith.lt %5, 100
  br %6, ^2(%5), ^3
^3:
  return %5
}
",
    );
}

#[test]
fn a_ref_of_a_loop_becomes_a_parameter() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  %sum: ref<i64> = mem.ref_new 0
  br ^2
^2:
  %3: i64 = mem.ref_get %sum
  %4: i64 = arith.add %3, 1
  mem.ref_set %sum, %4
  %6: bool = arith.lt %4, %1
  br %6, ^2, ^3
^3:
  %7: i64 = mem.ref_get %sum
  return %7
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%sum: i64):
  %4: i64 = arith.add %sum, 1
  %6: bool = arith.lt %4, %1
  br %6, ^2(%4), ^3
^3:
  return %4
}
",
    );
}

#[test]
fn a_parameter_is_made_where_paths_with_different_values_join_and_nowhere_else() {
    // Between the join of ^4 and the use in ^7 there is another fork, which writes nothing.
    check(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  %3: ref<i64> = mem.ref_new %2
  br %1, ^2, ^3
^2:
  mem.ref_set %3, 7
  br ^4
^3:
  br ^4
^4:
  br %1, ^5, ^6
^5:
  br ^7
^6:
  br ^7
^7:
  %5: i64 = mem.ref_get %3
  mem.ref_set %3, 0
  return %5
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^4(7)
^3:
  br ^4(%2)
^4(%8: i64):
  br %1, ^5, ^6
^5:
  br ^7
^6:
  br ^7
^7:
  return %8
}
",
    );
}

#[test]
fn what_is_not_read_any_more_needs_no_parameter() {
    check(
        "func @f(%1: bool) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new 1
  br %1, ^2, ^3
^2:
  mem.ref_set %2, 7
  br ^3
^3:
  mem.ref_set %2, 2
  %5: i64 = mem.ref_get %2
  return %5
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^3
^3:
  return 2
}
",
    );
}

#[test]
fn refs_that_pass_values_to_each_other_keep_them_apart() {
    // A swap by way of a third.
    check(
        "func @f(%1: i64, %2: i64, %3: i64) -> tuple<i64, i64> {
^1:
  %a: ref<i64> = mem.ref_new %1
  %b: ref<i64> = mem.ref_new %2
  br ^2(0)
^2(%6: i64):
  %7: i64 = mem.ref_get %a
  %t: ref<i64> = mem.ref_new %7
  %9: i64 = mem.ref_get %b
  mem.ref_set %a, %9
  %11: i64 = mem.ref_get %t
  mem.ref_set %b, %11
  %13: i64 = arith.add %6, 1
  %14: bool = arith.lt %13, %3
  br %14, ^2(%13), ^3
^3:
  %15: i64 = mem.ref_get %a
  %16: i64 = mem.ref_get %b
  %17: tuple<i64, i64> = core.tuple %15, %16
  return %17
}
",
        "func @f(%1: i64, %2: i64, %3: i64) -> tuple<i64, i64> {
^1:
  br ^2(0, %1, %2)
^2(%6: i64, %a: i64, %b: i64):
  %13: i64 = arith.add %6, 1
  %14: bool = arith.lt %13, %3
  br %14, ^2(%13, %b, %a), ^3
^3:
  %17: tuple<i64, i64> = core.tuple %b, %a
  return %17
}
",
    );
}

#[test]
fn refs_that_somebody_else_has_stay() {
    check_unchanged(
        "func @f(%1: i64, %2: array<ref<i64>, 1>) -> ref<i64> {
^1:
  %3: ref<i64> = mem.ref_new %1
  %4: ref<i64> = mem.ref_new %1
  mem.store %2, %4, 1
  %6: ref<i64> = mem.ref_new %1
  %7: i64 = call @g(%6)
  %8: ref<i64> = mem.ref_new %1
  br ^2(%8)
^2(%9: ref<i64>):
  mem.ref_set %9, 2
  return %3
}
func @g(%1: ref<i64>) -> i64 {
^1:
  %2: i64 = mem.ref_get %1
  return %2
}
",
    );
}

#[test]
fn writes_that_may_trap_stay() {
    check_unchanged(
        "func @f(%1: any) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new 0
  mem.ref_set %2, %1
  %4: i64 = mem.ref_get %2
  return %4
}
",
    );
}

#[test]
fn what_is_read_as_any_stays_any() {
    check(
        "func @f(%1: i64, %2: any) -> any {
^1:
  %3: any = core.convert 0
  %4: ref<any> = mem.ref_new %3
  mem.ref_set %4, %1
  %6: any = mem.ref_get %4
  %7: any = arith.add %6, 1.5
  return %7
}
",
        "func @f(%1: i64, %2: any) -> any {
^1:
  %3: any = core.convert 0
  %9: any = core.convert %1
  %7: any = arith.add %9, 1.5
  return %7
}
",
    );
}

#[test]
fn a_ref_is_no_other_ref() {
    check(
        "func @f(%1: ref<i64>) -> tuple<bool, bool> {
^1:
  %2: ref<i64> = mem.ref_new 0
  %3: ref<i64> = mem.ref_new 0
  %4: bool = core.same %2, %1
  %5: bool = core.same %2, %3
  %6: tuple<bool, bool> = core.tuple %4, %5
  return %6
}
",
        "func @f(%1: ref<i64>) -> tuple<bool, bool> {
^1:
  %6: tuple<bool, bool> = core.tuple false, false
  return %6
}
",
    );
}

#[test]
fn a_ref_in_a_ref_goes_with_the_second_round() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new %1
  %3: ref<ref<i64>> = mem.ref_new %2
  %4: ref<i64> = mem.ref_get %3
  mem.ref_set %4, 5
  %6: i64 = mem.ref_get %2
  return %6
}
",
        "func @f(%1: i64) -> i64 {
^1:
  return 5
}
",
    );
}

#[test]
fn each_turn_of_a_loop_has_a_ref_of_its_own() {
    check(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2
^2:
  %2: ref<i64> = mem.ref_new 1
  br %1, ^3, ^4
^3:
  mem.ref_set %2, 2
  br ^4
^4:
  %4: i64 = mem.ref_get %2
  %5: bool = arith.lt %4, 2
  br %5, ^2, ^5
^5:
  return %4
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2
^2:
  br %1, ^3, ^4(1)
^3:
  br ^4(2)
^4(%7: i64):
  %5: bool = arith.lt %7, 2
  br %5, ^2, ^5
^5:
  return %7
}
",
    );
}

#[test]
fn a_function_after_inlining() {
    check_text(
        "inline, mem2reg",
        "func @bump(%1: ref<i64>, %2: i64) -> unit {
^1:
  %3: i64 = mem.ref_get %1
  %4: i64 = arith.add %3, %2
  mem.ref_set %1, %4
  return nothing
}
func @f(%1: i64) -> i64 {
^1:
  %2: ref<i64> = mem.ref_new %1
  %3: unit = call @bump(%2, 1)
  %4: unit = call @bump(%2, 2)
  %5: i64 = mem.ref_get %2
  return %5
}
",
        "func @bump(%1: ref<i64>, %2: i64) -> unit {
^1:
  %3: i64 = mem.ref_get %1
  %4: i64 = arith.add %3, %2
  mem.ref_set %1, %4
  return nothing
}
func @f(%1: i64) -> i64 {
^1:
  %10: i64 = arith.add %1, 1
  %7: i64 = arith.add %10, 2
  return %7
}
",
    );
}
