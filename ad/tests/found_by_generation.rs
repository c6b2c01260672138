//! Programs on which random testing found that reverse mode was wrong, made small by hand; what is
//! expected is computed by hand, too.

use regraft_ad::{Checkpoints, PlanKind, ReverseFunctions, ReverseOptions, reverse};
use regraft_exec::value::Val;
use regraft_exec::{Engine, Interpreter};
use regraft_ir::Module;

/// The derivative of the first function of a module.
fn differentiated(
    text: &str,
    plan: PlanKind,
    checkpoints: Option<Checkpoints>,
) -> (Module, ReverseFunctions) {
    let ctx = regraft_dialects::context();
    let told = |errors: Vec<regraft_ir::Diagnostic>| regraft_ir::render_all(&errors, false);
    let mut module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|e| panic!("{}", told(e)));
    let first = module.get(module.ids()[0]).unwrap();
    let (name, count) = (first.name(), first.param_types().len());
    let options = ReverseOptions { plan, checkpoints, ..ReverseOptions::default() };
    let made = reverse(&mut module, name, &vec![true; count], &options)
        .unwrap_or_else(|e| panic!("{}", told(e)));
    regraft_ir::verify_module(&module).unwrap_or_else(|e| panic!("{}\n{module}", told(e)));
    (module, made)
}

/// Holds the cotangents of floats against these numbers, with both plans and with few snapshots: of
/// the function that goes forward and back, and of the two parts one after the other, as a caller has
/// them.
#[track_caller]
fn floats(text: &str, args: &[f64], expected: &[f64]) {
    let few = Some(Checkpoints::Snapshots(2));
    for (plan, few) in [(PlanKind::Best, None), (PlanKind::Naive, None), (PlanKind::Best, few)] {
        let (module, made) = differentiated(text, plan, few);
        let name = |symbol| module.ctx().str(symbol).to_owned();
        let mut engine = Interpreter::new(&module);
        let mut run = |function: &str, args: &[Val]| {
            let result = engine.call(function, args);
            let result = result.unwrap_or_else(|e| panic!("{plan:?}: {e:?}\n{module}"));
            result.as_fields().unwrap().to_vec()
        };
        let mut all: Vec<Val> = args.iter().map(|&x| Val::F64(x)).collect();
        let there = run(&name(made.forward), &all);
        let apart = run(&name(made.reverse), &[there[2].clone(), Val::F64(1.0)]);
        all.push(Val::F64(1.0));
        let both = run(&name(made.vjp), &all)[1].as_fields().unwrap().to_vec();
        for found in [apart, both] {
            let found: Vec<f64> = found.iter().map(|c| c.as_f64().unwrap()).collect();
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(near),
                "{plan:?}, {few:?}: {found:?}, and not {expected:?}\n{module}"
            );
        }
    }
}

/// A loop in a function that is called on one way only: its tape holds structs, and where it is not
/// called, something else of their types stands for them.
#[test]
fn structs_on_a_tape_that_is_not_there() {
    let text = "
struct @Inner {k: i64}
struct @Range {first: i64, inner: @Inner}
mutable struct @Counter {n: i64, next: @Counter}

func @main(%x: f64) -> f64 {
^1:
  %c: bool = arith.lt %x, 1.0
  br %c, ^2, ^3
^2:
  %i: @Inner = data.new 3
  %r: @Range = data.new 2, %i
  %z: @Counter = core.undef
  %n: @Counter = data.new_object 0, %z
  %y: f64 = call @looped(%x, %r, %n)
  return %y
^3:
  %t: f64 = math.sin %x
  return %t
}

func @looped(%x: f64, %r: @Range, %n: @Counter) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x, %x
  br ^2(1.0)
^2(%y: f64):
  %i: i64 = core.get %r, 1
  %v: f64 = mem.load %a, %i
  %w: f64 = arith.mul %v, %y
  %k: i64 = data.getfield %n, 1
  %1: i64 = arith.add %k, 1
  %2: unit = data.setfield %n, 1, %1
  %in: @Inner = core.get %r, 2
  %e: i64 = core.get %in, 1
  %c: bool = arith.lt %1, %e
  br %c, ^2(%w), ^3
^3:
  return %w
}
";
    // Two or more times around: x^3. Otherwise sin(x).
    floats(text, &[0.5], &[3.0 * 0.25]);
    floats(text, &[1.5], &[1.5f64.cos()]);
}

/// The shadow of an array of tuples that is made shorter has zeros again in the places that were cut
/// off, when it has its length again.
#[test]
fn an_array_of_tuples_becomes_shorter() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %s: tuple<f64, f64> = core.tuple %x, 1.0
  %t: tuple<f64, f64> = core.tuple %x, 3.0
  %a: array<tuple<f64, f64>, 1> = mem.array %s, %t
  %1: tuple<f64, f64> = mem.load %a, 2
  %2: f64 = core.get %1, 1
  %3: f64 = core.get %1, 2
  %p: f64 = arith.mul %2, %3
  %4: unit = mem.resize %a, 1
  %5: tuple<f64, f64> = mem.load %a, 1
  %6: f64 = core.get %5, 1
  %q: f64 = arith.mul %6, %6
  %7: unit = mem.resize %a, 2
  %8: tuple<f64, f64> = core.tuple %q, %x
  %9: unit = mem.store %a, %8, 2
  %10: tuple<f64, f64> = mem.load %a, 2
  %11: f64 = core.get %10, 1
  %12: f64 = core.get %10, 2
  %r: f64 = arith.mul %11, %12
  %13: unit = mem.resize %a, 0
  %y: f64 = arith.add %p, %r
  return %y
}
";
    // 3 x + x^3.
    floats(text, &[0.5], &[3.0 + 3.0 * 0.25]);
}

/// The same, of tuples that hold objects.
#[test]
fn an_array_of_tuples_of_arrays_becomes_shorter() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %v: array<f64, 1> = mem.array %x
  %s: tuple<f64, array<f64, 1>> = core.tuple %x, %v
  %a: array<tuple<f64, array<f64, 1>>, 1> = mem.array %s, %s
  %1: tuple<f64, array<f64, 1>> = mem.load %a, 2
  %2: f64 = core.get %1, 1
  %3: array<f64, 1> = core.get %1, 2
  %4: f64 = mem.load %3, 1
  %5: f64 = arith.mul %2, %4
  %6: unit = mem.store %3, %5, 1
  %7: unit = mem.resize %a, 1
  %8: tuple<f64, array<f64, 1>> = mem.load %a, 1
  %9: array<f64, 1> = core.get %8, 2
  %10: f64 = mem.load %9, 1
  %11: f64 = arith.mul %10, %x
  %12: unit = mem.resize %a, 0
  return %11
}
";
    // x^3.
    floats(text, &[0.5], &[3.0 * 0.25]);
}

/// The shadow of an array of unknown type depends on that type: both modes say so.
#[test]
fn elements_of_what_is_not_known_to_be_an_array() {
    let text = "
func @main(%x: f64) -> any {
^1:
  %a: array<f64, 1> = mem.array %x
  br ^2(%a)
^2(%b: any):
  %1: unit = mem.store %b, 0.0, 1
  return %b
}
";
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_module(&ctx, "test.ir", text).unwrap();
    let main = ctx.symbol("main");
    let expected = "the derivative of `mem.store` depends on a type that is not known here";
    let errors = reverse(&mut module, main, &[true], &ReverseOptions::default()).unwrap_err();
    assert_eq!(errors[0].message(), expected);
    let errors = regraft_ad::forward(&mut module, main, &[true], &Default::default()).unwrap_err();
    assert_eq!(errors[0].message(), expected);
}

/// A loop that ends when its counter is 2, or before it is negative: here the counter begins with 0,
/// and would come to 2 only after having wrapped around. No array is made for so many iterations.
#[test]
fn a_counter_that_would_wrap_around() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x
  %1: i64 = mem.length %a
  %2: i64 = arith.sub %1, 1
  br ^2(%2, %x)
^2(%i: i64, %y: f64):
  %z: f64 = math.sin %y
  %c: bool = arith.eq %i, 2
  br %c, ^4, ^3
^3:
  %j: i64 = arith.sub %i, 1
  %d: bool = arith.le 0, %j
  br %d, ^2(%j, %z), ^4
^4:
  return %z
}
";
    floats(text, &[0.5], &[0.5f64.cos()]);
}

/// Arrays that a loop with snapshots reads become longer or shorter after it: on the way back they
/// have to have their lengths again.
#[test]
fn an_array_that_a_loop_reads_becomes_shorter_later() {
    for later in ["mem.resize %a, 0", "mem.push %a, 1.0"] {
        let text = format!(
            "
func @main(%x: f64) -> f64 {{
^1:
  %a: array<f64, 1> = mem.array %x, 2.0, %x
  %n: i64 = mem.length %a
  br ^2(1, 1.0)
^2(%k: i64, %y: f64):
  %c: bool = arith.le %k, %n
  br %c, ^3, ^4
^3:
  %v: f64 = mem.load %a, %k
  %w: f64 = arith.mul %y, %v
  %j: i64 = arith.add %k, 1
  br ^2(%j, %w)
^4:
  %1: unit = {later}
  return %y
}}
"
        );
        // 2 x^2.
        floats(&text, &[0.5], &[2.0]);
    }
}

/// A loop with snapshots that hands one array on in two places, and that makes no step at all or three.
#[test]
fn an_array_is_handed_on_twice() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %few: bool = arith.lt %x, 1.0
  %n: i64 = core.select %few, 0, 3
  %a: array<f64, 1> = mem.array %x
  br ^2(0, %a, %a)
^2(%i: i64, %b: array<f64, 1>, %d: array<f64, 1>):
  %more: bool = arith.lt %i, %n
  br %more, ^3, ^4
^3:
  %1: f64 = mem.load %b, 1
  %2: f64 = math.sin %1
  %e: array<f64, 1> = mem.array %2
  %j: i64 = arith.add %i, 1
  br ^2(%j, %e, %e)
^4:
  %3: f64 = mem.load %b, 1
  %4: f64 = mem.load %d, 1
  %5: f64 = arith.mul %3, %4
  return %5
}
";
    // x^2, and the square of sin(sin(sin(x))).
    floats(text, &[0.5], &[1.0]);
    let (s, c) = (1.5f64.sin(), 1.5f64.cos());
    floats(text, &[1.5], &[2.0 * s.sin().sin() * s.sin().cos() * s.cos() * c]);
}

/// A loop with snapshots that hands on what is not known by its type.
#[test]
fn something_of_unknown_type_is_handed_on() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  br ^2(0, %x, 0.0)
^2(%i: i64, %y: f64, %any: any):
  %more: bool = arith.lt %i, 3
  br %more, ^3, ^4
^3:
  %1: f64 = math.sin %y
  %a: array<f64, 1> = mem.array %1
  %j: i64 = arith.add %i, 1
  br ^2(%j, %1, %a)
^4:
  return %y
}
";
    let (s, c) = (0.5f64.sin(), 0.5f64.cos());
    floats(text, &[0.5], &[s.sin().cos() * s.cos() * c]);
}

/// The shadow of a copy begins with zeros, also where steps are made again and something has come back
/// to what is copied.
#[test]
fn a_copy_of_an_array_of_tuples_in_each_iteration() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %t: tuple<f64, f64> = core.tuple %x, %x
  %a: array<tuple<f64, f64>, 1> = mem.array %t
  br ^2(0, 0.0)
^2(%i: i64, %y: f64):
  %more: bool = arith.lt %i, 4
  br %more, ^3, ^4
^3:
  %z: f64 = call @product(%a)
  %s: f64 = math.sin %y
  %w: f64 = arith.add %s, %z
  %j: i64 = arith.add %i, 1
  br ^2(%j, %w)
^4:
  return %y
}

func @product(%a: array<tuple<f64, f64>, 1>) -> f64 {
^1:
  %b: array<tuple<f64, f64>, 1> = mem.copy %a
  %t: tuple<f64, f64> = mem.load %b, 1
  %1: f64 = core.get %t, 1
  %2: f64 = core.get %t, 2
  %3: f64 = arith.mul %1, %2
  return %3
}
";
    let (mut y, mut dy) = (0.0f64, 0.0);
    for _ in 0..4 {
        dy = y.cos() * dy + 2.0 * 0.5;
        y = y.sin() + 0.25;
    }
    floats(text, &[0.5], &[dy]);
}

/// A polynomial of the iteration that is too large when it counts from the other end is no way to find
/// a value again.
#[test]
fn a_polynomial_of_high_degree() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x, %x
  %n: i64 = mem.length %a
  br ^2(0, %x)
^2(%i: i64, %y: f64):
  %1: i64 = arith.add %n, %i
  %2: i64 = arith.mul %1, %1
  %3: i64 = arith.mul %2, %1
  %odd: i64 = arith.and %3, 1
  %even: bool = arith.eq %odd, 0
  br %even, ^3, ^4
^3:
  %s: f64 = math.sin %y
  br ^5(%s)
^4:
  %e: f64 = math.exp %y
  br ^5(%e)
^5(%z: f64):
  %j: i64 = arith.add %i, 1
  %more: bool = arith.lt %j, 3
  br %more, ^2(%j, %z), ^6
^6:
  return %z
}
";
    // sin(exp(sin(x))).
    let e = 0.5f64.sin().exp();
    floats(text, &[0.5], &[e.cos() * e * 0.5f64.cos()]);
}

/// The shadow of a float of unknown type is nothing.
#[test]
fn a_float_of_unknown_type_is_appended() {
    let text = "
func @main(%x: f64, %any: any) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x
  %1: unit = mem.push %a, %any
  %2: f64 = mem.load %a, 1
  %3: f64 = arith.mul %2, %x
  return %3
}
";
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_module(&ctx, "test.ir", text).unwrap();
    let options = ReverseOptions::default();
    let made = reverse(&mut module, ctx.symbol("main"), &[true, false], &options).unwrap();
    let mut engine = Interpreter::new(&module);
    let args = [Val::F64(3.0), Val::F64(2.0), Val::F64(1.0)];
    let both = engine.call(ctx.str(made.vjp), &args).unwrap();
    // x^2.
    let cotangents = both.as_fields().unwrap()[1].as_fields().unwrap().to_vec();
    assert_eq!(cotangents[0].as_f64(), Some(6.0));
}

/// A cycle with two ways in, of which one block alone has something to undo: control came back to it
/// by way of others, which were taken for nothing in between.
#[test]
fn a_cycle_through_a_block_that_is_undone() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x
  %enters: bool = arith.gt %x, 100.0
  br %enters, ^2(0), ^3(3)
^2(%n: i64):
  %y: f64 = mem.load %a, 1
  %z: f64 = arith.mul %y, 2.0
  mem.store %a, %z, 1
  br ^3(%n)
^3(%m: i64):
  %k: i64 = arith.sub %m, 1
  %more: bool = arith.lt 0, %k
  br %more, ^2(%k), ^4
^4:
  %r: f64 = mem.load %a, 1
  return %r
}
";
    floats(text, &[1.5], &[4.0]);
}

#[test]
fn an_inner_loop_that_is_not_entered_has_no_size() {
    // The array has one element, so that the inner loop would run from 2 to 0; its values are kept in an
    // array over both loops, which is made before the test that guards the inner one.
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %a: array<f64, 1> = mem.fill %x, 1
  %n: i64 = mem.length %a
  %m: i64 = arith.add %n, -1
  %c: bool = arith.le 2, %m
  br ^2
^2:
  br %c, ^4(2), ^5
^3:
  %r: f64 = mem.load %a, 1
  return %r
^4(%i: i64):
  %v: f64 = mem.load %a, 1
  %w: f64 = arith.mul %v, %v
  %s: unit = mem.store %a, %w, 1
  %j: i64 = arith.add %i, 1
  %d: bool = arith.le %j, %m
  br %d, ^4(%j), ^5
^5:
  br false, ^2, ^3
}";
    floats(text, &[0.75], &[1.0]);
}

/// Chunks are given an array that nothing flows back to, in one struct with a number that something does. The sweep of a
/// chunk adds to the shadow of the array what nobody asks for, or nothing, if it does not read it.
#[test]
fn chunks_with_a_constant_array_beside_a_number() {
    let text = |factor: &str| {
        format!(
            "struct @C {{a: f64, own: tuple<array<f64, 1>>}}

func @main(%1: f64) -> f64 {{
^1:
  %2: array<f64, 1> = mem.array 1.0, 2.0, 0.5
  %3: tuple<array<f64, 1>> = core.tuple %2
  %4: @C = data.new %1, %3
  %5: array<f64, 1> = call @in_chunks(%4, 2)
  %6: f64 = mem.load %5, 1
  %7: f64 = mem.load %5, 2
  %8: f64 = arith.mul %6, %7
  return %8
}}

func @in_chunks(%1: @C, %2: i64) -> array<f64, 1> {{chunks=true, inline=false}} {{
^1:
  %3: array<f64, 1> = mem.alloc %2
  br ^2(1)
^2(%4: i64):
  %5: bool = arith.le %4, %2
  br %5, ^3, ^4
^3:
  %6: f64 = call @chunk(%1, %4)
  mem.store %3, %6, %4 {{inbounds=true}}
  %7: i64 = arith.add %4, 1
  br ^2(%7)
^4:
  return %3
}}

func @chunk(%1: @C, %2: i64) -> f64 {{inline=false}} {{
^1:
  %3: f64 = core.get %1, 1
  %4: tuple<array<f64, 1>> = core.get %1, 2
  %5: array<f64, 1> = core.get %4, 1
  %6: f64 = mem.load %5, %2
  %7: f64 = arith.mul %3, {factor}
  return %7
}}
"
        )
    };
    // x^4, and 2x^2.
    floats(&text("%3"), &[0.5], &[0.5]);
    floats(&text("%6"), &[0.5], &[2.0]);
}

/// Nothing in these loops has a derivative, so the reverse sweep bypasses the one around the others. The block that it is left
/// from has two predecessors, behind a loop within: which of them control came from is not asked.
#[test]
fn a_block_of_a_loop_that_is_bypassed() {
    let text = "
func @main(%x: f64, %a: bool) -> f64 {
^1:
  br ^2
^2:
  br ^4
^3(%r: f64):
  return %r
^4:
  br %a, ^6, ^5
^5:
  br false, ^2, ^3(%x)
^6:
  br false, ^7, ^5
^7:
  br %a, ^6, ^4
}";
    for flag in [false, true] {
        let text =
            text.replace(", %a: bool", "").replace("%a", if flag { "true" } else { "false" });
        floats(&text, &[0.75], &[1.0]);
    }
}

/// An array that was appended to an array of arrays goes when that is cut. On the way back the shadow has as many elements again, of
/// which that one is not defined.
#[test]
fn an_array_that_was_appended_is_cut_off() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %a: array<f64, 1> = mem.array %x
  %all: array<array<f64, 1>, 1> = mem.array %a, %a
  %y: f64 = arith.mul %x, %x
  %b: array<f64, 1> = mem.array %y
  mem.push %all, %b
  %last: array<f64, 1> = mem.load %all, 3
  mem.resize %all, 0
  %r: f64 = mem.load %last, 1
  return %r
}";
    floats(text, &[3.0], &[6.0]);
}

/// A constant array that was copied into another one grows afterwards. The reverse sweep moves as many cotangents as it had elements
/// when it was copied.
#[test]
fn a_constant_that_was_copied_grows() {
    let text = "
func @main(%x: f64) -> f64 {
^1:
  %to: array<f64, 1> = mem.array %x, %x, %x
  %from: array<f64, 1> = mem.array 1.0, 2.0
  mem.copyto %to, %from
  mem.push %from, 3.0
  mem.push %from, 4.0
  %a: f64 = mem.load %to, 2
  %b: f64 = mem.load %to, 3
  %c: f64 = arith.mul %a, %b
  return %c
}";
    floats(text, &[5.0], &[2.0]);
}
