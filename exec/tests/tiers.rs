//! Code that is replaced by better code while it runs: what a program does is the same, errors and their places included.

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::ENDLESS;

use regraft_exec::value::{Array, show_string};
use regraft_exec::{
    Engine, EngineKind, ErrorKind, Interpreter, Limits, RunBy, Tiers, Val, native_engines,
};

/// An engine that takes LLVM's code as soon as it may, if the library is there.
fn tiered(text: &str, tiers: Tiers) -> Option<Interpreter> {
    let mut engine = common::engine(text);
    engine.set_engine(EngineKind::Auto).unwrap();
    engine.set_tiers(tiers);
    native_engines().contains(&EngineKind::Llvm).then_some(engine)
}

fn outcome(engine: &mut Interpreter, args: &[Val]) -> String {
    match engine.call("f", args) {
        Ok(value) => show_string(engine.ctx(), &value),
        Err(error) => regraft_ir::render_all(&[error.to_diagnostic()], false),
    }
}

/// A vector.
fn vector(items: &[f64]) -> Val {
    Val::from(Array::of(items, &[items.len()]).expect("the length fits"))
}

/// Compares with the interpreter, on arguments that are made anew for each; so many loops at work are replaced.
#[track_caller]
fn replaced(text: &str, args: impl Fn() -> Vec<Val>, times: u64) {
    let (expected, given) = (args(), args());
    let mut interpreter = common::engine(text);
    interpreter.set_engine(EngineKind::Interpreter).unwrap();
    let want = outcome(&mut interpreter, &expected);
    let Some(mut engine) = tiered(text, Tiers::AtOnce) else { return };
    assert_eq!(outcome(&mut engine, &given), want);
    assert_eq!(engine.replacements(), times, "{want}");
    let shown = |args: &[Val]| -> Vec<String> {
        args.iter().map(|arg| show_string(engine.ctx(), arg)).collect()
    };
    assert_eq!(shown(&given), shown(&expected));
}

/// Integers, floats of both kinds, a value that is made anew, and an array that is written to. The first loop does not end by
/// what it counts, so it looks up; the second one runs in the code that was begun in the first.
const TWO_LOOPS: &str = "
func @f(%x: array<f64, 1>, %n: i64) -> tuple<i64, f64, f32, tuple<i64, f64>> {
^1:
  %one: f32 = core.convert 1.0
  %start: tuple<i64, f64> = core.tuple 0, 0.5
  br ^2(0, 0.0, %one, %start)
^2(%i: i64, %s: f64, %t: f32, %v: tuple<i64, f64>):
  %end: bool = arith.ge %i, %n
  br %end, ^4(0, %s), ^3
^3:
  %k: i64 = arith.add %i, 1
  %r: i64 = arith.rem %i, 3
  %at: i64 = arith.add %r, 1
  %a: f64 = mem.load %x, %at
  %b: f64 = arith.add %s, %a
  mem.store %x, %b, %at
  %u: f32 = arith.mul %t, %one
  %w: tuple<i64, f64> = core.tuple %k, %b
  br ^2(%k, %b, %u, %w)
^4(%j: i64, %z: f64):
  %over: bool = arith.ge %j, %n
  br %over, ^6, ^5
^5:
  %l: i64 = arith.add %j, 2
  %y: f64 = arith.sub %z, 0.25
  br ^4(%l, %y)
^6:
  %all: tuple<i64, f64, f32, tuple<i64, f64>> = core.tuple %i, %z, %t, %v
  return %all
}";

#[test]
fn a_loop_goes_on_with_all_that_is_live() {
    let args = || vec![vector(&[1.0, 2.5, -3.0]), 50i64.into()];
    replaced(TWO_LOOPS, args, 1);
}

#[test]
fn a_loop_that_is_at_its_end_is_not_left() {
    replaced(TWO_LOOPS, || vec![vector(&[1.0, 2.5, -3.0]), 0i64.into()], 0);
}

#[test]
fn an_error_after_it_has_its_place() {
    let two = || vec![vector(&[1.0, 2.5]), 50i64.into()];
    // The third element is not there: the loop has been replaced by then.
    replaced(TWO_LOOPS, two, 1);
}

#[test]
fn a_loop_within_a_loop_goes_on_with_arrays_of_the_outer_one() {
    let text = "
func @f(%n: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %end: bool = arith.ge %i, %n
  br %end, ^6, ^3
^3:
  %k: i64 = arith.add %i, 1
  %x: array<f64, 1> = mem.fill 0.5, %k
  br ^4(0, %s)
^4(%j: i64, %t: f64):
  %over: bool = arith.ge %j, 9
  br %over, ^2(%k, %t), ^5
^5:
  %l: i64 = arith.add %j, 1
  %a: f64 = mem.load %x, 1
  %u: f64 = arith.add %t, %a
  mem.store %x, %u, %k
  br ^4(%l, %u)
^6:
  return %s
}";
    replaced(text, || vec![12i64.into()], 1);
}

#[test]
fn a_loop_within_a_loop_fills_and_measures_an_array_of_the_outer_one() {
    // Nothing else looks at the array that the loop begins with.
    let text = "
func @f(%n: i64) -> tuple<i64, array<f64, 2>> {
^1:
  %first: array<f64, 2> = mem.fill 0.5, 1, 1
  br ^2(0, 0, %first)
^2(%i: i64, %s: i64, %last: array<f64, 2>):
  %end: bool = arith.ge %i, %n
  br %end, ^6, ^3
^3:
  %k: i64 = arith.add %i, 1
  %x: array<f64, 2> = mem.fill 0.5, 2, %k
  br ^4(0, %s)
^4(%j: i64, %t: i64):
  %over: bool = arith.ge %j, 9
  br %over, ^2(%k, %t, %x), ^5
^5:
  %l: i64 = arith.add %j, 1
  %v: f64 = arith.int_to_float %t
  mem.fill_in_place %x, %v
  %size: i64 = mem.size %x, 2
  %u: i64 = arith.add %t, %size
  br ^4(%l, %u)
^6:
  %all: tuple<i64, array<f64, 2>> = core.tuple %s, %last
  return %all
}";
    replaced(text, || vec![12i64.into()], 1);
}

#[test]
fn a_loop_looks_through_an_index_that_was_made_before_it() {
    // Nothing else looks at the array, which stands in the frame when the new code begins.
    let text = "
func @f(%n: i64) -> i64 {
^1:
  %index: array<i32, 1> = mem.array 0i32, 62i32, 5i32, 0i32
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %found: i64 = mem.probe %index, %i, 2
  %j: i64 = arith.add %i, 1
  %t: i64 = arith.add %s, %found
  br ^2(%j, %t)
^4:
  return %s
}";
    replaced(text, || vec![12i64.into()], 1);
}

#[test]
fn callers_find_the_new_code_of_what_they_call() {
    let text = "
func @g(%n: i64) -> i64 {
^1:
  %small: bool = arith.lt %n, 2
  br %small, ^2, ^3
^2:
  return %n
^3:
  %a: i64 = arith.sub %n, 1
  %b: i64 = arith.sub %n, 2
  %c: i64 = call @g(%a)
  %d: i64 = call @g(%b)
  %e: i64 = arith.add %c, %d
  return %e
}
func @f(%n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: i64 = call @g(%i)
  %t: i64 = arith.add %s, %a
  br ^2(%k, %t)
^4:
  return %s
}";
    replaced(text, || vec![15i64.into()], 1);
}

#[test]
fn a_loop_that_runs_long_goes_on_in_code_that_was_made_meanwhile() {
    let Some(mut engine) = tiered(ENDLESS, Tiers::InBackground) else { return };
    let flag = engine.interrupt_flag();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(3));
        flag.store(true, Ordering::Relaxed);
    });
    let error = engine.call("f", &[]).expect_err("it does not end");
    assert_eq!(*error.kind(), ErrorKind::Interrupted);
    assert_eq!(engine.replacements(), 1);
    stop.join().unwrap();
}

#[test]
fn fuel_ends_what_was_replaced() {
    let Some(mut engine) = tiered(ENDLESS, Tiers::AtOnce) else { return };
    engine.set_limits(Limits { fuel: Some(10_000_000), ..Limits::default() });
    let error = engine.call("f", &[]).expect_err("it does not end");
    assert_eq!(*error.kind(), ErrorKind::Fuel);
    assert_eq!(engine.replacements(), 1);
}

/// The sum of `%n` elements.
const SUM: &str = "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: f64 = mem.load %x, %k
  %t: f64 = arith.add %s, %a
  br ^2(%k, %t)
^4:
  return %s
}";

#[test]
fn a_loop_in_the_interpreter_goes_on_in_native_code() {
    let numbers: Vec<f64> = (0..1_000_000).map(|i| f64::from(i % 7)).collect();
    let numbers = vector(&numbers);
    let mut interpreter = common::engine(SUM);
    interpreter.set_engine(EngineKind::Interpreter).unwrap();
    let mut engine = common::engine(SUM);
    engine.set_engine(EngineKind::Auto).unwrap();
    engine.set_tiers(Tiers::Never);
    let by = |engine: &Interpreter| engine.run_by().remove(0).1;
    let native = RunBy::Native(EngineKind::Cranelift);
    for (count, run_by, says) in [
        (1_000_i64, RunBy::Rarely, "2997.0"),
        (1_000_001, native, "BoundsError: attempt to access 1000000-element"),
        (1_000_000, native, "2.999997e6"),
    ] {
        let args = [numbers.clone(), count.into()];
        let said = outcome(&mut engine, &args);
        assert!(said.contains(says), "{said}");
        assert_eq!(said, outcome(&mut interpreter, &args));
        assert_eq!(by(&engine), run_by, "{count}");
    }
}

#[test]
fn nothing_is_replaced_if_it_is_never_to_be() {
    let Some(mut engine) = tiered(TWO_LOOPS, Tiers::Never) else { return };
    let args = [vector(&[1.0, 2.5, -3.0]), 50i64.into()];
    engine.call("f", &args).unwrap();
    assert_eq!(engine.replacements(), 0);
}

/// A loop that calls what is interpreted, so many operations of it in each iteration.
fn calling(operations: usize) -> String {
    let mut body = String::new();
    for k in 0..operations {
        body += &format!("  %{}: i64 = arith.add %{}, {k}\n", k + 2, k + 1);
    }
    let last = operations + 1;
    format!(
        "
func @body(%1: i64) -> any {{
^1:
{body}  %r: any = core.convert %{last}
  return %r
}}

func @handler(%1: any, %2: i64) -> any {{
^1:
  return %1
}}

func @g(%1: i64) -> i64 {{
^1:
  br ^2(0)
^2(%2: i64):
  %3: any = core.try @body, @handler, %1
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, 4
  br %5, ^2(%4), ^3
^3:
  return %4
}}

func @f(%n: i64) -> i64 {{
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %1: bool = arith.ge %i, %n
  br %1, ^4, ^3
^3:
  %2: i64 = call @g(%i)
  %3: i64 = arith.add %s, %2
  %4: i64 = arith.add %i, 1
  br ^2(%4, %3)
^4:
  return %s
}}"
    )
}

/// Checks that Cranelift's code runs `@f`.
#[track_caller]
fn f_is_native(engine: &Interpreter) {
    let run_by = engine.run_by();
    let of_f = run_by.iter().find(|(name, _)| name == "@f");
    let native = RunBy::Native(EngineKind::Cranelift);
    assert!(of_f.is_some_and(|&(_, by)| by == native), "{run_by:?}");
}

#[test]
fn a_loop_is_looked_at_whatever_it_calls() {
    for operations in 1..8 {
        let mut engine = common::engine(&calling(operations));
        engine.set_engine(EngineKind::Auto).unwrap();
        engine.set_tiers(Tiers::Never);
        assert_eq!(outcome(&mut engine, &[Val::I64(150_000)]), "600000");
        f_is_native(&engine);
    }
}

/// A loop that does little but call native code.
const CALLS: &str = "
func @work(%1: f64) -> f64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: f64):
  %4: bool = arith.ge %2, 100
  br %4, ^4, ^3
^3:
  %5: i64 = arith.add %2, 1
  %6: f64 = arith.mul %3, 0.5
  br ^2(%5, %6)
^4:
  return %3
}

func @f(%n: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %1: bool = arith.ge %i, %n
  br %1, ^4, ^3
^3:
  %2: f64 = call @work(%s)
  %3: i64 = arith.add %i, 1
  br ^2(%3, %2)
^4:
  return %s
}";

#[test]
fn a_loop_that_waits_for_native_code_becomes_native_code() {
    let mut engine = common::engine(CALLS);
    engine.set_engine(EngineKind::Auto).unwrap();
    engine.set_tiers(Tiers::Never);
    // It runs less than a slice of instructions of its own.
    for _ in 0..6 {
        assert_eq!(outcome(&mut engine, &[Val::I64(3_000)]), "0.0");
    }
    f_is_native(&engine);
}
