//! Native code does what the interpreter does, at the same places, and stops when it is told to.

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{ENDLESS, module};
use regraft_exec::value::{Array, Val, collect_cycles, live_bytes, live_containers, show_string};
use regraft_exec::{Engine, EngineKind, ErrorKind, Interpreter, Limits};
use regraft_ir::Module;

fn native(module: &Module) -> Interpreter {
    common::native(module, EngineKind::Cranelift)
}

/// The result of a call, or the error with the places that led to it.
fn outcome(engine: &mut Interpreter, args: &[Val]) -> String {
    let result = engine.call("f", args);
    let output = engine.take_output();
    match result {
        Ok(value) => format!("{output}{}", show_string(engine.ctx(), &value)),
        Err(error) => {
            let spots = error.chain().spots().map(|spot| format!(" at {}", spot.value));
            format!("{output}{}{}", error.message(), spots.collect::<String>())
        }
    }
}

/// Runs `@f` natively and by the interpreter, and gives what both have done.
fn run(text: &str, args: &[Val]) -> String {
    let module = module(text);
    let mut interpreter = Interpreter::new(&module);
    interpreter.set_engine(EngineKind::Interpreter).expect("it is always there");
    let plain = outcome(&mut interpreter, args);
    assert_eq!(outcome(&mut native(&module), args), plain, "native code and the interpreter");
    plain
}

const SUM: &str = "
func @f(%1: array<f64, 1>, %2: i64) -> f64 {
^1:
  br ^2(1, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.le %3, %2
  br %5, ^3, ^4
^3:
  %6: f64 = mem.load %1, %3
  %7: f64 = arith.add %4, %6
  %8: i64 = arith.add %3, 1
  br ^2(%8, %7)
^4:
  return %4
}";

#[test]
fn a_loop_over_an_array_is_checked_at_its_bounds() {
    let args = |n: i64| [Array::vector(&[1.0, 2.0, 4.0]).into(), n.into()];
    assert_eq!(run(SUM, &args(3)), "7.0");
    let error = run(SUM, &args(4));
    assert!(error.contains("3-element array<f64, 1> at index [4]"), "{error}");
    assert!(error.ends_with(" at %6"), "{error}");
}

#[test]
fn division_and_shifts_by_unusual_numbers() {
    let text = "
func @f(%1: i64, %2: i64) -> tuple<i64, i64, i64, i64> {
^1:
  %3: i64 = arith.shl %1, %2
  %4: i64 = arith.ashr %1, %2
  %5: i64 = arith.mod %1, %2
  %6: i64 = arith.div %1, %2
  %7: tuple<i64, i64, i64, i64> = core.tuple %3, %4, %5, %6
  return %7
}";
    let run = |x: i64, y: i64| run(text, &[x.into(), y.into()]);
    assert_eq!(run(-7, 2), "(-28, -2, 1, -3)");
    assert_eq!(run(-7, -1), "(-4, -14, 0, 7)");
    assert_eq!(run(-7, 64), "(0, -1, 57, 0)");
    assert!(run(5, 0).contains("DivideError"));
    assert!(run(i64::MIN, -1).contains("DivideError"));
}

#[test]
fn an_error_in_a_call_has_the_whole_chain() {
    let text = "
func @f(%1: f64) -> f64 {
^1:
  %2: f64 = call @g(%1)
  %3: f64 = arith.add %2, 1.0
  return %3
}
func @g(%1: f64) -> f64 {
^1:
  %5: f64 = math.sqrt %1
  return %5
}";
    assert_eq!(run(text, &[4.0.into()]), "3.0");
    assert_eq!(run(text, &[f64::NAN.into()]), "NaN");
    let error = run(text, &[(-1.0).into()]);
    assert!(error.starts_with("DomainError") && error.ends_with(" at %5 at %2"), "{error}");
}

#[test]
fn an_error_that_is_thrown_on_has_the_whole_chain() {
    let text = "
func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.gt %1, 0
  br %3, ^2, ^3
^2:
  %4: i64 = arith.sub %1, 1
  %5: i64 = call @f(%4, %2)
  return %5
^3:
  %6: i64 = call @tries(%2)
  return %6
}
func @tries(%1: i64) -> i64 {
^1:
  %9: i64 = core.try @fails, @again, %1
  return %9
}
func @fails(%1: i64) -> i64 {
^1:
  %2: bool = arith.gt %1, 0
  br %2, ^2, ^3
^2:
  %3: i64 = arith.sub %1, 1
  %4: i64 = call @fails(%3)
  return %4
^3:
  %7: i64 = arith.div 1, %1
  return %7
}
func @again(%1: any, %2: i64) -> i64 {
^1:
  %3: i64 = call @within(%1, %2)
  return %3
}
func @within(%1: any, %2: i64) -> i64 {
^1:
  %8: i64 = core.try @throws_on, @throws_on_twice, %1
  return %8
}
func @throws_on(%1: any) -> i64 {
^1:
  core.rethrow %1
  unreachable
}
func @throws_on_twice(%1: any, %2: any) -> i64 {
^1:
  core.rethrow %1
  unreachable
}";
    let error = run(text, &[2i64.into(), 1i64.into()]);
    assert!(error.ends_with(" at %7 at %4 at %9 at %6 at %5 at %5"), "{error}");
    // Of a long one, the ends are there.
    let error = run(text, &[30i64.into(), 30i64.into()]);
    let ends = [" at %7", &" at %4".repeat(9), &" at %5".repeat(10)].concat();
    assert!(error.ends_with(&ends), "{error}");
}

#[test]
fn values_and_objects_are_counted_and_let_go() {
    let text = "
mutable struct @Node { x: f64, next: any }
func @f(%1: i64) -> f64 {
^1:
  %2: @Node = data.new_object 1.0, nothing
  br ^2(0, %2)
^2(%3: i64, %4: @Node):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4
^3:
  %6: f64 = data.getfield %4, :x
  %7: f64 = arith.mul %6, 1.5
  %8: any = core.convert %4
  %9: @Node = data.new_object %7, %8
  %10: unit = data.setfield %9, :x, %7
  %11: i64 = arith.add %3, 1
  br ^2(%11, %9)
^4:
  %12: f64 = data.getfield %4, :x
  return %12
}";
    assert_eq!(run(text, &[3i64.into()]), "3.375");
    let mut engine = native(&module(text));
    engine.call("f", &[10i64.into()]).expect("it works");
    let before = live_bytes();
    for _ in 0..10_000 {
        engine.call("f", &[10i64.into()]).expect("it works");
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn values_of_others_are_made_and_let_go() {
    let text = "
struct @P { x: f64, y: any }
struct @Wide { a: i64, b: f64, c: any, d: bool, e: f32 }
func @f(%1: i64, %2: f64) -> any {
^1:
  %3: any = core.convert nothing
  br ^2(0, %3)
^2(%4: i64, %5: any):
  %6: bool = arith.lt %4, %1
  br %6, ^3, ^4
^3:
  %7: @P = data.new %2, %5
  %8: any = core.convert %7
  %9: tuple<any, any, any> = core.tuple %8, %5, %8
  %10: any = core.convert %9
  %11: @Wide = data.new %4, %2, %10, true, 2.5f32
  %12: any = core.convert %11
  %13: ref<any> = mem.ref_new %12
  %14: any = core.convert %13
  %15: {a: any, b: i64, c: any, d: any, e: f64} = data.named %14, 7, \"text\", nothing, %2
  %16: any = core.convert %15
  %17: i64 = arith.add %4, 1
  br ^2(%17, %16)
^4:
  return %5
}";
    let args = |n: i64| [n.into(), 1.5.into()];
    let one = "(a = Base.RefValue{Any}(Wide(0, 1.5, (P(1.5, nothing), nothing, P(1.5, nothing)), \
               true, 2.5f0)), b = 7, c = \"text\", d = nothing, e = 1.5)";
    assert_eq!(run(text, &args(1)), one);
    run(text, &args(3));
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = Interpreter::new(&module(text));
        engine.set_engine(kind).expect("there is a back end for this machine");
        engine.call("f", &args(6)).expect("it works");
        let before = live_bytes();
        for _ in 0..1_000 {
            engine.call("f", &args(6)).expect("it works");
        }
        assert_eq!(live_bytes(), before, "{kind:?}");
    }
    let mut engine = native(&module(text));
    engine.set_limits(Limits { memory: 1 << 20, ..Limits::default() });
    let error = engine.call("f", &args(100_000)).expect_err("there is no memory for it");
    assert_eq!(*error.kind(), ErrorKind::Memory);
}

/// Loads and stores of elements that are no scalars. Columns of a matrix of vectors change places, one element may be undefined,
/// and the last use of an array is a load or a store.
#[test]
fn elements_that_are_values_are_loaded_and_stored() {
    let text = "
func @f(%n: i64, %i: i64, %j: i64) -> f64 {
^1:
  %all: array<array<f64, 1>, 2> = mem.alloc 2, 2
  %a: array<f64, 1> = mem.array 1.0
  %b: array<f64, 1> = mem.array 2.0, 3.0
  %any: array<any, 1> = mem.alloc 3
  mem.store %all, %a, 1, 1
  mem.store %all, %b, 2, 2
  mem.store %all, %b, 3
  mem.store %any, %b, 1
  mem.store %any, 0.5, 2
  mem.store %any, nothing, 3
  br ^2(0, 0.0)
^2(%k: i64, %s: f64):
  %end: bool = arith.ge %k, %n
  br %end, ^4, ^3
^3:
  %x: array<f64, 1> = mem.load %all, 2, 2
  %y: array<f64, 1> = mem.load %all, 1, 1
  mem.store %all, %x, 1, 1
  mem.store %all, %y, 4
  %new: array<f64, 1> = mem.copy %x
  mem.store %all, %new, 1, 2
  %u: any = mem.load %any, 1
  mem.store %any, %new, 1
  mem.store %any, %u, 3
  %z: f64 = mem.load %new, 1
  %t: f64 = arith.add %s, %z
  %k2: i64 = arith.add %k, 1
  br ^2(%k2, %t)
^4:
  %last: array<f64, 1> = mem.load %all, %i, %j
  %first: f64 = mem.load %last, 1
  %r: f64 = arith.add %s, %first
  return %r
}";
    let args = |n: i64, i: i64, j: i64| [n.into(), i.into(), j.into()];
    // The second vector and the first one are in the last place in turns: 2 + 1 + 2, and the 1 that is there then.
    for (given, says) in [
        (args(3, 2, 2), "6.0"),
        (args(4, 2, 2), "8.0"),
        (args(0, 1, 2), "2.0"),
        (args(0, 2, 2), "2.0"),
        (args(0, 2, 1), "UndefRefError"),
        (args(0, 3, 1), "BoundsError"),
        (args(0, 1, 0), "BoundsError"),
    ] {
        let said = run(text, &given);
        assert!(said.contains(says), "{given:?}: {said}");
    }
    let mut engine = native(&module(text));
    engine.call("f", &args(5, 2, 2)).expect("it works");
    let before = live_bytes();
    for _ in 0..1_000 {
        engine.call("f", &args(5, 2, 2)).expect("it works");
        engine.call("f", &args(0, 2, 1)).expect_err("there is no element");
    }
    assert_eq!(live_bytes(), before);
}

/// What a ref holds is changed in place if nobody else holds it: here another ref does at first, and a parameter keeps what is made
/// in the second iteration.
#[test]
fn what_somebody_else_holds_is_not_changed_with_a_ref() {
    let text = "
func @f(%n: i64) -> tuple<f64, i64, f64, i64, f64, i64> {
^1:
  %c: {x: f64, n: i64} = data.named 1.0, 10
  %r: ref<{x: f64, n: i64}> = mem.ref_new %c
  %q: ref<{x: f64, n: i64}> = mem.ref_new %c
  br ^2(0, %c)
^2(%k: i64, %kept: {x: f64, n: i64}):
  %end: bool = arith.ge %k, %n
  br %end, ^6, ^3
^3:
  %old: {x: f64, n: i64} = mem.ref_get %r
  %x: f64 = core.get %old, 1
  %m: i64 = core.get %old, 2
  %y: f64 = arith.mul %x, 2.0
  %l: i64 = arith.add %m, 1
  %new: {x: f64, n: i64} = data.named %y, %l
  mem.ref_set %r, %new
  %k2: i64 = arith.add %k, 1
  %second: bool = arith.eq %k, 1
  br %second, ^2(%k2, %new), ^2(%k2, %kept)
^6:
  %a: {x: f64, n: i64} = mem.ref_get %r
  %b: {x: f64, n: i64} = mem.ref_get %q
  %a1: f64 = core.get %a, 1
  %a2: i64 = core.get %a, 2
  %b1: f64 = core.get %b, 1
  %b2: i64 = core.get %b, 2
  %k1: f64 = core.get %kept, 1
  %k3: i64 = core.get %kept, 2
  %all: tuple<f64, i64, f64, i64, f64, i64> = core.tuple %a1, %a2, %b1, %b2, %k1, %k3
  return %all
}";
    assert_eq!(run(text, &[0i64.into()]), "(1.0, 10, 1.0, 10, 1.0, 10)");
    assert_eq!(run(text, &[1i64.into()]), "(2.0, 11, 1.0, 10, 1.0, 10)");
    assert_eq!(run(text, &[5i64.into()]), "(32.0, 15, 1.0, 10, 4.0, 12)");
    let mut engine = native(&module(text));
    engine.call("f", &[5i64.into()]).expect("it works");
    let before = live_bytes();
    for _ in 0..1_000 {
        engine.call("f", &[5i64.into()]).expect("it works");
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn types_of_values_are_tested() {
    let text = "
struct @P { x: f64 }
mutable struct @M { x: f64 }
func @tests(%1: any) -> any {
^1:
  %2: bool = core.isa %1, !unit
  %3: bool = core.isa %1, !i64
  %4: bool = core.isa %1, !f64
  %5: bool = core.isa %1, !str
  %6: bool = core.isa %1, !array<f64, 1>
  %7: bool = core.isa %1, !tuple<i64, f64>
  %8: bool = core.isa %1, !@P
  %9: bool = core.isa %1, !@M
  %10: bool = core.same %1, nothing
  %11: tuple<bool, bool, bool, bool, bool, bool, bool, bool, bool> = core.tuple %2, %3, %4, %5, %6, %7, %8, %9, %10
  %12: any = core.convert %11
  return %12
}
func @asserts(%1: any) -> f64 {
^1:
  %2: @P = core.typeassert %1
  %3: f64 = core.get %2, 1
  return %3
}
func @f(%1: any, %2: i64) -> any {
^1:
  %3: @P = data.new 1.5
  %4: @M = data.new_object 2.5
  %5: any = core.convert %3
  %6: any = core.convert %4
  switch %2, ^4(%1), 0: ^2, 1: ^3(%5), 2: ^3(%6), 3: ^4(%5), 4: ^4(%6)
^2:
  br ^3(%1)
^3(%7: any):
  %8: any = call @tests(%7)
  return %8
^4(%9: any):
  %10: f64 = call @asserts(%9)
  %11: any = core.convert %10
  return %11
}";
    let tests = |value: Val| run(text, &[value, 0i64.into()]);
    let shown = |at: Option<usize>, is_nothing: bool| {
        let flags: Vec<String> =
            (0..9).map(|i| (Some(i) == at || is_nothing && i == 8).to_string()).collect();
        format!("({})", flags.join(", "))
    };
    assert_eq!(tests(Val::Unit), shown(Some(0), true));
    assert_eq!(tests(1i64.into()), shown(Some(1), false));
    assert_eq!(tests(f64::NAN.into()), shown(Some(2), false));
    assert_eq!(tests("text".into()), shown(Some(3), false));
    assert_eq!(tests(Array::vector(&[1.0]).into()), shown(Some(4), false));
    assert_eq!(tests(Array::vector(&[1i64]).into()), shown(None, false));
    assert_eq!(tests(Val::tuple([1i64.into(), 2.0.into()])), shown(Some(5), false));
    assert_eq!(tests(Val::tuple([1i64.into(), 2i64.into()])), shown(None, false));
    assert_eq!(tests(true.into()), shown(None, false));
    assert_eq!(run(text, &[Val::Unit, 1i64.into()]), shown(Some(6), false));
    assert_eq!(run(text, &[Val::Unit, 2i64.into()]), shown(Some(7), false));
    assert_eq!(run(text, &[Val::Unit, 3i64.into()]), "1.5");
    for (value, case) in [(Val::Unit, 4i64), (Val::Unit, 5), (1.5.into(), 5), ("x".into(), 5)] {
        let error = run(text, &[value, case.into()]);
        assert!(error.contains("TypeError") && error.ends_with(" at %2 at %10"), "{error}");
    }
}

#[test]
fn cycles_of_objects_that_were_changed_are_found() {
    let text = "
mutable struct @Node { x: f64, next: any }
func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3, ^4
^3:
  %4: @Node = data.new_object 1.0, nothing
  %5: any = core.convert %4
  %6: @Node = data.new_object 2.0, %5
  %7: any = core.convert %6
  %8: ref<any> = mem.ref_new %7
  %9: tuple<ref<any>, i64> = core.tuple %8, %2
  %10: any = core.convert %9
  %11: unit = data.setfield %4, :next, %10
  %12: any = core.convert nothing
  %13: ref<any> = mem.ref_new %12
  %14: any = core.convert %13
  %15: unit = mem.ref_set %13, %14
  %16: i64 = arith.add %2, 1
  br ^2(%16)
^4:
  return %2
}";
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = Interpreter::new(&module(text));
        engine.set_engine(kind).expect("there is a back end for this machine");
        // Each round leaves two cycles, one of an object that was changed and one of a ref.
        engine.call("f", &[10i64.into()]).expect("it works");
        assert_eq!(live_containers(), 20, "{kind:?}");
        assert_eq!(collect_cycles(), 40, "{kind:?}");
        assert_eq!(live_containers(), 0, "{kind:?}");
        // Many take no more memory than is allowed.
        engine.set_limits(Limits { memory: 8 << 20, ..Limits::default() });
        engine.call("f", &[200_000i64.into()]).expect("it works");
        collect_cycles();
    }
}

#[test]
fn what_is_caught_goes_through_native_code() {
    let text = "
func @f(%1: i64) -> any {
^1:
  %2: any = call @outer(%1)
  return %2
}
func @outer(%1: i64) -> any {
^1:
  %2: any = core.try @body, @handler, %1
  return %2
}
func @body(%1: i64) -> any {
^1:
  %2: i64 = call @inner(%1)
  %3: any = core.convert %2
  return %3
}
func @inner(%1: i64) -> i64 {
^1:
  %2: i64 = arith.div 12, %1
  return %2
}
func @handler(%1: any, %2: i64) -> any {
^1:
  %3: any = core.convert -1
  return %3
}";
    assert_eq!(run(text, &[4i64.into()]), "3");
    assert_eq!(run(text, &[0i64.into()]), "-1");
}

#[test]
fn a_function_that_is_changed_is_compiled_anew() {
    let text = |factor: &str| {
        format!(
            "func @f(%1: f64) -> f64 {{
^1:
  %2: f64 = call @g(%1)
  return %2
}}
func @g(%1: f64) -> f64 {{
^1:
  %2: f64 = arith.mul %1, {factor}
  return %2
}}"
        )
    };
    let first = module(&text("2.0"));
    let mut engine = native(&first);
    assert_eq!(outcome(&mut engine, &[3.0.into()]), "6.0");
    let again = regraft_syntax::parse_and_verify(first.ctx(), "again.ir", &text("5.0"));
    engine.load(&again.expect("the text is right")).expect("the context is the same");
    assert_eq!(outcome(&mut engine, &[3.0.into()]), "15.0");
}

/// A loop that touches an array in its first iterations only.
const SELDOM: &str = "
func @f() -> i64 {
^1:
  %1: array<f64, 1> = mem.alloc 4
  br ^2(1)
^2(%2: i64):
  %3: bool = arith.lt %2, 4
  br %3, ^3, ^4
^3:
  mem.store %1, 1.0, %2
  br ^4
^4:
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, 9000000000000000000
  br %5, ^2(%4), ^5
^5:
  return %4
}";

/// A loop that counts up to 2 only.
const STUCK: &str = "
func @f() -> i64 {
^1:
  %1: array<f64, 1> = mem.alloc 4
  br ^2(1)
^2(%2: i64):
  mem.store %1, 1.0, %2
  %3: bool = arith.eq %2, 2
  br %3, ^4(%2), ^3
^3:
  %4: i64 = arith.add %2, 1
  br ^4(%4)
^4(%5: i64):
  %6: bool = arith.lt %5, 5
  br %6, ^2(%5), ^5
^5:
  return %5
}";

#[test]
fn an_endless_loop_ends_with_its_fuel_or_an_interrupt() {
    for text in [ENDLESS, SELDOM, STUCK] {
        let module = module(text);
        let mut engine = native(&module);
        engine.set_limits(Limits { fuel: Some(1_000_000), ..Limits::default() });
        let error = engine.call("f", &[]).expect_err("it does not end");
        assert_eq!(*error.kind(), ErrorKind::Fuel);

        engine.set_limits(Limits::default());
        let flag = engine.interrupt_flag();
        let stop = std::thread::spawn(move || {
            // The flag is cleared when the call begins, so it is set until somebody has seen it.
            for _ in 0..1_000 {
                flag.store(true, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let error = engine.call("f", &[]).expect_err("it does not end");
        assert_eq!(*error.kind(), ErrorKind::Interrupted);
        drop(stop);
    }
}

#[test]
fn arrays_are_made_copied_and_multiplied() {
    let text = "
func @f(%m: i64, %n: i64) -> array<f64, 2> {
^1:
  %20: array<f64, 2> = mem.alloc %m, %n
  %x: array<f64, 1> = mem.array 2.0, 3.0, 5.0
  br ^2(1)
^2(%i: i64):
  %1: i64 = mem.length %20
  %2: bool = arith.gt %i, %1
  br %2, ^4, ^3
^3:
  %3: f64 = arith.int_to_float %i
  %4: unit = mem.store %20, %3, %i
  %5: i64 = arith.add %i, 1
  br ^2(%5)
^4:
  %b: array<f64, 2> = mem.copy %20
  %6: unit = mem.store %20, 10.0, 1
  %7: i64 = mem.size %b, 2
  %c: array<f64, 2> = mem.alloc 3, %7
  %8: unit = linalg.product %c, %20, %b, false, true
  %9: unit = linalg.add_product %c, %b, %x, true, true, false
  %v: array<f64, 1> = mem.alloc %m
  %10: unit = linalg.add_product %v, %20, %x, false, false, false
  %11: f64 = mem.load %v, 1
  %12: unit = mem.store %c, %11, 1
  return %c
}";
    let run = |m: i64, n: i64| run(text, &[m.into(), n.into()]);
    // By hand: a = [10 4 7; 2 5 8; 3 6 9], b = [1 4 7; 2 5 8; 3 6 9], and the last sum does not fit `c`.
    let wrong = run(3, 3);
    assert!(wrong.contains("`linalg.add_product` does not work on sizes [3, 3]"), "{wrong}");
    let wrong = run(3, 2);
    assert!(wrong.contains("does not work on sizes [3, 2], [3, 2], [3, 2]"), "{wrong}");
    for (m, n) in [(-1, 3), (3, -1), (i64::MAX, 1), (1 << 40, 1 << 40)] {
        let error = run(m, n);
        assert!(error.ends_with(" at %20"), "{error}");
    }
    let fits = text
        .replace("linalg.add_product %c, %b, %x, true, true, false", "mem.fill_in_place %x, 1.0");
    // a * b' = [75 96 117..]: the first row of `a` with those of `b`, and so on; a * [1, 1, 1] begins with 21.
    let run = |m: i64, n: i64| self::run(&fits, &[m.into(), n.into()]);
    assert_eq!(run(3, 3), "[21.0 96.0 117.0; 78.0 93.0 108.0; 90.0 108.0 126.0]");
}

#[test]
fn an_array_takes_the_register_of_the_one_that_it_copies() {
    let text = "
func @f(%n: i64) -> array<f64, 1> {
^1:
  %x: array<f64, 1> = mem.array 1.0, 2.0, 3.0
  br ^2(0, %x)
^2(%i: i64, %v: array<f64, 1>):
  %1: bool = arith.ge %i, %n
  br %1, ^4, ^3
^3:
  %w: array<f64, 1> = mem.copy %v
  %2: f64 = mem.load %v, 1
  %3: f64 = arith.add %2, 1.0
  %4: unit = mem.store %w, %3, 1
  %5: f64 = mem.load %w, 3
  %6: f64 = mem.load %w, 1
  %7: f64 = mem.load %w, 2
  %8: array<f64, 1> = mem.array %5, %6, %7
  %9: i64 = arith.add %i, 1
  br ^2(%9, %8)
^4:
  return %v
}";
    // Each round adds one to the first and turns all by one place.
    assert_eq!(run(text, &[4i64.into()]), "[4.0, 3.0, 3.0]");
}
