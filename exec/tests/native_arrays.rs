//! Arrays that native code makes, copies and appends to, of elements of every kind.

mod common;

use common::{leaves_nothing, module, native, run_both as run};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, EngineKind, Limits};

#[test]
fn arrays_of_all_scalars_are_made_and_copied() {
    for (ty, one, shown, zero) in [
        ("bool", "true", "Bool[1, 0, 1]", "false"),
        ("i8", "1i8", "Int8[1, 0, 1]", "0"),
        ("i16", "1i16", "Int16[1, 0, 1]", "0"),
        ("i32", "1i32", "Int32[1, 0, 1]", "0"),
        ("i64", "1", "[1, 0, 1]", "0"),
        ("f32", "1.0f32", "Float32[1.0, 0.0, 1.0]", "0.0f0"),
        ("f64", "1.0", "[1.0, 0.0, 1.0]", "0.0"),
    ] {
        let text = format!(
            "
func @f(%1: i64) -> any {{
^1:
  %2: array<{ty}, 1> = mem.alloc %1
  %3: unit = mem.store %2, {one}, 1
  %4: array<{ty}, 1> = mem.copy %2
  %5: unit = mem.store %4, {one}, %1
  %6: array<{ty}, 2> = mem.alloc %1, 2
  %7: {ty} = mem.load %6, %1, 2
  %8: {ty} = mem.load %2, %1
  %9: array<{ty}, 1> = mem.array {one}, %7, {one}
  %10: tuple<array<{ty}, 1>, array<{ty}, 1>, {ty}> = core.tuple %4, %9, %8
  %11: any = core.convert %10
  return %11
}}"
        );
        assert_eq!(run(&text, &[3i64.into()]), format!("({shown}, {shown}, {zero})"), "{ty}");
        leaves_nothing(&text, &[3i64.into()]);
        let error = run(&text, &[(-1i64).into()]);
        assert!(error.starts_with("ArgumentError") && error.ends_with(" at %2"), "{error}");
    }
}

/// Appends `%6` to a vector so many times, and takes the last one off.
fn appending(element: &str, value: &str) -> String {
    format!(
        "
struct @P {{ x: f64, y: any }}
func @f(%1: i64, %3: any) -> any {{
^1:
  %2: array<{element}, 1> = mem.alloc 0
  br ^2(0)
^2(%4: i64):
  %5: @P = data.new 1.5, %3
  {value}
  %7: unit = mem.push %2, %6
  %8: i64 = arith.add %4, 1
  %9: bool = arith.lt %8, %1
  br %9, ^2(%8), ^3
^3:
  %10: {element} = mem.pop %2
  %11: any = core.convert %2
  return %11
}}"
    )
}

#[test]
fn values_are_appended() {
    for (element, value, shown) in [
        ("any", "%6: any = core.convert %3", "Any[[0.5], [0.5]]"),
        ("any", "%6: any = core.convert %5", "Any[P(1.5, [0.5]), P(1.5, [0.5])]"),
        ("@P", "%6: @P = data.new 2.5, %3", "P[P(2.5, [0.5]), P(2.5, [0.5])]"),
    ] {
        let text = appending(element, value);
        let vector = || Val::from(Array::vector(&[0.5]));
        assert_eq!(run(&text, &[3i64.into(), vector()]), shown);
        leaves_nothing(&text, &[40i64.into(), vector()]);
    }
    let text = appending("any", "%6: any = core.convert nothing");
    assert_eq!(run(&text, &[3i64.into(), Val::Unit]), "Any[nothing, nothing]");
}

#[test]
fn values_that_cannot_be_appended_are_errors() {
    let module = module(&appending("any", "%6: any = core.convert %3"));
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = native(&module, kind);
        engine.set_limits(Limits { memory: 1_000_000, ..Limits::default() });
        let error = common::outcome(&mut engine, &[100_000i64.into(), Val::Unit]);
        assert!(error.contains("memory limit") && error.ends_with(" at %7"), "{error}");
    }
}

#[test]
fn copies_of_arrays_of_values_are_arrays_of_their_own() {
    let text = "
func @f(%1: any) -> any {
^1:
  %2: array<any, 1> = mem.array %1, nothing
  %3: array<any, 1> = mem.copy %2
  %4: any = core.convert 2.5
  %5: unit = mem.store %3, %4, 2
  %6: tuple<array<any, 1>, array<any, 1>> = core.tuple %2, %3
  %7: any = core.convert %6
  return %7
}";
    let vector = Val::from(Array::vector(&[1.0]));
    assert_eq!(run(text, std::slice::from_ref(&vector)), "(Any[[1.0], nothing], Any[[1.0], 2.5])");
    leaves_nothing(text, &[vector]);
}

#[test]
fn arrays_of_values_are_made() {
    let text = "
struct @P { x: f64 }
func @f(%1: i64, %2: any) -> any {
^1:
  %3: @P = data.new 0.5
  %4: array<@P, 1> = mem.alloc %1
  %5: array<@P, 2> = mem.alloc 2, %1
  %6: array<any, 1> = mem.fill %2, %1
  %7: array<@P, 1> = mem.fill %3, 2
  %8: unit = mem.store %4, %3, %1
  %9: unit = mem.store %5, %3, 2, %1
  %10: @P = mem.load %4, %1
  %11: @P = mem.load %5, 2, %1
  %12: i64 = mem.size %5, 2
  %13: tuple<@P, @P, i64, array<any, 1>, array<@P, 1>> = core.tuple %10, %11, %12, %6, %7
  %14: any = core.convert %13
  return %14
}
func @undefined(%1: i64) -> any {
^1:
  %2: array<any, 1> = mem.alloc %1
  %3: any = mem.load %2, %1
  return %3
}
func @filled(%1: i64, %2: any) -> any {
^1:
  %3: array<any, 1> = mem.fill %2, %1
  %4: any = core.convert %3
  return %4
}";
    let vector = || Val::from(Array::vector(&[1.0]));
    let shown = "(P(0.5), P(0.5), 3, Any[[1.0], [1.0], [1.0]], P[P(0.5), P(0.5)])";
    assert_eq!(run(text, &[3i64.into(), vector()]), shown);
    leaves_nothing(text, &[3i64.into(), vector()]);
    let module = module(text);
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = native(&module, kind);
        let mut shown = |f: &str, args: &[Val]| common::shown(&mut engine, f, args);
        assert!(shown("undefined", &[2i64.into()]).starts_with("UndefRefError"));
        assert!(shown("undefined", &[(-2i64).into()]).starts_with("ArgumentError"));
        assert_eq!(shown("filled", &[2i64.into(), 1.5.into()]), "Any[1.5, 1.5]");
        assert_eq!(shown("filled", &[2i64.into(), Val::Unit]), "Any[nothing, nothing]");
        assert_eq!(shown("filled", &[0i64.into(), vector()]), "Any[]");
        assert!(shown("filled", &[(-1i64).into(), vector()]).starts_with("ArgumentError"));
        engine.set_limits(Limits { memory: 100_000, ..Limits::default() });
        let error = common::shown(&mut engine, "filled", &[100_000i64.into(), vector()]);
        assert!(error.contains("memory limit"), "{error}");
    }
}
