//! Loops that keep a few states only: their derivatives are those of loops that keep everything,
//! memory is as after a plain run, and no more steps are made again than has to be.

use std::sync::Arc;

use regraft_ad::{Checkpoints, ReverseOptions, reverse};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, Interpreter};
use regraft_ir::{Context, Module};

fn parse(text: &str) -> (Arc<Context>, Module) {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    (ctx, module)
}

/// The vjp of the first function, all of whose parameters are active, and the plan of that function.
fn vjp(text: &str, checkpoints: Option<Checkpoints>) -> (Module, String, String) {
    let (_, mut module) = parse(text);
    let first = module.get(module.ids()[0]).unwrap().name();
    let count = module.get(module.ids()[0]).unwrap().param_types().len();
    let options = ReverseOptions { checkpoints, describe: true, ..ReverseOptions::default() };
    let made = reverse(&mut module, first, &vec![true; count], &options)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    regraft_ir::verify_module(&module)
        .unwrap_or_else(|errors| panic!("{}\n{module}", regraft_ir::render_all(&errors, false)));
    let plan = made.plans.iter().find(|(name, _)| *name == first).unwrap().1.clone();
    let name = module.ctx().str(made.vjp).to_owned();
    (module, name, plan)
}

/// The outcome of a run: the cotangents of scalars, and the arrays that it was given, as they are
/// afterwards.
#[derive(Debug)]
struct Outcome {
    result: f64,
    cotangents: Vec<f64>,
    arrays: Vec<Vec<f64>>,
    instructions: u64,
}

/// An argument: a float, an integer, or an array with its shadow.
#[derive(Clone, Copy)]
enum Arg<'a> {
    Float(f64),
    Int(i64),
    Array(&'a [f64]),
}

fn run(text: &str, checkpoints: Option<Checkpoints>, args: &[Arg<'_>]) -> (Outcome, String) {
    let (module, name, plan) = vjp(text, checkpoints);
    let (mut values, mut shadows) = (Vec::new(), Vec::new());
    for arg in args {
        values.push(match arg {
            Arg::Float(x) => Val::F64(*x),
            Arg::Int(n) => Val::I64(*n),
            Arg::Array(elements) => {
                shadows.push(Val::from(Array::vector(&vec![0.0; elements.len()])));
                Val::from(Array::vector(elements))
            }
        });
    }
    let objects: Vec<Val> =
        values.iter().chain(&shadows).filter(|v| v.as_array().is_some()).cloned().collect();
    values.extend(shadows);
    values.push(Val::F64(1.0));
    let mut interpreter = Interpreter::new(&module);
    let both = interpreter.call(&name, &values).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
    let parts = both.as_fields().unwrap();
    let cotangents = parts[1].as_fields().unwrap().iter().filter_map(Val::as_f64).collect();
    let arrays = objects.iter().map(|v| v.as_array().unwrap().to_vec::<f64>().unwrap()).collect();
    let result = parts[0].as_f64().unwrap();
    let instructions = interpreter.instructions();
    (Outcome { result, cotangents, arrays, instructions }, plan)
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0), "{a} and {b}");
}

/// Compares loops that keep a few states with the loop that keeps everything.
#[track_caller]
fn agrees(text: &str, args: &[Arg<'_>]) {
    let (want, _) = run(text, None, args);
    let limits = [1, 2, 3, 5, 1000].map(Checkpoints::Snapshots);
    for limit in limits.into_iter().chain([1, 100, 1 << 20].map(Checkpoints::Bytes)) {
        let (have, plan) = run(text, Some(limit), args);
        assert!(plan.contains("made again from snapshots"), "{plan}");
        close(have.result, want.result);
        assert_eq!(have.cotangents.len(), want.cotangents.len());
        have.cotangents.iter().zip(&want.cotangents).for_each(|(&a, &b)| close(a, b));
        for (have, want) in have.arrays.iter().zip(&want.arrays) {
            have.iter().zip(want).for_each(|(&a, &b)| close(a, b));
        }
    }
}

/// Checks that a loop keeps what it keeps, for the reason `why`; the derivative is the same then.
#[track_caller]
fn refused(text: &str, args: &[Arg<'_>], why: &str) {
    let (want, _) = run(text, None, args);
    let (have, plan) = run(text, Some(Checkpoints::Snapshots(2)), args);
    assert!(plan.contains(why), "{plan}");
    assert_eq!(have.cotangents, want.cotangents);
    assert_eq!(have.arrays, want.arrays);
}

/// `s = s + x sin(s)`, n times.
const SCALAR: &str = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %y: f64 = math.sin %s
  %z: f64 = arith.mul %y, %x
  %t: f64 = arith.add %z, %s
  %j: i64 = arith.add %i, 1
  br ^2(%j, %t)
^4:
  return %s
}
";

#[test]
fn a_recurrence_of_scalars() {
    for n in [0, 1, 2, 3, 10, 47] {
        agrees(SCALAR, &[Arg::Float(0.3), Arg::Int(n)]);
    }
    // By hand, for n = 2: s1 = x + x sin x, s2 = s1 + x sin s1.
    let x = 0.3f64;
    let (s1, d1) = (x + x * x.sin(), 1.0 + x.sin() + x * x.cos());
    let (have, _) = run(SCALAR, Some(Checkpoints::Snapshots(1)), &[Arg::Float(x), Arg::Int(2)]);
    close(have.cotangents[0], d1 + s1.sin() + x * s1.cos() * d1);
}

#[test]
fn a_test_at_the_end_of_an_iteration() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %y: f64 = math.exp %s
  %z: f64 = arith.mul %y, %x
  %t: f64 = math.sin %z
  %j: i64 = arith.add %i, 1
  %c: bool = arith.lt %j, %n
  br %c, ^2(%j, %t), ^3
^3:
  %r: f64 = arith.mul %t, %x
  return %r
}
";
    for n in [0, 1, 2, 12] {
        agrees(text, &[Arg::Float(0.7), Arg::Int(n)]);
    }
}

/// An array is changed in place, step by step: a[i] = sin(a[i]) * a[i-1], with neighbours.
const IN_PLACE: &str = "
func @f(%a: array<f64, 1>, %x: f64, %n: i64) -> f64 {
^1:
  %m: i64 = mem.length %a
  br ^2(0)
^2(%i: i64):
  %c: bool = arith.lt %i, %n
  br %c, ^3(2), ^6
^3(%k: i64):
  %d: bool = arith.le %k, %m
  br %d, ^4, ^5
^4:
  %before: i64 = arith.sub %k, 1
  %p: f64 = mem.load %a, %before
  %q: f64 = mem.load %a, %k
  %s: f64 = math.sin %q
  %t: f64 = arith.mul %s, %p
  %u: f64 = arith.add %t, %x
  mem.store %a, %u, %k
  %next: i64 = arith.add %k, 1
  br ^3(%next)
^5:
  %j: i64 = arith.add %i, 1
  br ^2(%j)
^6:
  %r: f64 = mem.load %a, %m
  return %r
}
";

#[test]
fn an_array_changed_in_place() {
    for n in [0, 1, 2, 7, 20] {
        agrees(IN_PLACE, &[Arg::Array(&[0.9, 0.8, 1.1, 0.7]), Arg::Float(0.2), Arg::Int(n)]);
    }
}

#[test]
fn a_ref_changed_in_place() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %cell: ref<f64> = mem.ref_new %x
  br ^2(0)
^2(%i: i64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %s: f64 = mem.ref_get %cell
  %y: f64 = math.cos %s
  %z: f64 = arith.mul %y, %x
  mem.ref_set %cell, %z
  %j: i64 = arith.add %i, 1
  br ^2(%j)
^4:
  %r: f64 = mem.ref_get %cell
  return %r
}
";
    for n in [0, 1, 9] {
        agrees(text, &[Arg::Float(0.6), Arg::Int(n)]);
    }
}

/// A new array in each iteration, handed on to the next.
const HANDED_ON: &str = "
func @f(%a: array<f64, 1>, %x: f64, %n: i64) -> f64 {
^1:
  %m: i64 = mem.length %a
  br ^2(0, %a)
^2(%i: i64, %here: array<f64, 1>):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^6
^3:
  %next: array<f64, 1> = mem.alloc %m
  br ^4(1)
^4(%k: i64):
  %d: bool = arith.le %k, %m
  br %d, ^5, ^7
^5:
  %q: f64 = mem.load %here, %k
  %s: f64 = math.sin %q
  %t: f64 = arith.mul %s, %q
  %u: f64 = arith.add %t, %x
  mem.store %next, %u, %k
  %l: i64 = arith.add %k, 1
  br ^4(%l)
^7:
  %j: i64 = arith.add %i, 1
  br ^2(%j, %next)
^6:
  %r: f64 = mem.load %here, %m
  %v: f64 = mem.load %here, 1
  %w: f64 = arith.mul %r, %v
  return %w
}
";

#[test]
fn arrays_handed_on() {
    for n in [0, 1, 2, 11] {
        agrees(HANDED_ON, &[Arg::Array(&[0.9, 0.8, 1.1]), Arg::Float(0.2), Arg::Int(n)]);
    }
}

#[test]
fn what_is_read_is_changed_after_the_loop() {
    let text = "
func @f(%a: array<f64, 1>, %x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %p: f64 = mem.load %a, 1
  %y: f64 = math.sin %s
  %z: f64 = arith.mul %y, %p
  %j: i64 = arith.add %i, 1
  br ^2(%j, %z)
^4:
  mem.store %a, %s, 1
  return %s
}
";
    agrees(text, &[Arg::Array(&[1.3]), Arg::Float(0.4), Arg::Int(6)]);
}

#[test]
fn steps_that_may_end_in_an_error() {
    let text = "
func @f(%a: array<f64, 1>, %x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^5
^3:
  %p: f64 = mem.load %a, 1
  %bad: bool = arith.lt %s, -5.0
  br %bad, ^6, ^4
^6:
  core.throw \"too small\"
  unreachable
^4:
  %y: f64 = math.sin %s
  %z: f64 = arith.mul %y, %p
  %j: i64 = arith.add %i, 1
  br ^2(%j, %z)
^5:
  return %s
}
";
    agrees(text, &[Arg::Array(&[1.3]), Arg::Float(0.4), Arg::Int(6)]);
}

#[test]
fn loops_that_cannot_be_made_again() {
    let unknown = "
func @f(%x: f64) -> f64 {
^1:
  br ^2(%x)
^2(%s: f64):
  %c: bool = arith.lt %s, 100.0
  br %c, ^3, ^4
^3:
  %t: f64 = math.exp %s
  br ^2(%t)
^4:
  return %s
}
";
    refused(unknown, &[Arg::Float(0.5)], "the number of its iterations is not known");
    let grows = "
func @f(%a: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(1)
^2(%i: i64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %p: f64 = mem.load %a, %i
  %q: f64 = math.sin %p
  mem.push %a, %q
  mem.store %a, %q, %i
  %j: i64 = arith.add %i, 1
  br ^2(%j)
^4:
  %r: f64 = mem.load %a, 4
  return %r
}
";
    refused(grows, &[Arg::Array(&[0.5, 0.6]), Arg::Int(4)], "an array changes its length in it");
    // Found by generated programs: a step made again must not clear shadows of tuples.
    let tuples = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %both = core.tuple %x, 0.0
  %cell: ref<tuple<f64, f64>> = mem.ref_new %both
  br ^2(0)
^2(%i: i64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %old: tuple<f64, f64> = mem.ref_get %cell
  %s: f64 = core.get %old, 1
  %t: f64 = math.sin %s
  %new = core.tuple %t, %s
  mem.ref_set %cell, %new
  %j: i64 = arith.add %i, 1
  br ^2(%j)
^4:
  %last: tuple<f64, f64> = mem.ref_get %cell
  %r: f64 = core.get %last, 1
  return %r
}
";
    refused(tuples, &[Arg::Float(0.5), Arg::Int(3)], "arrays of tuples are changed in it");
    let two_ways = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, 5
  br %c, ^3, ^4
^3:
  %t: f64 = math.sin %s
  %never: bool = arith.eq %i, 7
  br %never, ^6, ^5
^5:
  %j: i64 = arith.add %i, 1
  br ^2(%j, %t)
^6:
  return %t
^4:
  return %s
}
";
    refused(two_ways, &[Arg::Float(0.5), Arg::Int(3)], "it is left in more than one way");
    let printing = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  br ^2(0, %x)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  core.print %i
  %t: f64 = math.sin %s
  %j: i64 = arith.add %i, 1
  br ^2(%j, %t)
^4:
  return %s
}
";
    refused(printing, &[Arg::Float(0.5), Arg::Int(3)], "can be observed from outside");
}

#[test]
fn a_loop_that_keeps_nothing_stays_as_it_is() {
    let text = "
func @f(%a: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(1, 0.0)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %p: f64 = mem.load %a, %i
  %t: f64 = arith.add %s, %p
  %j: i64 = arith.add %i, 1
  br ^2(%j, %t)
^4:
  return %s
}
";
    let (module, ..) = vjp(text, Some(Checkpoints::Snapshots(2)));
    assert!(module.function("f.steps").is_none(), "{module}");
}

/// The least number of steps that have to be made again to undo `n` steps with `s` snapshots, one of
/// which is the state before them: by trying every place for the next snapshot.
fn least(n: usize, s: usize) -> Vec<Vec<u64>> {
    let mut table = vec![vec![0; s + 1]; n + 1];
    for l in 2..=n {
        table[l][1] = (l * (l - 1) / 2) as u64;
        for s in 2..=s {
            let at = |m: usize| m as u64 + table[m][s] + table[l - m][s - 1];
            table[l][s] = (1..l).map(at).min().unwrap();
        }
    }
    table
}

#[test]
fn no_step_too_many_is_made_again() {
    let (n, s) = (60, 9);
    let table = least(n, s);
    // Known values of b(s, t) t - b(s + 1, t - 1).
    assert_eq!(table[10][3], 15);
    assert_eq!(table[20][3], 45);
    let (module, name, _) = vjp(SCALAR, Some(Checkpoints::Snapshots(3)));
    let split = name.replace(".vjp", ".steps.split");
    let mut interpreter = Interpreter::new(&module);
    for s in 1..=s {
        for l in 2..=n {
            let args = [Val::I64(l as i64), Val::I64(s as i64)];
            let m = interpreter.call(&split, &args).unwrap().as_i64().unwrap() as usize;
            assert!((1..l).contains(&m), "{m} of {l} with {s}");
            if s > 1 {
                let cost = m as u64 + table[m][s] + table[l - m][s - 1];
                assert_eq!(cost, table[l][s], "{m} of {l} with {s}");
            }
        }
    }
}

#[test]
fn as_many_instructions_as_steps_have_to_be_made() {
    // Steps that are so long that nothing else counts.
    let body: String = (0..400).map(|i| format!("  %v{}: f64 = math.sin %v{i}\n", i + 1)).collect();
    let text = SCALAR.replace(
        "  %y: f64 = math.sin %s\n",
        &format!("  %v0: f64 = arith.add %s, 0.0\n{body}  %y: f64 = math.cos %v400\n"),
    );
    let table = least(60, 9);
    // A step, and a step forward and back.
    let alone = run(&text, Some(Checkpoints::Snapshots(1)), &[Arg::Float(0.3), Arg::Int(1)]).0;
    let step = 408.0;
    let turn = alone.instructions as f64 - step;
    for (n, s) in [(10, 3), (40, 3), (60, 1), (60, 9), (60, 60)] {
        let limit = Some(Checkpoints::Snapshots(s as u64));
        let (have, _) = run(&text, limit, &[Arg::Float(0.3), Arg::Int(n as i64)]);
        let again = if s >= n { n as u64 - 1 } else { table[n][s] };
        let want = n as f64 * (step + turn) + again as f64 * step;
        let ratio = have.instructions as f64 / want;
        assert!((0.95..1.1).contains(&ratio), "{n} steps, {s} snapshots: {ratio}");
    }
}
