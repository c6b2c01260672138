//! Programs without jumps.

use super::check;

#[test]
fn constants_have_no_derivative() {
    check(
        "c(x) = cos(5.0)\ni(x) = x\nn(x, k) = k + 1\nunused(x, y) = (z = sin(x); y)\n",
        &[
            ("gradient(c, 1.0)", "(0.0,)"),
            ("derivative(c, 1.0)", "0.0"),
            ("gradient(i, 4.0)", "(1.0,)"),
            ("gradient(n, 1.0, 2)", "(0.0, nothing)"),
            ("gradient(unused, 1.0, 2.0)", "(0.0, 1.0)"),
        ],
    );
}

#[test]
fn a_variable_that_is_a_constant_on_one_way() {
    check(
        "f(flag, y) = (z = flag ? y : 1.0; z * y)\n",
        &[
            ("gradient(f, true, 3.0)", "(nothing, 6.0)"),
            ("gradient(f, false, 3.0)", "(nothing, 1.0)"),
        ],
    );
}

#[test]
fn a_function_that_is_chosen_when_it_runs() {
    check(
        "f(x, y) = (g = x > 0 ? cos : sin; g(y) * g(y))\n",
        &[
            // 2 cos(1) * -sin(1), 2 sin(1) cos(1)
            ("gradient(f, 1.0, 1.0)[2]", "-0.9092974268256817"),
            ("gradient(f, -1.0, 1.0)[2]", "0.9092974268256817"),
            ("derivative(y -> f(1.0, y), 1.0)", "-0.9092974268256817"),
        ],
    );
}

#[test]
fn elementary_functions() {
    check(
        "f(x, y) = exp(sin(x)) / (1 + y^2) - sqrt(x * y) + log(x + y)\n",
        &[
            // At (1, 1): e^sin(1) cos(1) / 2 - 1/2 + 1/2, -e^sin(1) / 2 - 1/2 + 1/2.
            ("gradient(f, 1.0, 1.0)", "(0.6266903837467235, -1.1598884123579265)"),
            ("derivative(x -> f(x, 1.0), 1.0)", "0.6266903837467235"),
            ("derivative(y -> f(1.0, y), 1.0)", "-1.1598884123579265"),
        ],
    );
}
