//! Perturbation confusion: derivatives within derivatives must not be mixed up.

use super::check;

#[test]
fn an_inner_derivative_sees_no_outer_one() {
    check(
        "D(f, x) = derivative(f, x)\nG(f, x) = gradient(f, x)[1]\n",
        &[
            ("D(x -> x * D(y -> x + y, 1.0), 1.0)", "1.0"),
            ("G(x -> x * G(y -> x + y, 1.0), 1.0)", "1.0"),
            ("D(x -> x * G(y -> x + y, 1.0), 1.0)", "1.0"),
            ("G(x -> x * D(y -> x + y, 1.0), 1.0)", "1.0"),
            ("D(x -> x * D(y -> x * y, 2.0), 3.0)", "6.0"),
            ("G(x -> x * D(y -> x * y, 2.0), 3.0)", "6.0"),
        ],
    );
}

#[test]
fn a_captured_variable_that_changes_in_the_inner_one() {
    check(
        "function outer(x)\n    derivative(function (y)\n        x = x * y\n        return x\n    end, 1.0) + x\nend\n",
        // x * 1 for the inner derivative, x * 1 left in x: 2x.
        &[("derivative(outer, 5.0)", "2.0"), ("gradient(outer, 5.0)", "(2.0,)")],
    );
}

#[test]
fn a_boxed_variable_in_a_loop() {
    check(
        "function f(x)\n    for i in 1:3\n        g = () -> (x *= i)\n        g()\n    end\n    x\nend\n\
         function m(x)\n    map(i -> (x *= i), 1:3)\n    x\nend\n",
        &[
            ("derivative(f, 2.0)", "6.0"),
            ("gradient(f, 2.0)", "(6.0,)"),
            ("derivative(m, 2.0)", "6.0"),
            ("gradient(m, 2.0)", "(6.0,)"),
        ],
    );
}
