//! Errors of programs that have no derivative, with their places.

use super::{check, session, shown};

#[test]
fn gradients_are_those_of_real_numbers() {
    check(
        "f(x) = [x, x]\n",
        &[
            ("gradient(f, 1.0)", "error: a gradient is that of a real number"),
            ("gradient(x -> (x, x), 1.0)", "error: a gradient is that of a real number"),
            ("gradient(x -> Ref{Any}([x])[], 1.0)", "error: a gradient is that of a real number"),
        ],
    );
}

#[test]
fn a_call_that_no_method_is_for_is_told() {
    check("f(x::Int) = x\n", &[("gradient(f, 1.0)", "error: no method matching f(::Float64)")]);
}

#[test]
fn the_call_is_shown() {
    let mut session = session("f(x) = [x, x]\ng(x) = gradient(f, x)\n");
    let text = shown(&mut session, "g(1.0)");
    assert!(text.contains("g(x) = gradient(f, x)"), "{text}");
}

#[test]
fn a_global_variable_that_is_assigned_is_refused() {
    check(
        "state = 0.0\nf(x) = (global state = x * x; state * 2)\n",
        &[("gradient(f, 3.0)", "error: a global variable that is set")],
    );
}
