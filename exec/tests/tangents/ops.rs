//! The ops of `ad` in programs.

use regraft_exec::{Engine, ErrorKind, Interpreter, Limits, Val, show_string};

use crate::floats;

fn engine(text: &str) -> Interpreter {
    let ctx = regraft_dialects::context();
    match regraft_syntax::parse_and_verify(&ctx, "test.ir", text) {
        Ok(module) => Interpreter::new(&module),
        Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
    }
}

/// Checks the result of `@f` of a program, or its error.
#[track_caller]
fn check(text: &str, args: &[Val], expected: &str) {
    let mut engine = engine(text);
    let found = match engine.call("f", args) {
        Ok(value) => show_string(engine.ctx(), &value),
        Err(error) => error.message(),
    };
    assert_eq!(found, expected, "{text}");
}

const TYPED: &str = "
func @f(%x: tuple<i64, f64, array<f64, 1>>, %c: tuple<unit, f64, unit>) -> any {
^1:
  %t: tuple<unit, f64, array<f64, 1>> = ad.zero %x
  %s: tuple<unit, unit, array<f64, 1>> = ad.shadow %t
  %k: tuple<unit, f64, unit> = ad.cotangent %t
  %sum: tuple<unit, f64, unit> = ad.add %k, %c
  %twice: tuple<unit, f64, unit> = ad.add %sum, %c
  %j: tuple<unit, f64, array<f64, 1>> = ad.join %s, %twice
  ad.accumulate %s, %x2
  %copy: tuple<unit, f64, array<f64, 1>> = ad.copy %j
  ad.clear %s
  %r = core.tuple %j, %copy
  return %r
}
";

#[test]
fn ops_on_values_of_known_types() {
    let text = TYPED.replace(
        "  ad.accumulate %s, %x2\n",
        "  %a: array<f64, 1> = core.get %x, 3\n  \
         %x2: tuple<unit, unit, array<f64, 1>> = core.tuple nothing, nothing, %a\n  \
         ad.accumulate %s, %x2\n",
    );
    let x = Val::tuple([Val::I64(1), Val::F64(2.0), floats(&[3.0, 4.0])]);
    let c = Val::tuple([Val::Unit, Val::F64(0.5), Val::Unit]);
    // The tangent that was joined has the shadow that was cleared; the copy has one of its own.
    check(&text, &[x, c], "((nothing, 1.0, [0.0, 0.0]), (nothing, 1.0, [3.0, 4.0]))");
}

#[test]
fn ops_on_values_of_unknown_types() {
    let text = "
func @f(%x, %c) -> any {
^1:
  %t = ad.zero %x
  %s = ad.shadow %t
  %k = ad.cotangent %t
  %sum = ad.add %k, %c
  %j = ad.join %s, %sum
  ad.accumulate %s, %x
  %copy = ad.copy %j
  ad.clear %s
  %r = core.tuple %j, %copy
  return %r
}
";
    let tuple = Val::tuple([Val::Unit, Val::F64(2.0), floats(&[3.0, 4.0])]);
    let c = Val::tuple([Val::Unit, Val::F64(0.5), Val::Unit]);
    let expected = "((nothing, 0.5, [0.0, 0.0]), (nothing, 0.5, [3.0, 4.0]))";
    check(text, &[tuple.clone(), c], expected);
    // No cotangent at all: the zeros of the tangent stay.
    let expected = "((nothing, 0.0, [0.0, 0.0]), (nothing, 0.0, [3.0, 4.0]))";
    check(text, &[tuple, Val::Unit], expected);
    check(text, &[floats(&[1.0]), Val::Unit], "([0.0], [1.0])");
    check(text, &[Val::F64(1.0), Val::F64(3.0)], "(3.0, 3.0)");
    check(text, &[Val::Unit, Val::Unit], "(nothing, nothing)");
}

#[test]
fn a_cotangent_that_is_nothing_is_the_zero_of_its_type() {
    let unbox = |ty: &str, value: Val, expected: &str| {
        let text =
            format!("func @f(%x) -> {ty} {{\n^1:\n  %y: {ty} = ad.unbox %x\n  return %y\n}}");
        check(&text, &[value], expected);
    };
    unbox("f64", Val::Unit, "0.0");
    unbox("f64", Val::F64(1.0), "1.0");
    unbox("f32", Val::Unit, "0.0f0");
    unbox("tuple<f64, tuple<unit, f64>>", Val::Unit, "(0.0, (nothing, 0.0))");
    unbox("f64", Val::I64(1), "TypeError: expected a tangent of type f64, found i64");
    let join = "
func @f(%s: tuple<unit, array<f64, 1>>, %c) -> tuple<f64, array<f64, 1>> {
^1:
  %t: tuple<f64, array<f64, 1>> = ad.join %s, %c
  return %t
}";
    check(join, &[Val::tuple([Val::Unit, floats(&[1.0])]), Val::Unit], "(0.0, [1.0])");
    let add = "func @f(%x, %y) -> f64 {\n^1:\n  %z: f64 = ad.add %x, %y\n  return %z\n}";
    check(add, &[Val::Unit, Val::Unit], "0.0");
    check(add, &[Val::Unit, Val::F64(2.0)], "2.0");
}

#[test]
fn what_is_ignored_is_the_value_itself() {
    let ignore = |ty: &str, value: Val, expected: &str| {
        let text = format!(
            "func @f(%x: {ty}) -> {ty} {{\n^1:\n  %y: {ty} = ad.ignore %x\n  return %y\n}}"
        );
        check(&text, &[value], expected);
    };
    ignore("f64", Val::F64(1.5), "1.5");
    ignore("any", Val::str("a"), "\"a\"");
    ignore("array<f64, 1>", floats(&[1.0]), "[1.0]");
    let same = "
func @f(%x: array<f64, 1>) -> bool {
^1:
  %y: array<f64, 1> = ad.ignore %x
  %z: bool = core.same %x, %y
  return %z
}";
    check(same, &[floats(&[1.0])], "true");
}

const GLOBAL: &str = "
func @f(%x: array<f64, 1>, %t) -> tuple<array<f64, 1>, bool> {
^1:
  %s: array<f64, 1> = ad.global_shadow %x, 1
  ad.accumulate %s, %x
  %p = core.tuple %x, %t
  %q = ad.global_shadow %p, 1
  %first = data.getfield %q, 1
  %r: array<f64, 1> = core.typeassert %first
  %same: bool = core.same %r, %s
  %y: tuple<array<f64, 1>, bool> = core.tuple %r, %same
  return %y
}
func @g(%x: array<f64, 1>, %t) -> tuple<array<f64, 1>, bool> {
^1:
  %s: array<f64, 1> = ad.global_shadow %x, 1
  ad.accumulate %s, %x
  %y: tuple<array<f64, 1>, bool> = call @f(%x, %t)
  return %y
}
";

#[test]
fn an_object_of_a_global_has_one_shadow_until_the_run_ends() {
    let mut engine = engine(GLOBAL);
    let (x, other) = (floats(&[1.0, 2.0]), floats(&[5.0]));
    for (function, expected) in [
        ("f", "([1.0, 2.0], true)"),
        ("f", "([1.0, 2.0], true)"),
        ("g", "([2.0, 4.0], true)"),
        ("f", "([1.0, 2.0], true)"),
    ] {
        let found = engine.call(function, &[x.clone(), other.clone()]).expect("it runs");
        assert_eq!(show_string(engine.ctx(), &found), expected);
    }
}

#[test]
fn what_an_op_is_given_that_is_no_tangent_is_an_error() {
    let shadow = "func @f(%x) -> any {\n^1:\n  %y = ad.shadow %x\n  return %y\n}";
    check(shadow, &[Val::I64(1)], "TypeError: a value of type i64 is not a tangent");
    let accumulate = "
func @f(%x: array<f64, 1>, %y: array<f64, 1>) -> unit {
^1:
  ad.accumulate %x, %y
  return nothing
}";
    let message = "DimensionMismatch: dimensions must match: found (1,) and (2,)";
    check(accumulate, &[floats(&[1.0]), floats(&[1.0, 2.0])], message);
}

#[test]
fn tangents_and_copies_keep_the_memory_limit() {
    for (op, more) in [("ad.zero", ""), ("ad.copy", ""), ("ad.global_shadow", ", 1")] {
        for array in [floats(&[1.0; 100_000]), Val::tuple(vec![Val::F64(1.0); 50_000])] {
            let text = format!("func @f(%x) -> any {{\n^1:\n  %y = {op} %x{more}\n  return %y\n}}");
            let mut engine = engine(&text);
            engine.set_limits(Limits { memory: 500_000, ..Limits::default() });
            let error =
                engine.call("f", std::slice::from_ref(&array)).expect_err("there is no room");
            assert_eq!(error.kind(), &ErrorKind::Memory, "{op}");
            engine.set_limits(Limits { memory: 4_000_000, ..Limits::default() });
            engine.call("f", &[array]).expect("there is room");
        }
    }
}
