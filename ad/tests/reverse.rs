//! Reverse mode, checked against known derivatives and against central differences.

use std::sync::Arc;

use regraft_ad::{DerivativeTable, PlanKind, ReverseOptions, reverse};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, Interpreter};
use regraft_ir::{Context, Module};

fn parse(text: &str) -> (Arc<Context>, Module) {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    (ctx, module)
}

/// The vjp of the first function with both plans; all parameters are active.
fn vjp(text: &str, plan: PlanKind) -> (Module, String, String) {
    let (_, mut module) = parse(text);
    let first = module.get(module.ids()[0]).unwrap().name();
    let count = module.get(module.ids()[0]).unwrap().param_types().len();
    let options = ReverseOptions { plan, describe: true, ..ReverseOptions::default() };
    let made = reverse(&mut module, first, &vec![true; count], &options)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    regraft_ir::verify_module(&module)
        .unwrap_or_else(|errors| panic!("{}\n{module}", regraft_ir::render_all(&errors, false)));
    let plans = made.plans.iter().map(|(_, text)| text.as_str()).collect::<String>();
    let name = module.ctx().str(made.vjp).to_owned();
    (module, name, plans)
}

#[track_caller]
fn floats(text: &str, args: &[f64], expected: &[f64]) {
    for plan in [PlanKind::Best, PlanKind::Naive] {
        let (module, name, _) = vjp(text, plan);
        let mut interpreter = Interpreter::new(&module);
        let mut all: Vec<Val> = args.iter().map(|&x| Val::F64(x)).collect();
        all.push(Val::F64(1.0));
        let result = interpreter.call(&name, &all).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
        let parts = result.as_fields().unwrap()[1].as_fields().unwrap().to_vec();
        for (part, want) in parts.iter().zip(expected) {
            let have = part.as_f64().unwrap();
            assert!(
                (have - want).abs() <= 1e-12 * want.abs().max(1.0),
                "{plan:?}: {have} {want}\n{module}"
            );
        }
    }
}

#[test]
fn straight_line() {
    floats(
        "func @f(%1: f64, %2: f64) -> f64 {\n^1:\n  %3: f64 = math.sin %1\n  %4: f64 = arith.mul %3, %2\n  return %4\n}\n",
        &[0.5, 3.0],
        &[3.0 * 0.5f64.cos(), 0.5f64.sin()],
    );
}

#[test]
fn powers_in_a_loop() {
    // x^5 by a loop of five multiplications.
    floats(
        "func @f(%1: f64) -> f64 {\n^1:\n  br ^2(0, 1.0)\n^2(%2: i64, %3: f64):\n  %4: bool = arith.lt %2, 5\n  br %4, ^3, ^4\n^3:\n  %5: i64 = arith.add %2, 1\n  %6: f64 = arith.mul %3, %1\n  br ^2(%5, %6)\n^4:\n  return %3\n}\n",
        &[1.5],
        &[5.0 * 1.5f64.powi(4)],
    );
}

#[test]
fn sum_of_an_array() {
    let text = "func @sum(%x: array<f64, 1>) -> f64 {\n^1:\n  %n: i64 = mem.length %x\n  br ^2(0, 0.0)\n^2(%i: i64, %s: f64):\n  %c: bool = arith.lt %i, %n\n  br %c, ^3, ^4\n^3:\n  %j: i64 = arith.add %i, 1\n  %v: f64 = mem.load %x, %j\n  %w: f64 = math.sin %v\n  %t: f64 = arith.add %s, %w\n  br ^2(%j, %t)\n^4:\n  return %s\n}\n";
    for plan in [PlanKind::Best, PlanKind::Naive] {
        let (module, name, plans) = vjp(text, plan);
        println!("{plans}\n{module}");
        let mut interpreter = Interpreter::new(&module);
        let x = Val::from(Array::vector(&[0.1, 0.2, 0.3]));
        let dx = Val::from(Array::vector(&[0.0, 0.0, 0.0]));
        interpreter.call(&name, &[x, dx.clone(), Val::F64(2.0)]).unwrap();
        let got = dx.as_array().unwrap().to_vec::<f64>().unwrap();
        for (x, got) in [0.1f64, 0.2, 0.3].into_iter().zip(got) {
            assert!((got - 2.0 * x.cos()).abs() < 1e-14, "{got}");
        }
    }
}

#[test]
fn what_tells_of_an_error_has_no_derivative() {
    // `string` is called dynamically; `told` takes the argument, and never comes back.
    let text = "
func @f(%1: f64, %2: f64) -> f64 {
^1:
  %3: bool = arith.lt %1, 0.0
  br %3, ^2, ^3
^2:
  %4: any = core.apply @string, %1
  %5: never = core.throw %4
  unreachable
^3:
  %6: bool = arith.lt %2, 0.0
  br %6, ^4, ^5
^4:
  %7: never = call @told(%2)
  unreachable
^5:
  %8: f64 = math.sqrt %1
  %9: f64 = arith.mul %8, %2
  return %9
}

func @told(%1: f64) -> never {
^1:
  %2: any = core.apply @string, %1
  %3: never = core.throw %2
  unreachable
}
";
    floats(text, &[4.0, 3.0], &[0.75, 2.0]);
}

/// The messages of the errors that the derivative of the last function gives.
fn messages(text: &str) -> Vec<String> {
    let (_, mut module) = parse(text);
    let f = module.get(*module.ids().last().unwrap()).unwrap();
    let (name, active) = (f.name(), vec![true; f.param_types().len()]);
    let before = module.to_string();
    let errors = reverse(&mut module, name, &active, &ReverseOptions::default()).unwrap_err();
    assert_eq!(module.to_string(), before);
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn all_that_has_no_derivative_is_told_at_once() {
    let text = "
func @table(%x: f64) -> f64 {derivative=\"it is a table\"} {
^1:
  return %x
}
func @bits(%x: f64) -> f64 {
^1:
  %1: f64 = arith.bitcast %x
  core.set_global :y, %x
  return %1
}
func @f(%x: f64, %g: any) -> f64 {
^1:
  %1: f64 = call @table(%x)
  %2: f64 = call @bits(%x)
  %3: f64 = call @bits(%1)
  %4 = core.apply %g, %x
  %5: f64 = core.typeassert %4
  %6: f64 = arith.add %2, %3
  %7: f64 = arith.add %5, %6
  return %7
}";
    let found = messages(text);
    let expected = [
        "a global variable that is set to something with a derivative hides it",
        "`arith.bitcast` has no derivative: the bits of a float",
        "it is a table",
        "what is called here is known only when the program runs",
    ];
    for start in expected {
        assert_eq!(found.iter().filter(|m| m.starts_with(start)).count(), 1, "{start}: {found:?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:?}");
    // The adjoints of one block tell of each op, too.
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = arith.bitcast %x
  br ^2
^2:
  %2: f64 = arith.bitcast %y
  %3: f64 = arith.mul %1, %2
  return %3
}";
    assert_eq!(messages(text).len(), 2);
}

#[test]
fn nothing_is_kept_for_a_loop_that_is_only_left_for_an_error() {
    // The squares of `x` are put into `y`, which nobody but the error sees, and added up.
    let text = "
func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  %y: array<f64, 1> = mem.alloc %n
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^6
^3:
  %j: i64 = arith.add %i, 1
  %v: f64 = mem.load %x, %j
  %w: f64 = arith.mul %v, %v
  %p: unit = mem.store %y, %w, %j
  %bad: bool = arith.lt %v, 0.0
  br %bad, ^4, ^5
^4:
  %text: any = core.apply @string, %v
  %pair: tuple<any, array<f64, 1>> = core.tuple %text, %y
  %e: never = core.throw %pair
  unreachable
^5:
  %l: f64 = mem.load %y, %j
  %t: f64 = arith.add %s, %l
  br ^2(%j, %t)
^6:
  return %s
}
";
    for (plan, kept) in [(PlanKind::Best, 0), (PlanKind::Naive, 17)] {
        let (module, name, plans) = vjp(text, plan);
        assert!(plans.ends_with(&format!(" {kept} bytes an iteration\n")), "{plans}");
        let mut interpreter = Interpreter::new(&module);
        let dx = Val::from(Array::vector(&[0.0; 3]));
        let args = |x: [f64; 3]| [Val::from(Array::vector(&x)), dx.clone(), Val::F64(1.0)];
        interpreter.call(&name, &args([1.0, 2.0, 3.0])).unwrap();
        assert_eq!(dx.as_array().unwrap().to_vec::<f64>().unwrap(), [2.0, 4.0, 6.0], "{plan:?}");
        assert!(interpreter.call(&name, &args([1.0, -2.0, 3.0])).is_err(), "{plan:?}");
    }
}

#[test]
fn rules_of_a_user_take_the_place_of_those_that_are_there() {
    let mut extensions = regraft_ad::extensions();
    let ops = Arc::clone(extensions.ops());
    let table = extensions.edit::<DerivativeTable>();
    table.add_rules(&ops, "own.rules", "d math.sin(x) = 2 * x\n").unwrap();
    let ctx = Context::with_extensions(&extensions.into());
    let text = "func @f(%1: f64) -> f64 {\n^1:\n  %2: f64 = math.sin %1\n  return %2\n}\n";
    let mut module = regraft_syntax::parse_and_verify(&ctx, "f.ir", text).unwrap();
    let options = ReverseOptions::default();
    let made = reverse(&mut module, ctx.symbol("f"), &[true], &options).unwrap();
    let mut interpreter = Interpreter::new(&module);
    let args = [Val::F64(3.0), Val::F64(1.0)];
    let result = interpreter.call(ctx.str(made.vjp), &args).unwrap();
    let cotangents = result.as_fields().unwrap()[1].as_fields().unwrap().to_vec();
    assert_eq!(cotangents[0].as_f64(), Some(6.0));
}

/// Of a sum with something known as any, the cotangent is that of what is not.
#[test]
fn an_operand_of_any_type_does_not_hide_the_type_of_the_other() {
    let text = "func @f(%1: f64) -> f64 {\n^1:\n  br ^2(0.0)\n^2(%2: any):\n  br false, ^4, ^3\n\
                ^3:\n  return 0.0\n^4:\n  %3: any = arith.add %2, %1\n  br ^2(%3)\n}\n";
    floats(text, &[0.5], &[0.0]);
}

#[test]
fn more_values_are_kept_than_a_tuple_holds() {
    let mut text = String::from("func @f(%1: f64) -> f64 {\n^1:\n");
    let (mut x, mut expected) = (0.7f64, 1.0f64);
    for i in 2..3_000 {
        text += &format!("  %{i}: f64 = math.sin %{}\n", i - 1);
        expected *= x.cos();
        x = x.sin();
    }
    text += "  return %2999\n}\n";
    floats(&text, &[0.7], &[expected]);
}

#[test]
fn many_values_of_some_ways_only_are_kept() {
    // x becomes sin(sin(x)) where it is large, else exp(-x) of its half; 150 times.
    let mut text = String::from("func @f(%x0: f64) -> f64 {\n^1:\n  br ^10(%x0)\n");
    let (mut x, mut expected) = (0.7f64, 1.0f64);
    for i in 0..150 {
        let (at, next) = (10 * (i + 1), 10 * (i + 2));
        text += &format!(
            "^{at}(%y{i}: f64):\n  %c{i}: bool = arith.lt 0.6, %y{i}\n  br %c{i}, ^{0}, ^{1}\n\
             ^{0}:\n  %s{i}: f64 = math.sin %y{i}\n  %t{i}: f64 = math.sin %s{i}\n  br ^{next}(%t{i})\n\
             ^{1}:\n  %h{i}: f64 = arith.mul %y{i}, -0.5\n  %e{i}: f64 = math.exp %h{i}\n  br ^{next}(%e{i})\n",
            at + 1,
            at + 2
        );
        if x > 0.6 {
            expected *= x.cos() * x.sin().cos();
            x = x.sin().sin();
        } else {
            expected *= -0.5 * (-0.5 * x).exp();
            x = (-0.5 * x).exp();
        }
    }
    text += "^1510(%r: f64):\n  return %r\n}\n";
    floats(&text, &[0.7], &[expected]);
}

#[test]
fn parts_of_a_tuple_that_nothing_comes_to_are_not_added_to() {
    let text = "
func @f(%t: tuple<f64, f64, f64>) -> f64 {
^1:
  %a: f64 = core.get %t, 1
  %less: bool = arith.lt %a, 1.0
  br %less, ^2, ^3
^2:
  %b: f64 = core.get %t, 2
  %ab: f64 = arith.mul %a, %b
  br ^4(%ab)
^3:
  %c: f64 = core.get %t, 2
  %sin: f64 = math.sin %c
  br ^4(%sin)
^4(%m: f64):
  %z: f64 = core.get %t, 3
  %r: f64 = arith.mul %m, %z
  return %r
}";
    let (a, b, z) = (0.5f64, 0.75f64, 3.0f64);
    for (a, expected) in [(a, [b * z, a * z, a * b]), (2.0, [0.0, b.cos() * z, b.sin()])] {
        gradient_of_tuple(text, &[a, b, z], &expected);
    }
    let (module, ..) = vjp(text, PlanKind::Best);
    let reverse = module.function("f.reverse").unwrap();
    assert!(!reverse.to_string().contains("arith.add"), "{reverse}");
}

#[test]
fn parts_of_a_tuple_are_added_up_over_a_loop() {
    // The sum of t1 sin(k t2) for k up to 4, times t3.
    let text = "
func @f(%t: tuple<f64, f64, f64>) -> f64 {
^1:
  br ^2(0.0, 0.0)
^2(%k: f64, %s: f64):
  %more: bool = arith.lt %k, 4.0
  br %more, ^3, ^4
^3:
  %next: f64 = arith.add %k, 1.0
  %a: f64 = core.get %t, 1
  %b: f64 = core.get %t, 2
  %kb: f64 = arith.mul %next, %b
  %sin: f64 = math.sin %kb
  %term: f64 = arith.mul %a, %sin
  %sum: f64 = arith.add %s, %term
  br ^2(%next, %sum)
^4:
  %z: f64 = core.get %t, 3
  %r: f64 = arith.mul %s, %z
  return %r
}";
    let (a, b, z) = (0.5f64, 0.75f64, 3.0f64);
    let sum = |term: &dyn Fn(f64) -> f64| (1..=4).map(|k| term(f64::from(k))).sum::<f64>();
    let by_a = sum(&|k| (k * b).sin());
    let expected = [by_a * z, sum(&|k| a * k * (k * b).cos()) * z, a * by_a];
    gradient_of_tuple(text, &[a, b, z], &expected);
}

/// Compares the derivatives by the parts of a tuple of floats.
#[track_caller]
fn gradient_of_tuple(text: &str, args: &[f64], expected: &[f64]) {
    for plan in [PlanKind::Best, PlanKind::Naive] {
        let (module, name, _) = vjp(text, plan);
        let args = Val::tuple(args.iter().map(|&x| Val::F64(x)));
        let result = Interpreter::new(&module).call(&name, &[args, Val::F64(1.0)]).unwrap();
        let gradient = result.as_fields().unwrap()[1].as_fields().unwrap()[0].clone();
        let parts = gradient.as_fields().unwrap().to_vec();
        for (part, want) in parts.iter().zip(expected) {
            let have = part.as_f64().unwrap();
            assert!((have - want).abs() <= 1e-12, "{plan:?}: {have} {want}\n{module}");
        }
    }
}

#[test]
fn shadows_that_are_made_are_told_apart_from_those_that_come_in() {
    // The derivatives of 2 x[1] w[1] go through an array that is made here; x and w may be one.
    let text = "
func @f(%x: array<f64, 1>, %w: array<f64, 1>, %n: i64) -> f64 {
^1:
  %y: array<f64, 1> = mem.alloc %n
  br ^2(1)
^2(%i: i64):
  %a: f64 = mem.load %x, %i
  %b: f64 = mem.load %w, %i
  %ab: f64 = arith.mul %a, %b
  %stored: unit = mem.store %y, %ab, %i
  %next: i64 = arith.add %i, 1
  %more: bool = arith.le %next, %n
  br %more, ^2(%next), ^3
^3:
  %c: f64 = mem.load %y, 1
  %r: f64 = arith.mul 2.0, %c
  return %r
}";
    let (module, ..) = vjp(text, PlanKind::Best);
    let reverse = module.function("f.reverse").unwrap();
    // The first part of the tape is the shadow of y, the last two are those of x and w.
    assert!(reverse.to_string().contains("shadows=\"1|5,6\""), "{reverse}");
}

#[test]
fn what_is_said_of_parameters_is_not_said_of_their_shadows() {
    // x and w may be one, and so may their shadows, which are the fourth and the fifth parameter of the forward part.
    let text = "
func @f(%x: array<f64, 1>, %w: array<f64, 1>, %z: array<f64, 1>) -> f64 {distinct=3} {
^1:
  %b: f64 = mem.load %x, 1
  %c: f64 = mem.load %w, 1
  mem.store %x, 0.0, 1
  mem.store %w, 3.0, 1
  %r: f64 = arith.mul %b, %c
  return %r
}";
    let (module, ..) = vjp(text, PlanKind::Best);
    let reverse = module.function("f.reverse").unwrap();
    assert!(reverse.to_string().contains("shadows=\"3,4\""), "{reverse}");
}
