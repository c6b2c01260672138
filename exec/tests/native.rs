//! Native code does what the interpreter does, at the same places, and stops when it is told to.

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{ENDLESS, module, outcome, run_both as run};
use regraft_exec::value::Array;
use regraft_exec::{Engine, EngineKind, ErrorKind, Interpreter, Limits};
use regraft_ir::Module;

fn native(module: &Module) -> Interpreter {
    common::native(module, EngineKind::Cranelift)
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

#[test]
fn powers_and_quotients_by_minus_one() {
    let of = |params: &str, ty: &str, inst: &str| {
        format!("func @f({params}) -> {ty} {{\n^1:\n  %3: {ty} = {inst}\n  return %3\n}}")
    };
    let power = of("%1: f64, %2: f64", "f64", "math.pow %1, %2");
    for (x, y, result) in [
        (2.0, 0.5, "1.4142135623730951"),
        (-2.0, 3.0, "-8.0"),
        (-0.0, -1.0, "-Inf"),
        (f64::NAN, 0.0, "1.0"),
    ] {
        assert_eq!(run(&power, &[x.into(), y.into()]), result);
    }
    assert!(run(&power, &[(-2.0).into(), 0.5.into()]).contains("DomainError"));
    let power = of("%1: f64, %2: i64", "f64", "math.powi %1, %2");
    for (n, result) in [(5, "-32.0"), (-3, "-0.125"), (0, "1.0"), (i64::MIN, "0.0")] {
        assert_eq!(run(&power, &[(-2.0).into(), n.into()]), result);
    }
    let power = of("%1: i64, %2: i64", "i64", "arith.powi %1, %2");
    for (x, n, result) in [(-3, 3, "-27"), (2, 64, "0"), (-1, -3, "-1")] {
        assert_eq!(run(&power, &[i64::into(x), i64::into(n)]), result);
    }
    assert!(run(&power, &[2i64.into(), (-1i64).into()]).contains("DomainError"));
    for (op, of_seven) in [("div", "-7"), ("rem", "0"), ("fld", "-7"), ("cld", "-7"), ("mod", "0")]
    {
        let text = of("%1: i64", "i64", &format!("arith.{op} %1, -1"));
        assert_eq!(run(&text, &[7i64.into()]), of_seven, "{op}");
        let least = run(&text, &[i64::MIN.into()]);
        assert_eq!(least.contains("DivideError"), of_seven != "0", "{op}: {least}");
    }
}
