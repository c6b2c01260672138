//! Pullbacks of functions, beside derivatives by hand.

use petite_zygote::install;
use regraft::prelude::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut session = Session::new(&context());
    install(&mut session).expect("the names are free");
    let value = session.run("test.jl", text).unwrap_or_else(|errors| {
        panic!("{}", regraft::ir::render_all(&errors, false));
    });
    assert_eq!(session.show(&value), expected, "{text}");
}

#[test]
fn the_function_of_the_lecture() {
    let text = "foo(x, y) = x * y + sin(y)\nforward(foo, 1.0, 1.0)[2](1.0)";
    check(text, "(nothing, 1.0, 1.5403023058681398)");
    check("foo(x, y) = x * y + sin(y)\nforward(foo, 1.0, 1.0)[1]", "1.8414709848078965");
}

#[test]
fn calls_of_functions_of_the_program() {
    let text = "square(x) = x * x\ncube(x) = x * square(x)\nforward(cube, 3.0)[2](2.0)";
    check(text, "(nothing, 54.0)");
}

#[test]
fn an_argument_that_is_not_used_has_no_cotangent() {
    check("f(x, y) = x + x\nforward(f, 3.0, 4.0)[2](1.0)", "(nothing, 2.0, nothing)");
}

#[test]
fn what_has_no_derivative_is_an_error_that_says_why() {
    let mut session = Session::new(&context());
    install(&mut session).expect("the names are free");
    for (text, why) in [
        ("g(x) = x > 0 ? x : -x\nforward(g, 1.0)", "control flow is not supported"),
        ("h(x) = arith(x)\narith(x) = Base.neg_float(x)\nforward(h, 1.0)", "a rule is missing"),
    ] {
        let errors = session.run("test.jl", text).expect_err(why);
        let text = regraft::ir::render_all(&errors, false);
        assert!(text.contains(why) && text.contains("forward(f, args...)"), "{text}");
    }
}
