//! `specialize-getfield`.

use regraft_passes::Options;
use regraft_passes::transforms::specialize_getfield::SpecializeGetfield;

use crate::{apply, check as check_pass, check_text, check_unchanged as unchanged, only, parse};

#[track_caller]
fn check(before: &str, after: &str) {
    check_pass::<SpecializeGetfield>(before, after);
}

#[track_caller]
fn check_unchanged(text: &str) {
    unchanged::<SpecializeGetfield>(text);
}

#[test]
fn a_constant_field_of_a_value_is_a_projection() {
    check(
        "struct @P { x: f64, y: i64 }
func @f(%1: {f: f64, g: i64}, %2: @P, %3: tuple<bool, f64>) -> any {
^1:
  %4: f64 = data.getfield %1, :f
  %5: i64 = data.getfield %2, :y
  %6: f64 = data.getfield %3, 2
  %7: i64 = data.getfield %1, 2
  %8: tuple<f64, i64, f64, i64> = core.tuple %4, %5, %6, %7
  return %8
}
",
        "struct @P { x: f64, y: i64 }
func @f(%1: {f: f64, g: i64}, %2: @P, %3: tuple<bool, f64>) -> any {
^1:
  %4: f64 = core.get %1, 1
  %5: i64 = core.get %2, 2
  %6: f64 = core.get %3, 2
  %7: i64 = core.get %1, 2
  %8: tuple<f64, i64, f64, i64> = core.tuple %4, %5, %6, %7
  return %8
}
",
    );
}

#[test]
fn what_depends_on_a_field_gets_its_type() {
    check(
        "func @f(%1: {f: f64, g: i64}) -> f64 {
^1:
  %2: any = data.getfield %1, :f
  %3: any = arith.mul %2, 2.0
  %4: bool = core.isa %3, !f64
  br %4, ^2(%3), ^3
^2(%5: any):
  %6: f64 = core.typeassert %5
  return %6
^3:
  return 0.0
}
",
        "func @f(%1: {f: f64, g: i64}) -> f64 {
^1:
  %2: f64 = core.get %1, 1
  %3: f64 = arith.mul %2, 2.0
  br true, ^2(%3), ^3
^2(%5: f64):
  return %5
^3:
  return 0.0
}
",
    );
}

#[test]
fn fields_that_are_not_there_and_those_of_objects_stay() {
    check_unchanged(
        "mutable struct @C { n: i64 }
func @f(%1: @C, %2: tuple<i64, i64>, %3: any, %4: i64) -> any {
^1:
  %5: i64 = data.getfield %1, :n
  %6: i64 = data.getfield %2, 3
  %7: any = data.getfield %3, :x
  %8: i64 = data.getfield %2, %4
  %9: tuple<i64, i64, any, i64> = core.tuple %5, %6, %7, %8
  return %9
}
",
    );
}

#[test]
fn a_user_that_would_trap_keeps_its_operand() {
    // An i64 and an f64 cannot be added; of `any` the sum traps when it runs.
    check(
        "func @f(%1: tuple<i64, f64>) -> any {
^1:
  %2: any = data.getfield %1, 1
  %3: any = arith.add %2, 1.5
  return %3
}
",
        "func @f(%1: tuple<i64, f64>) -> any {
^1:
  %2: any = core.get %1, 1
  %3: any = arith.add %2, 1.5
  return %3
}
",
    );
}

#[test]
fn known_functions_and_closures_are_called_by_name() {
    check_text(
        "specialize-getfield",
        "struct @Adder { k: i64 } call @add_k
func @add_k(%1: @Adder, %2: i64) -> i64 {
^1:
  %3: i64 = core.get %1, 1
  %4: i64 = arith.add %3, %2
  return %4
}
func @twice(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 2
  return %2
}
func @f(%1: i64, %2: fn<@twice>, %3: tuple<i64>, %4: {}) -> any {
^1:
  %5: @Adder = data.new %1
  %6: any = core.apply %5, 7
  %7: any = core.apply %2, %6
  %8: i64 = core.splat @twice, %4, %3
  %9: any = core.apply @twice, 1.5
  %10: any = core.apply @unknown, %8
  %11: tuple<any, any, any> = core.tuple %7, %9, %10
  return %11
}
",
        "struct @Adder { k: i64 } call @add_k
func @add_k(%1: @Adder, %2: i64) -> i64 {
^1:
  %3: i64 = core.get %1, 1
  %4: i64 = arith.add %3, %2
  return %4
}
func @twice(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 2
  return %2
}
func @f(%1: i64, %2: fn<@twice>, %3: tuple<i64>, %4: {}) -> any {
^1:
  %5: @Adder = data.new %1
  %6: i64 = call @add_k(%5, 7)
  %7: any = call @twice(%6)
  %12: i64 = core.get %3, 1
  %8: i64 = call @twice(%12)
  %9: any = core.apply @twice, 1.5
  %10: any = core.apply @unknown, %8
  %11: tuple<any, any, any> = core.tuple %7, %9, %10
  return %11
}
",
    );
}

#[test]
fn what_was_widened_is_taken_as_it_was_where_it_fits() {
    check(
        "func @f(%1: f64, %2: i64) -> any {
^1:
  %3: any = core.convert %1
  %4: any = arith.mul %3, %3
  %5: any = core.convert %2
  %6: any = arith.add %5, 2.5
  %7: any = core.apply @g, %5
  return %4
}
",
        "func @f(%1: f64, %2: i64) -> any {
^1:
  %4: f64 = arith.mul %1, %1
  %5: any = core.convert %2
  %6: any = arith.add %5, 2.5
  %7: any = core.apply @g, %2
  return %4
}
",
    );
}

#[test]
fn a_parameter_of_a_loop_gets_the_type_of_what_enters() {
    check(
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1, 0)
^2(%2: any, %3: i64):
  %4: bool = arith.lt %3, 10
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %3, 1
  br ^2(%2, %5)
^4:
  %6: bool = core.isa %2, !f64
  return %6
}
",
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %3, 10
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %3, 1
  br ^2(%2, %5)
^4:
  return false
}
",
    );
}

#[test]
fn code_that_leads_to_an_error_is_left_alone() {
    check_unchanged(
        "func @f(%1: {f: f64}, %2: bool) -> f64 {
^1:
  br %2, ^2, ^3
^2:
  %3: f64 = data.getfield %1, :f
  %4: str = core.string \"bad: \", %3
  core.throw %4
  unreachable
^3:
  return 1.0
}
",
    );
}

#[test]
fn getfield_of_a_symbol_is_a_projection_after_inlining() {
    // `f(x) = getfield(x, :f)` by way of a function that takes the name as an argument.
    check_text(
        "inline, specialize-getfield",
        "func @get(%1: {f: f64, g: i64}, %2: sym) -> any {
^1:
  %3: any = data.getfield %1, %2
  return %3
}
func @f(%1: {f: f64, g: i64}) -> f64 {
^1:
  %2: any = call @get(%1, :f)
  %3: f64 = core.typeassert %2
  return %3
}
",
        "func @get(%1: {f: f64, g: i64}, %2: sym) -> any {
^1:
  %3: any = data.getfield %1, %2
  return %3
}
func @f(%1: {f: f64, g: i64}) -> f64 {
^1:
  %4: f64 = core.get %1, 1
  return %4
}
",
    );
}

#[test]
fn what_cannot_be_better_known_is_not_touched() {
    // `fix` goes on as long as anything is.
    let mut module = parse(
        "func @f(%1: i64, %2: tuple<i64, f64>) -> any {
^1:
  %3: any = core.convert %1
  %4: any = arith.add %3, 2.5
  %5: any = core.get %2, 1
  %6: any = arith.mul %5, 2.5
  br ^2(%5)
^2(%7: any):
  %8: any = arith.sub %7, 2.5
  return %4
}
",
    );
    let before = only(&mut module).stamp();
    apply::<SpecializeGetfield>(&mut module, &Options::default());
    assert_eq!(before, only(&mut module).stamp());
}
