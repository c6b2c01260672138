//! Effects of functions on memory and on the world, and the objects that values are, as text.

#[expect(dead_code, reason = "the tests of the manager need the rest")]
mod support;

use regraft_passes::{RunOptions, run_pipeline};
use support::{module, pipeline};

#[track_caller]
fn check(what: &str, text: &str, expected: &str) {
    let mut module = module(text);
    let options = RunOptions::default();
    let report = run_pipeline(&mut module, &pipeline(&format!("print{{{what}}}")), &options)
        .unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(report.text, expected);
}

#[track_caller]
fn check_effects(text: &str, expected: &str) {
    let expected: String = expected
        .lines()
        .map(|line| line.split_once(": ").expect("a name and effects"))
        .map(|(name, effects)| format!("effects of {name}:\n  {effects}\n"))
        .collect();
    check("effects", text, &expected);
}

#[track_caller]
fn check_aliases(text: &str, expected: &str) {
    let lines: String = expected.lines().map(|line| format!("  {line}\n")).collect();
    check("aliases", text, &format!("aliases of @f:\n{lines}"));
}

#[track_caller]
fn check_dependence(text: &str, expected: &str) {
    let lines: String = expected.lines().map(|line| format!("  {line}\n")).collect();
    check("dependence", text, &format!("dependence of @f:\n{lines}"));
}

#[test]
fn a_store_leaves_the_shape_alone() {
    check_effects(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %2
  mem.store %1, 1.0, %3
  return nothing
}
func @g(%1: array<f64, 1>) -> unit {
^1:
  mem.push %1, 1.0
  return nothing
}
",
        "@f: reads the shape of %1; writes the contents of %1; reads the shape of %2; may trap
@g: reads %1; writes %1; may trap
",
    );
}

#[test]
fn a_call_does_what_its_callee_does_to_its_arguments() {
    check_effects(
        "func @caller(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: unit = call @fill(%2, 1.0)
  return %3
}
func @fill(%1: array<f64, 1>, %2: f64) -> unit {
^1:
  mem.fill_in_place %1, %2
  return nothing
}
func @local() -> f64 {
^1:
  %1: array<f64, 1> = mem.array 1.0, 2.0
  %2: unit = call @fill(%1, 3.0)
  %3: f64 = mem.load %1, 1 {inbounds=true}
  return %3
}
",
        "@caller: reads the shape of %2; writes the contents of %2
@fill: reads the shape of %1; writes the contents of %1
@local: allocates
",
    );
}

#[test]
fn recursion_is_a_fixpoint_and_may_not_end() {
    check_effects(
        "func @even(%1: i64, %2: ref<i64>) -> bool {
^1:
  %3: bool = arith.eq %1, 0
  br %3, ^2, ^3
^2:
  mem.ref_set %2, 1
  return true
^3:
  %4: i64 = arith.sub %1, 1
  %5: bool = call @odd(%4, %2)
  return %5
}
func @odd(%1: i64, %2: ref<i64>) -> bool {
^1:
  %3: bool = arith.eq %1, 0
  br %3, ^2, ^3
^2:
  return false
^3:
  %4: i64 = arith.sub %1, 1
  %5: bool = call @even(%4, %2)
  return %5
}
",
        "@even: writes the contents of %2; may not end
@odd: writes the contents of %2; may not end
",
    );
}

#[test]
fn which_object_is_returned() {
    check_effects(
        "func @fresh(%1: i64) -> array<f64, 1> {
^1:
  %2: array<f64, 1> = mem.array 1.0
  return %2
}
func @same(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  return %1
}
func @either(%1: bool, %2: array<f64, 1>, %3: array<f64, 1>) -> array<f64, 1> {
^1:
  %4: array<f64, 1> = core.select %1, %2, %3
  return %4
}
func @through(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  %2: array<f64, 1> = call @same(%1)
  return %2
}
func @kept(%1: ref<any>, %2: array<f64, 1>) -> array<f64, 1> {
^1:
  mem.ref_set %1, %2
  return %2
}
",
        "@fresh: allocates; returns a new object
@same: returns %1
@either: lets %2 escape; lets %3 escape; returns any object
@through: returns %1
@kept: writes the contents of %1; lets %2 escape; returns %2
",
    );
}

#[test]
fn output_reads_what_it_prints_and_touches_nothing_else() {
    check_effects(
        "func @show(%1: array<array<f64, 1>, 1>, %2: i64) -> unit {
^1:
  core.println %2
  core.print %1
  return nothing
}
func @number(%1: i64) -> unit {
^1:
  core.println %1
  return nothing
}
func @unknown(%1: i64) -> any {
^1:
  %2: any = call @nobody(%1)
  return %2
}
func @loops(%1: i64) -> i64 {
^1:
  br ^1.1
^1.1:
  br ^1.1
}
"
        .replace("^1.1", "^2")
        .as_str(),
        "@show: reads %1; reads other objects; can be observed
@number: can be observed
@unknown: reads other objects; writes other objects; allocates; can be observed; may trap; \
         may not end; returns any object
@loops: may not end; never returns
",
    );
}

#[test]
fn parameters_of_blocks_are_what_their_arguments_agree_on() {
    check_aliases(
        "func @f(%1: i64, %2: array<f64, 1>) -> array<f64, 1> {
^1:
  %3: array<f64, 1> = mem.alloc %1
  br ^2(%3, %3, 0)
^2(%4: array<f64, 1>, %5: array<f64, 1>, %6: i64):
  %7: i64 = arith.add %6, 1
  %8: bool = arith.lt %7, %1
  br %8, ^2(%4, %2, %7), ^3
^3:
  return %4
}
",
        "%2: an argument, escapes
%3: new, escapes
%4: %3
%5: any object
",
    );
}

#[test]
fn what_is_stored_or_passed_on_escapes_and_what_is_worked_on_does_not() {
    check_aliases(
        "func @f(%1: ref<any>) -> any {
^1:
  %2: array<f64, 1> = mem.array 1.0
  %3: array<f64, 1> = mem.copy %2
  %4: array<f64, 1> = mem.copy %2
  %5: ref<f64> = mem.ref_new 1.0
  mem.copyto %2, %3
  mem.ref_set %1, %4
  %6: any = call @nobody(%5)
  %7: tuple<array<f64, 1>> = core.tuple %3
  %8: array<f64, 1> = core.get %7, 1
  core.println %2
  return %6
}
",
        "%1: an argument
%2: new
%3: new, escapes
%4: new, escapes
%5: new, escapes
%6: any object
%8: any object
",
    );
}

/// A loop from 1 to a bound with `body` in it, in which the counter is `%6`.
fn counted(bound: &str, body: &str) -> String {
    format!(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>, %3: array<f64, 2>, %4: i64) -> unit {{
^1:
  br ^2(1)
^2(%6: i64):
  %7: bool = arith.le %6, {bound}
  br %7, ^3, ^4
^3:
{body}  %8: i64 = arith.add %6, 1
  br ^2(%8)
^4:
  return nothing
}}
"
    )
}

#[test]
fn equal_steps_give_a_distance() {
    // %20 reads in iteration i what the store wrote in iteration i - 1: a[i] = a[i - 1]. The other
    // array may be the same one.
    check_dependence(
        &counted(
            "%4",
            "  %19: i64 = arith.sub %6, 1
  %20: f64 = mem.load %1, %19
  %21: f64 = mem.load %2, %6
  %22: unit = mem.store %1, %20, %6
",
        ),
        "loop ^2: %20 to %22: distance -1
loop ^2: %21 to %22: same iteration
loop ^2: %22 to %22: same iteration
",
    );
}

#[test]
fn odd_and_even_elements_are_apart_also_when_indices_wrap_around() {
    check_dependence(
        &counted(
            "%4",
            "  %19: i64 = arith.mul %6, 2
  %20: i64 = arith.add %19, 1
  %21: f64 = mem.load %1, %20
  %22: unit = mem.store %1, %21, %19
  %23: i64 = arith.mul %6, 4
  %24: unit = mem.store %1, %21, %23
",
        ),
        "loop ^2: %21 to %22: none
loop ^2: %21 to %24: none
loop ^2: %22 to %22: same iteration
loop ^2: %22 to %24: unknown
loop ^2: %24 to %24: same iteration
",
    );
}

#[test]
fn a_loop_that_is_too_short_never_gets_there() {
    // There are 8 iterations, and the header is entered once more: up to 8 apart.
    let with = |offset: i64| {
        counted(
            "8",
            &format!(
                "  %19: i64 = arith.add %6, {offset}
  %20: f64 = mem.load %1, %19
  %21: unit = mem.store %1, %20, %6
"
            ),
        )
    };
    check_dependence(
        &with(8),
        "loop ^2: %20 to %21: distance 8
loop ^2: %21 to %21: same iteration
",
    );
    check_dependence(
        &with(9),
        "loop ^2: %20 to %21: none
loop ^2: %21 to %21: same iteration
",
    );
}

#[test]
fn one_dimension_that_differs_is_enough() {
    check_dependence(
        &counted(
            "%4",
            "  %20: f64 = mem.load %3, %6, 1
  %21: unit = mem.store %3, %20, %6, 2
  %22: unit = mem.store %3, %20, %4, 1
",
        ),
        "loop ^2: %20 to %21: none
loop ^2: %20 to %22: unknown
loop ^2: %21 to %21: same iteration
loop ^2: %21 to %22: none
loop ^2: %22 to %22: unknown
",
    );
}

#[test]
fn a_function_with_loops_that_are_counted_ends() {
    check_effects(
        "func @caller(%1: i64) -> i64 {
^1:
  %2: i64 = call @counted(%1)
  return %2
}
func @counted(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %3, %2
  %6: i64 = arith.add %2, 1
  br ^2(%6, %5)
^4:
  return %3
}
",
        "@caller: no effect
@counted: no effect
",
    );
}

#[test]
fn tangents_are_worked_on_in_depth() {
    check_effects(
        "func @zero(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  %2: array<f64, 1> = ad.zero %1
  return %2
}
func @numbers(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  ad.accumulate %1, %2
  return nothing
}
func @arrays(%1: array<array<f64, 1>, 1>, %2: tuple<f64, array<f64, 1>>) -> unit {
^1:
  ad.clear %1
  %3: any = ad.zero %2
  return nothing
}
func @local(%1: array<f64, 1>) -> f64 {
^1:
  %2: array<f64, 1> = ad.zero %1
  ad.accumulate %2, %1
  %3: f64 = mem.load %2, 1
  return %3
}
func @global(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  %2: array<f64, 1> = ad.global_shadow %1, 1
  return %2
}
",
        "@zero: reads %1; allocates; returns a new object
@numbers: reads %1; writes the contents of %1; reads %2; may trap
@arrays: reads %1; writes the contents of %1; reads other objects; writes the contents of other \
         objects; allocates
@local: reads %1; allocates; may trap
@global: reads %1; writes %1; lets %1 escape; reads other objects; writes other objects; allocates; \
         can be observed; may trap; may not end; returns any object
",
    );
}

#[test]
fn a_copy_in_depth_may_hold_itself() {
    check_aliases(
        "func @f(%1: ref<any>, %2: array<f64, 1>, %3: any) -> any {
^1:
  %4: ref<any> = ad.copy %1
  %5: any = mem.ref_get %4
  %6: array<f64, 1> = ad.zero %2
  %7: any = ad.zero %3
  %8: ref<f64> = mem.ref_new 1.0
  ad.accumulate %7, %6
  ad.accumulate %7, %8
  %9: array<f64, 1> = ad.ignore %6
  return %9
}
",
        "%1: an argument
%2: an argument
%3: an argument
%4: new, escapes
%5: any object
%6: new
%7: new, escapes
%8: new
%9: %6
",
    );
}

#[test]
fn what_several_new_arrays_become_is_new() {
    check_effects(
        "func @meet(%1: bool, %2: i64) -> array<f64, 1> {
^1:
  %3: array<f64, 1> = mem.alloc %2
  %4: array<f64, 1> = mem.alloc 2
  br %1, ^2(%3), ^2(%4)
^2(%5: array<f64, 1>):
  mem.store %5, 1.0, 1
  return %5
}
func @kept(%1: bool, %2: ref<array<f64, 1>>) -> array<f64, 1> {
^1:
  %3: array<f64, 1> = mem.alloc 2
  %4: array<f64, 1> = mem.alloc 2
  mem.ref_set %2, %3
  br %1, ^2(%3), ^2(%4)
^2(%5: array<f64, 1>):
  mem.store %5, 1.0, 1
  return %5
}
func @given(%1: bool, %2: array<f64, 1>) -> array<f64, 1> {
^1:
  %4: array<f64, 1> = mem.alloc 2
  br %1, ^2(%2), ^2(%4)
^2(%5: array<f64, 1>):
  mem.store %5, 1.0, 1
  return %5
}
func @both() -> tuple<array<f64, 1>, array<f64, 1>> {
^1:
  %1: array<f64, 1> = mem.alloc 2
  %2: array<f64, 1> = mem.alloc 2
  mem.store %1, 1.0, 1
  %3: tuple<array<f64, 1>, array<f64, 1>> = core.tuple %1, %2
  return %3
}
func @read() -> array<f64, 1> {
^1:
  %1: array<f64, 1> = mem.alloc 2
  %2: array<f64, 1> = mem.alloc 2
  %3: tuple<array<f64, 1>, array<f64, 1>> = core.tuple %1, %2
  %4: array<f64, 1> = core.get %3, 1
  mem.store %4, 1.0, 1
  return %4
}
",
        "@meet: allocates; may trap; returns a new object
@kept: writes the contents of %2; reads the shape of other objects; writes the contents of other objects; \
         allocates; may trap; returns any object
@given: lets %2 escape; reads the shape of other objects; writes the contents of other objects; \
         allocates; may trap; returns any object
@both: allocates; may trap; returns any object
@read: reads the shape of other objects; writes the contents of other objects; allocates; \
         may trap; returns any object
",
    );
}
