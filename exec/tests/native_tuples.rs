//! Tuples in native code: what functions return is taken apart, types are tested, and boxes serve again.

mod common;

use common::{leaves_nothing, module, native, nothing_stays, run_both as run};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, EngineKind};

#[test]
fn results_are_taken_apart_by_the_caller() {
    // Euclid's algorithm, extended: 240 and 46 have 2 = -9 * 240 + 47 * 46.
    let text = "
func @bezout(%1: i64, %2: i64) -> tuple<i64, i64, i64> {
^1:
  %3: bool = arith.eq %2, 0
  br %3, ^2, ^3
^2:
  %4: tuple<i64, i64, i64> = core.tuple %1, 1, 0
  return %4
^3:
  %5: i64 = arith.rem %1, %2
  %6: tuple<i64, i64, i64> = call @bezout(%2, %5)
  %7: i64 = core.get %6, 1
  %8: i64 = core.get %6, 2
  %9: i64 = core.get %6, 3
  %10: i64 = arith.div %1, %2
  %11: i64 = arith.mul %10, %9
  %12: i64 = arith.sub %8, %11
  %13: tuple<i64, i64, i64> = core.tuple %7, %9, %12
  return %13
}
func @f(%1: i64, %2: i64) -> tuple<i64, i64, i64> {
^1:
  %3: tuple<i64, i64, i64> = call @bezout(%1, %2)
  return %3
}";
    assert_eq!(run(text, &[240i64.into(), 46i64.into()]), "(2, -9, 47)");
    leaves_nothing(text, &[240i64.into(), 46i64.into()]);
}

#[test]
fn parts_that_are_values_are_counted_and_others_let_go() {
    let text = "
func @parts(%1: i64, %2: array<f64, 1>) -> tuple<unit, any, array<f64, 1>, f64, any> {
^1:
  %3: bool = arith.eq %1, 0
  br %3, ^2, ^3
^2:
  %4: array<f64, 1> = mem.copy %2
  %5: any = core.convert %2
  %20: any = core.convert nothing
  %6: tuple<unit, any, array<f64, 1>, f64, any> = core.tuple nothing, %5, %4, 2.5, %20
  return %6
^3:
  %7: i64 = arith.sub %1, 1
  %8: tuple<unit, any, array<f64, 1>, f64, any> = call @parts(%7, %2)
  %9: unit = core.get %8, 1
  %10: any = core.get %8, 2
  %11: f64 = core.get %8, 4
  %12: any = core.get %8, 2
  %13: array<f64, 1> = core.get %8, 3
  %14: array<f64, 1> = mem.copy %13
  %15: f64 = mem.load %14, 1
  %16: f64 = arith.add %11, %15
  %17: tuple<any, any> = core.tuple %10, %12
  %18: any = core.convert %17
  %19: tuple<unit, any, array<f64, 1>, f64, any> = core.tuple %9, %10, %14, %16, %18
  return %19
}
func @f(%1: i64, %2: array<f64, 1>) -> tuple<f64, any, any, unit> {
^1:
  %3: tuple<unit, any, array<f64, 1>, f64, any> = call @parts(%1, %2)
  %4: f64 = core.get %3, 4
  %5: any = core.get %3, 5
  %6: any = core.get %3, 2
  %7: unit = core.get %3, 1
  %8: tuple<f64, any, any, unit> = core.tuple %4, %5, %6, %7
  return %8
}";
    let vector = || Val::from(Array::vector(&[0.5, 1.0]));
    assert_eq!(run(text, &[0i64.into(), vector()]), "(2.5, nothing, [0.5, 1.0], nothing)");
    let want = "(3.5, ([0.5, 1.0], [0.5, 1.0]), [0.5, 1.0], nothing)";
    assert_eq!(run(text, &[2i64.into(), vector()]), want);
    leaves_nothing(text, &[3i64.into(), vector()]);
}

#[test]
fn parts_of_any_type_are_asserted_by_the_caller() {
    let text = "
func @pair(%1: i64, %2: any) -> tuple<any, i64> {
^1:
  %3: bool = arith.gt %1, 0
  br %3, ^2, ^3
^2:
  %4: i64 = arith.sub %1, 1
  %5: tuple<any, i64> = call @pair(%4, %2)
  return %5
^3:
  %6: tuple<any, i64> = core.tuple %2, %1
  return %6
}
func @f(%1: any) -> f64 {
^1:
  %2: tuple<any, i64> = call @pair(2, %1)
  %4: any = core.get %2, 1
  %3: f64 = core.typeassert %4
  return %3
}";
    assert_eq!(run(text, &[1.5.into()]), "1.5");
    let error = run(text, &["x".into()]);
    assert!(error.contains("TypeError"), "{error}");
}

#[test]
fn errors_of_functions_that_return_tuples_have_their_places() {
    let text = "
func @deep(%1: i64, %2: array<f64, 1>) -> tuple<f64, array<f64, 1>> {
^1:
  %3: bool = arith.gt %1, 0
  br %3, ^2, ^3
^2:
  %4: i64 = arith.sub %1, 1
  %5: array<f64, 1> = mem.copy %2
  %6: tuple<f64, array<f64, 1>> = call @deep(%4, %5)
  %7: f64 = core.get %6, 1
  %8: array<f64, 1> = core.get %6, 2
  %9: tuple<f64, array<f64, 1>> = core.tuple %7, %8
  return %9
^3:
  %10: f64 = mem.load %2, 3
  %11: tuple<f64, array<f64, 1>> = core.tuple %10, %2
  return %11
}
func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: tuple<f64, array<f64, 1>> = call @deep(2, %1)
  %3: f64 = core.get %2, 1
  return %3
}";
    assert_eq!(run(text, &[Array::vector(&[1.0, 2.0, 3.0]).into()]), "3.0");
    let error = run(text, &[Array::vector(&[1.0, 2.0]).into()]);
    assert!(error.ends_with(" at %10 at %6 at %6 at %2"), "{error}");
    nothing_stays(native(&module(text), EngineKind::Cranelift), |engine| {
        engine.call("f", &[Array::vector(&[1.0]).into()]).expect_err("it has one element");
    });
}

#[test]
fn a_part_that_is_nothing_is_none_of_what_its_place_held() {
    let text = "
struct @P { x: f64, y: any, z: any }
func @before(%1: f64) -> any {
^1:
  %2: any = core.convert %1
  %3: @P = data.new %1, %2, %2
  %4: any = data.getfield %3, :z
  return %4
}
func @f(%1: f64) -> any {
^1:
  %2: any = call @before(%1)
  %3: @P = data.new %1, %2, nothing
  %4: any = data.getfield %3, :y
  %5: any = data.getfield %3, :z
  %6: tuple<any, any> = core.tuple %4, %5
  %7: any = core.convert %6
  return %7
}";
    assert_eq!(run(text, &[2.5.into()]), "(2.5, nothing)");
    leaves_nothing(text, &[2.5.into()]);
}

#[test]
fn types_of_tuples_are_asserted() {
    let text = "
func @f(%1: any) -> f64 {
^1:
  %2: tuple<bool, any, f64, unit> = core.typeassert %1
  %3: f64 = core.get %2, 3
  return %3
}";
    let tuple = |second: Val, third: Val| Val::tuple([true.into(), second, third, Val::Unit]);
    assert_eq!(run(text, &[tuple("x".into(), 1.5.into())]), "1.5");
    assert_eq!(run(text, &[tuple(Val::Unit, 2.5.into())]), "2.5");
    let pair = Val::tuple([1.5.into(), Val::Unit]);
    let longer = Val::tuple([true.into(), Val::Unit, 1.5.into(), Val::Unit, Val::Unit]);
    let vector = Val::from(Array::vector(&[1.0, 2.0, 3.0, 4.0]));
    let wrong = [tuple(Val::Unit, 1i64.into()), pair, longer, vector, 1.5.into(), Val::Unit];
    for value in wrong {
        let error = run(text, &[value]);
        assert!(error.contains("TypeError") && error.ends_with(" at %2"), "{error}");
    }
    leaves_nothing(text, &[tuple(Val::Unit, 2.5.into())]);
}
