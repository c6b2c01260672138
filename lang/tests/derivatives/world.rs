//! Derivatives in a world that changes, and as functions of modules.

use super::{check_in, session};

#[test]
fn derivatives_follow_redefinitions() {
    let mut session = session("g(x) = 2x\nf(x) = g(x) * x\nother(x) = 5x\n");
    check_in(
        &mut session,
        &[
            ("gradient(f, 3.0)", "(12.0,)"),
            ("gradient(other, 3.0)", "(5.0,)"),
            ("g(x) = 3x; gradient(f, 3.0)", "(18.0,)"),
            ("derivative(f, 3.0)", "18.0"),
            ("g(x::Float64) = x * x; gradient(f, 3.0)", "(27.0,)"),
            ("f(x) = -x; gradient(f, 3.0)", "(-1.0,)"),
            ("gradient(other, 3.0)", "(5.0,)"),
        ],
    );
}

#[test]
fn calls_of_derivatives_are_direct() {
    let mut session = session("f(x) = x * x\ng(x) = gradient(f, x)[1] + 1\n");
    let module = session.typed("g(1.0)").expect("it is typed");
    let text = module.to_string();
    assert!(text.contains("f(Float64).gradient"), "{text}");
    assert!(!text.contains("core.apply"), "{text}");
    let main = module.functions().next().expect("there is a function");
    assert_eq!(session.ctx().type_text(main.ret_type()), "f64");
}

#[test]
fn what_did_not_change_is_not_made_again() {
    let mut session = session("f(x) = x * x\ng(x) = x\n");
    check_in(&mut session, &[("gradient(f, 3.0)", "(6.0,)")]);
    let before = session.typed("gradient(f, 3.0)").expect("it is typed").to_string();
    check_in(&mut session, &[("g(x) = 2x; g(1.0)", "2.0")]);
    let after = session.typed("gradient(f, 3.0)").expect("it is typed").to_string();
    assert_eq!(before, after);
}

#[test]
fn a_function_that_calls_its_own_derivative() {
    let mut session = session("f(x) = x < 1 ? x * x : gradient(f, x - 1)[1] * x\n");
    // f'(x) below 1 is 2x; f(x) = 2 (x - 1) x on [1, 2), so that f' = 4x - 2. On [2, 3) f(x) is
    // (4 (x - 1) - 2) x = 4x^2 - 6x, so that f' = 8x - 6.
    check_in(
        &mut session,
        &[
            ("f(1.5)", "1.5"),
            ("gradient(f, 0.5)", "(1.0,)"),
            ("gradient(f, 1.5)", "(4.0,)"),
            ("f(2.5)", "10.0"),
            ("gradient(f, 2.5)", "(14.0,)"),
            ("derivative(f, 1.5)", "4.0"),
        ],
    );
}

#[test]
fn a_function_that_calls_derivatives_of_itself_to_a_given_depth() {
    // f(x, 0) is x^2 and f(x, n) is x times the derivative of f(x, n - 1): 2^n x^2.
    let reverse = "f(x, n) = n == 0 ? x^2 : gradient(y -> f(y, n - 1), x)[1] * x\n";
    let forward = "g(x, n) = n == 0 ? x^2 : derivative(y -> g(y, n - 1), x) * x\n";
    let mut session = session(&format!("{reverse}{forward}"));
    check_in(
        &mut session,
        &[
            ("[f(3.0, n) for n in 0:2]", "[9.0, 18.0, 36.0]"),
            ("[g(3.0, n) for n in 0:3]", "[9.0, 18.0, 36.0, 72.0]"),
            ("gradient(f, 3.0, 1)", "(12.0, nothing)"),
            ("derivative(x -> g(x, 2), 3.0)", "24.0"),
            ("gradient(g, 3.0, 1)", "(12.0, nothing)"),
        ],
    );
}
