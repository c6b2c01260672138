//! Derivatives of derivatives: they are ordinary functions.

use super::*;

use regraft_ad::{PlanKind, ReverseOptions, reverse};

/// The value and the derivatives of `@f` at `x` up to order `n`, each by forward mode over the one
/// before.
fn derivatives(text: &str, n: usize, x: f64) -> Vec<f64> {
    let mut module = parse(text);
    let mut name = module.ctx().symbol("f");
    for _ in 0..n {
        let active =
            vec![true; module.get(module.find(name).unwrap()).unwrap().param_types().len()];
        name = forward(&mut module, name, &active, &ForwardOptions::default()).unwrap();
    }
    verify_module(&module).unwrap();
    let mut args = vec![Val::from(x)];
    for k in 0..n {
        // The direction of each is 1; that of a direction is 0.
        let mut directions = vec![Val::from(0.0); args.len()];
        directions[0] = Val::from(1.0);
        args.extend(directions);
        assert_eq!(args.len(), 2 << k);
    }
    let mut engine = Interpreter::new(&module);
    let value = engine.call(module.ctx().str(name), &args).unwrap();
    let mut found = Vec::new();
    let mut at = value;
    for _ in 0..n {
        // The last of the last is the highest derivative.
        let fields = at.as_fields().unwrap().to_vec();
        let mut first = fields[0].clone();
        while let Some(inner) = first.as_fields().map(<[Val]>::to_vec) {
            first = inner[0].clone();
        }
        found.push(first.as_f64().unwrap());
        at = fields[1].clone();
    }
    found.push(at.as_f64().unwrap());
    found
}

#[test]
fn third_derivatives() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = math.exp %x
  %2: f64 = math.sin %x
  %3: f64 = arith.mul %1, %2
  return %3
}";
    let x = 0.7f64;
    // d/dx (e^x sin x) = e^x (sin x + cos x), then 2 e^x cos x, then 2 e^x (cos x - sin x)
    let (e, s, c) = (x.exp(), x.sin(), x.cos());
    let expected = [e * s, e * (s + c), 2.0 * e * c, 2.0 * e * (c - s)];
    let found = derivatives(text, 3, x);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13 * expected.abs(), "{found} {expected}");
    }
}

/// The program that a wrong treatment of nested tangents gets wrong: `d/dx (x * d/dy (x + y))`
/// is 1, not 2.
#[test]
fn perturbations_are_not_confused() {
    let text = "
func @inner(%y: f64, %x: f64) -> f64 {
^1:
  %1: f64 = arith.add %x, %y
  return %1
}
func @g(%x: f64) -> f64 {
^1:
  return %x
}";
    let mut module = parse(text);
    let ctx = Arc::clone(module.ctx());
    let options = ForwardOptions::default();
    forward(&mut module, ctx.symbol("inner"), &[true, false], &options).unwrap();
    let outer = "
func @inner.jvp_1(%y: f64, %x: f64, %dy: f64) -> tuple<f64, f64> {
^1:
  %1: f64 = arith.add %x, %y
  %2: tuple<f64, f64> = core.tuple %1, %dy
  return %2
}
func @f(%x: f64) -> f64 {
^1:
  %1: tuple<f64, f64> = call @inner.jvp_1(1.0, %x, 1.0)
  %2: f64 = core.get %1, 2
  %3: f64 = arith.mul %x, %2
  return %3
}";
    // The same code as forward mode makes, so that a text can call it.
    let made = module.function("inner.jvp_1").unwrap();
    let written = parse(outer);
    assert!(made.structural_eq(written.function("inner.jvp_1").unwrap()) || made.inst_count() == 2);
    let mut run = Run::new(outer, &[true], 1);
    let pair = run.call("f.jvp", &[3.0.into(), 1.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(3.0, 1.0)");
}

/// The ops that reverse mode leaves behind: shadows, cotangents, accumulation.
#[test]
fn the_ops_of_derivatives_have_derivatives() {
    let text = "
func @f(%x: f64, %a: array<f64, 1>) -> tuple<f64, f64, array<f64, 1>> {
^1:
  %s: array<f64, 1> = ad.zero %a
  %1: f64 = mem.load %a, 1
  %2: f64 = arith.mul %1, %x
  mem.store %s, %2, 1
  %3: array<f64, 1> = ad.copy %s
  ad.accumulate %s, %3
  ad.accumulate %s, %a
  %4: tuple<f64, array<f64, 1>> = core.tuple %2, %s
  %5: tuple<unit, array<f64, 1>> = ad.shadow %4
  %6: tuple<f64, unit> = ad.cotangent %4
  %7: tuple<f64, array<f64, 1>> = ad.join %5, %6
  %8: f64 = core.get %7, 1
  %9 = core.convert %8
  %10 = ad.add %9, nothing
  %11: f64 = ad.unbox %10
  %12: f64 = ad.unbox nothing
  %13: f64 = arith.add %11, %12
  %14: f64 = mem.load %s, 1
  ad.clear %3
  %15: f64 = mem.load %3, 1
  %16: f64 = arith.add %15, %13
  %17: tuple<f64, f64, array<f64, 1>> = core.tuple %14, %16, %s
  return %17
}";
    check(text, &[0.7.into(), vector(&[1.5, 2.0])]);
}

/// Adds `@f.vjp`, differentiates that by everything, and checks it: second derivatives by forward
/// over reverse mode.
fn check_over_reverse(text: &str, args: &[Val], result: Val) {
    for plan in [PlanKind::Best, PlanKind::Naive] {
        let mut module = parse(text);
        let f = module.ctx().symbol("f");
        let count = module.function("f").unwrap().param_types().len();
        let options = ReverseOptions { plan, ..ReverseOptions::default() };
        let vjp = reverse(&mut module, f, &vec![true; count], &options).unwrap().vjp;
        // The check is of `@f`.
        let (f, vjp) = (module.find(f).unwrap(), module.find(vjp).unwrap());
        let ctx = Arc::clone(module.ctx());
        let shadows = args.iter().filter(|arg| matches!(arg, Val::Array(_)));
        let zeros = |arg: &Val| regraft_exec::Host::default().tangents(&ctx).zero(arg);
        let mut all = args.to_vec();
        all.extend(shadows.map(|arg| zeros(arg).unwrap()));
        all.push(result.clone());
        module.rename(f, "primal").unwrap();
        module.rename(vjp, "f").unwrap();
        let active = vec![true; all.len()];
        Run::with(&mut module, &active, &ForwardOptions::default()).check(&all);
    }
}

#[test]
fn forward_over_reverse_of_floats() {
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = math.sin %x
  %2: f64 = arith.mul %1, %y
  %3: f64 = math.exp %2
  %4: bool = arith.lt %x, 1.0
  br %4, ^2, ^3
^2:
  %5: f64 = arith.mul %3, %x
  return %5
^3:
  return %3
}";
    check_over_reverse(text, &[0.7.into(), 1.3.into()], 1.0.into());
    check_over_reverse(text, &[1.7.into(), 1.3.into()], 1.0.into());
}

#[test]
fn forward_over_reverse_of_a_loop_over_an_array() {
    let text = "
func @f(%a: array<f64, 1>, %x: f64) -> f64 {
^1:
  %n: i64 = mem.length %a
  br ^2(1, 1.0)
^2(%i: i64, %acc: f64):
  %1: bool = arith.le %i, %n
  br %1, ^3, ^4
^3:
  %2: f64 = mem.load %a, %i
  %3: f64 = arith.mul %2, %acc
  %4: f64 = math.sin %3
  %5: f64 = arith.add %4, %x
  mem.store %a, %5, %i
  %6: i64 = arith.add %i, 1
  br ^2(%6, %5)
^4:
  return %acc
}";
    check_over_reverse(text, &[vector(&[1.5, 2.0, 0.3]), 0.7.into()], 1.0.into());
}
