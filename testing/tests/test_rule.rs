//! Derivatives written by hand, right and wrong: what `check_derivatives` says of them.

use regraft_exec::Val;
use regraft_ir::{Module, Type, render_all};
use regraft_syntax::parse_module;
use regraft_testing::{
    Derivatives, RuleArgs, RuleFailure, RuleOptions, RuleProblem, RuleReport, Sweeps,
    check_derivatives, test_rule,
};

fn module(text: &str) -> Module {
    parse_module(&regraft_dialects::context(), "derivatives.ir", text.trim_start())
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)))
}

fn check(text: &str) -> Result<RuleReport, Box<RuleFailure>> {
    let module = module(text);
    let f = module.function("f").unwrap();
    let has = |name: &str| module.function(name).is_some();
    let derivatives = Derivatives {
        active: vec![true; f.param_types().len()],
        forward: if has("f.jvp") { vec![("f.jvp".to_owned(), 1)] } else { Vec::new() },
        reverse: if has("f.forward") {
            vec![Sweeps {
                reordered: false,
                label: "by hand".to_owned(),
                forward: "f.forward".to_owned(),
                reverse: "f.reverse".to_owned(),
                vjp: has("f.vjp").then(|| "f.vjp".to_owned()),
            }]
        } else {
            Vec::new()
        },
    };
    let args = RuleArgs::Types(f.param_types());
    check_derivatives(&module, &module, "f", &derivatives, &args, &RuleOptions::default())
}

/// `x * y`, whose derivatives are these.
fn product(tangent: &str, of_x: &str, of_y: &str) -> String {
    format!(
        "
func @f(%1: f64, %2: f64) -> f64 {{
^1:
  %3: f64 = arith.mul %1, %2
  return %3
}}
func @f.jvp(%1: f64, %2: f64, %3: f64, %4: f64) -> tuple<f64, f64> {{
^1:
  %5: f64 = arith.mul %1, %2
  %6: f64 = arith.mul %3, %2
  %7: f64 = arith.mul %4, {tangent}
  %8: f64 = arith.add %6, %7
  %9: tuple<f64, f64> = core.tuple %5, %8
  return %9
}}
func @f.forward(%1: f64, %2: f64) -> tuple<f64, unit, tuple<f64, f64>> {{
^1:
  %3: f64 = arith.mul %1, %2
  %4: tuple<f64, f64> = core.tuple %1, %2
  %5: tuple<f64, unit, tuple<f64, f64>> = core.tuple %3, nothing, %4
  return %5
}}
func @f.reverse(%1: tuple<f64, f64>, %2: f64) -> tuple<f64, f64> {{
^1:
  %3: f64 = core.get %1, 1
  %4: f64 = core.get %1, 2
  %5: f64 = arith.mul %2, {of_x}
  %6: f64 = arith.mul %2, {of_y}
  %7: tuple<f64, f64> = core.tuple %5, %6
  return %7
}}
"
    )
}

#[test]
fn right_derivatives_agree() {
    let report = check(&product("%1", "%4", "%3")).unwrap();
    assert_eq!((report.agreed, report.floats), (4, 4));
}

#[test]
fn a_wrong_tangent_is_told_with_both_numbers() {
    let failure = check(&product("%2", "%4", "%3")).unwrap_err();
    assert_eq!(failure.problem, RuleProblem::Forward);
    assert!(failure.message.contains("the tangent of the result is"), "{failure}");
    assert!(failure.message.contains("by differences it is"), "{failure}");
}

#[test]
fn the_argument_whose_cotangent_is_wrong_is_named() {
    let failure = check(&product("%1", "%4", "%4")).unwrap_err();
    assert_eq!(failure.problem, RuleProblem::Reverse);
    assert!(failure.message.contains("the cotangent of argument 2 is"), "{failure}");
    assert!(!failure.message.contains("the cotangent of argument 1 is"), "{failure}");
    // Without forward mode, differences tell the same.
    let text = product("%1", "%4", "%4").replace("f.jvp", "unrelated");
    let failure = check(&text).unwrap_err();
    assert!(failure.message.contains("the cotangent of argument 2 is"), "{failure}");
    assert!(!failure.message.contains("the cotangent of argument 1 is"), "{failure}");
}

#[test]
fn a_derivative_that_computes_something_else_is_told() {
    let text = product("%1", "%4", "%3").replacen(
        "%5: f64 = arith.mul %1, %2",
        "%5: f64 = arith.add %1, %2",
        1,
    );
    assert_eq!(check(&text).unwrap_err().problem, RuleProblem::Primal);
}

/// `a[1] = x * a[1]; a`, with this as the last step of the reverse sweep.
fn store(last: &str) -> String {
    format!(
        "
func @f(%1: f64, %2: array<f64, 1>) -> array<f64, 1> {{
^1:
  %3: f64 = mem.load %2, 1
  %4: f64 = arith.mul %1, %3
  %5: unit = mem.store %2, %4, 1
  return %2
}}
func @f.forward(%1: f64, %2: array<f64, 1>, %3: array<f64, 1>) -> tuple<array<f64, 1>, array<f64, 1>, tuple<f64, f64, array<f64, 1>>> {{
^1:
  %4: f64 = mem.load %2, 1
  %5: f64 = arith.mul %1, %4
  %6: unit = mem.store %2, %5, 1
  %7: tuple<f64, f64, array<f64, 1>> = core.tuple %1, %4, %3
  %8: tuple<array<f64, 1>, array<f64, 1>, tuple<f64, f64, array<f64, 1>>> = core.tuple %2, %3, %7
  return %8
}}
func @f.reverse(%1: tuple<f64, f64, array<f64, 1>>, %2: unit) -> tuple<f64, unit> {{
^1:
  %3: f64 = core.get %1, 1
  %4: f64 = core.get %1, 2
  %5: array<f64, 1> = core.get %1, 3
  %6: f64 = mem.load %5, 1
  %7: f64 = arith.mul %6, %4
  %8: f64 = arith.mul %6, %3
  %9: f64 = arith.add %6, %8
  %10: unit = mem.store %5, {last}, 1
  %11: tuple<f64, unit> = core.tuple %7, nothing
  return %11
}}
"
    )
}

#[test]
fn what_a_function_stores_is_part_of_its_state() {
    let report = check(&store("%8")).unwrap();
    assert_eq!(report.agreed, 4);
    // The cotangent of what was overwritten has to go.
    let failure = check(&store("%9")).unwrap_err();
    assert_eq!(failure.problem, RuleProblem::Reverse);
    assert!(failure.message.contains("the cotangent of argument 2[1] is"), "{failure}");
    assert!(!failure.message.contains("argument 2[2]"), "{failure}");
}

#[test]
fn an_object_that_is_returned_keeps_its_shadow() {
    // A shadow of its own for the result, although it is the argument.
    let text = store("%8").replace(
        "= core.tuple %2, %3, %7",
        "= core.tuple %2, %6, %7",
    ).replace("  %7: tuple<f64, f64, array<f64, 1>> = core.tuple %1, %4, %3", "  %6: array<f64, 1> = mem.copy %3\n  %7: tuple<f64, f64, array<f64, 1>> = core.tuple %1, %4, %3").replacen("%6: unit = mem.store %2, %5, 1", "mem.store %2, %5, 1", 1);
    let failure = check(&text).unwrap_err();
    assert_eq!(failure.problem, RuleProblem::Shadow, "{failure}");
    assert!(failure.message.contains("one object has two shadows: argument 2"), "{failure}");
}

#[test]
fn kinks_are_counted_and_are_no_failures() {
    let module = module(
        "
func @f(%1: f64) -> f64 {
^1:
  %2: f64 = arith.abs %1
  return %2
}
func @f.jvp(%1: f64, %2: f64) -> tuple<f64, f64> {
^1:
  %3: f64 = arith.abs %1
  %4: tuple<f64, f64> = core.tuple %3, %2
  return %4
}
",
    );
    let derivatives = Derivatives {
        active: vec![true],
        forward: vec![("f.jvp".to_owned(), 1)],
        reverse: Vec::new(),
    };
    let at = |x: f64| {
        let args = RuleArgs::Values(vec![x.into()]);
        check_derivatives(&module, &module, "f", &derivatives, &args, &RuleOptions::default())
    };
    assert_eq!(at(0.0).unwrap().kinks, 1);
    assert_eq!(at(1e-4).unwrap().agreed, 1);
    assert_eq!(at(-1e-4).unwrap_err().problem, RuleProblem::Forward);
}

#[test]
fn what_is_declared_to_have_no_derivative_is_told_from_a_bug() {
    let text = "func @f(%x: f64) -> f64 {\n^1:\n  %1: f64 = arith.bitcast %x\n  return %1\n}";
    let options = RuleOptions::default();
    for reverse_only in [false, true] {
        let widths = if reverse_only { Vec::new() } else { vec![1] };
        let options = RuleOptions { widths, ..options.clone() };
        let args = RuleArgs::Types(vec![Type::F64]);
        let failure = test_rule(&module(text), "f", &args, &options).unwrap_err();
        assert!(failure.is_declared() && !failure.is_untyped(), "{failure}");
        assert!(failure.message.contains("`arith.bitcast` has no derivative"), "{failure}");
    }
}

#[test]
fn what_overflows_on_the_way_says_nothing() {
    // exp(exp(exp(x))) is infinite; what is returned does not depend on it. But zero times infinity is
    // no number, and that is what reverse mode has to multiply where it undoes a product.
    let program = |last: &str| {
        format!(
            "func @f(%x: f64) -> f64 {{\n^1:\n  %1: f64 = math.exp %x\n  %2: f64 = math.exp %1\n  \
             %3: f64 = math.exp %2\n  %4: f64 = arith.mul %3, %3\n  %a: array<f64, 1> = mem.array {last}\n  \
             %5: f64 = math.sin %x\n  return %5\n}}"
        )
    };
    let run = |text: &str| {
        let args = RuleArgs::Values(vec![Val::F64(2.0)]);
        test_rule(&module(text), "f", &args, &RuleOptions::default())
    };
    let report = run(&program("%4")).unwrap();
    assert_eq!((report.agreed, report.inconclusive), (0, 1), "{report}");
    let report = run(&program("%1")).unwrap();
    assert_eq!((report.agreed, report.inconclusive), (1, 0), "{report}");
    // What is no number without any overflow is wrong.
    let wrong = "\
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = math.sin %x
  return %1
}
func @f.jvp(%x: f64, %t: f64) -> tuple<f64, f64> {
^1:
  %1: f64 = math.sin %x
  %2: f64 = math.cos %x
  %3: f64 = arith.mul %2, %t
  %4: tuple<f64, f64> = core.tuple %1, %3
  return %4
}
func @f.forward(%x: f64) -> tuple<f64, unit, f64> {
^1:
  %1: f64 = math.sin %x
  %2: tuple<f64, unit, f64> = core.tuple %1, nothing, %x
  return %2
}
func @f.reverse(%x: f64, %r: f64) -> tuple<f64> {
^1:
  %1: f64 = arith.mul %r, nan
  %2: tuple<f64> = core.tuple %1
  return %2
}";
    assert_eq!(check(wrong).unwrap_err().problem, RuleProblem::Reverse);
}

#[test]
fn what_two_large_cotangents_swallow_says_nothing() {
    // The cotangent of the array's element is `d - d + 3`, where the reverse sweep adds 3 to one of the large terms first.
    let program = |factor: &str| {
        format!(
            "func @f(%a: array<f64, 1>) -> f64 {{\n^1:\n  %1: f64 = mem.load %a, 1\n  %2: f64 = mem.load %a, 1\n  \
             %3: f64 = arith.sub %1, %2\n  %4: f64 = arith.mul %3, {factor}\n  %5: f64 = arith.mul %2, 3.0\n  \
             %6: f64 = arith.add %4, %5\n  return %6\n}}"
        )
    };
    let run = |factor: &str| {
        let module = module(&program(factor));
        let args = RuleArgs::Types(vec![module.ctx().array_type(Type::F64, 1)]);
        test_rule(&module, "f", &args, &RuleOptions::default())
    };
    let (small, large) = (run("1.0").unwrap(), run("1e30").unwrap());
    assert_eq!((small.inconclusive, small.trapped + small.agreed), (0, 4), "{small}");
    assert_eq!((large.agreed, large.inconclusive), (0, small.agreed), "{large}");
}
