use regraft::exec::{Engine, Interpreter, Val};
use regraft::prelude::*;

use super::front_end::compile;

const GCD: &str = include_str!("../gcd.tiny");

/// Returns the result of a function of a program for integers.
fn call(text: &str, name: &str, args: &[i64]) -> i64 {
    let module = compile(&context(), "test.tiny", text).unwrap();
    verify_module(&module).unwrap();
    let args: Vec<Val> = args.iter().copied().map(Val::I64).collect();
    match Interpreter::new(&module).call(name, &args).unwrap() {
        Val::I64(x) => x,
        other => panic!("{other:?} is no integer"),
    }
}

#[test]
fn programs_compute_what_they_say() {
    assert_eq!(call(GCD, "gcd", &[12, 18]), 6);
    assert_eq!(call(GCD, "coprime_below", &[36]), 12);
    let text = "fn f(n) { s = 0 i = 0 while i < n { if i % 2 == 0 { s = s + i } else { s = s - 1 } \
                i = i + 1 } return s * 10 return 0 }";
    assert_eq!(call(text, "f", &[5]), 40);
}

#[test]
fn a_loop_has_the_parameters_that_it_needs() {
    let module = compile(&context(), "gcd.tiny", GCD).unwrap();
    let text = module.function("gcd").unwrap().to_string();
    assert!(text.contains("br ^2(%b, %a)\n^2(%b.1: i64, %a.1: i64):"), "{text}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, message, line) in [
        ("fn f(a) {\n  return b\n}", "reads the variable `b`, which is not assigned before", 2),
        (
            "fn f(a) {\n  if a < 1 { b = 1 }\n  return b\n}",
            "needs the variable `b`, which is not assigned on every way there",
            4,
        ),
        ("fn f(a) {\n  b = a < 1\n}", "cannot be given to the variable `b` of type i64", 2),
        ("fn f(a) {\n  return (a < 1) + 1\n}", "arith.add", 2),
        ("fn f(a) {\n  a = )\n}", "expected a name, found `)`", 2),
    ] {
        let error = compile(&context(), "bad.tiny", text).unwrap_err();
        assert!(error.message().contains(message), "{error}");
        assert!(
            error.render(false).contains(&format!("bad.tiny:{line}:")),
            "{}",
            error.render(false)
        );
    }
}
