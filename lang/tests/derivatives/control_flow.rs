//! Branches, loops, recursion.

use super::check;

#[test]
fn a_loop_that_goes_round_a_few_times() {
    check(
        "function f(x)\n    i = 0\n    while i < 3\n        x = cos(x)\n        i += 1\n    end\n    x\nend\n",
        // -sin(cos(cos(x))) sin(cos(x)) sin(x) with signs: three factors -sin.
        &[
            ("gradient(f, 0.5)[1] ≈ -sin(cos(cos(0.5))) * sin(cos(0.5)) * sin(0.5)", "true"),
            ("derivative(f, 0.5) ≈ -sin(cos(cos(0.5))) * sin(cos(0.5)) * sin(0.5)", "true"),
        ],
    );
}

#[test]
fn a_loop_that_goes_round_often() {
    check(
        "f(x) = (for i in 1:500 x = sin(x) end; x)\n\
         function product(x)\n    d = 1.0\n    for i in 1:500\n        d *= cos(x)\n        x = sin(x)\n    end\n    d\nend\n",
        &[
            ("gradient(f, 1.0)[1] ≈ product(1.0)", "true"),
            ("derivative(f, 1.0) ≈ product(1.0)", "true"),
        ],
    );
}

#[test]
fn a_loop_that_ends_long_before_its_limit_keeps_what_it_ran() {
    check(
        "function f(x, n)\n    for i in 1:n\n        x = x * x\n        x < 0.1 && break\n    end\n    x\nend\n",
        &[
            ("gradient(f, 0.9, 10^12)[1] ≈ 32 * 0.9^31", "true"),
            ("gradient(f, 0.9, 2)[1] ≈ 4 * 0.9^3", "true"),
            ("gradient(f, 0.9, 0)", "(1.0, nothing)"),
        ],
    );
}

#[test]
fn loops_within_each_other_that_are_left_early_keep_what_they_ran() {
    check(
        "function f(x)\n    for i in 1:1000, j in 1:1000, k in 1:1000\n        x = x * x\n        x < 0.1 && return x\n    \
         end\n    x\nend\n\
         function g(x)\n    for i in 1:1000\n        for j in 1:1000\n            x = x * x\n            j == 2 && break\n        \
         end\n        i == 2 && break\n    end\n    x\nend\n",
        &[
            ("gradient(f, 0.9)[1] ≈ 32 * 0.9^31", "true"),
            ("gradient(g, 0.9)[1] ≈ 16 * 0.9^15", "true"),
        ],
    );
}

#[test]
fn values_that_change_places_in_each_round() {
    check(
        "function f(a, b, n)\n    for i in 1:n\n        a, b = b, 2a\n    end\n    a + 10b\nend\n",
        &[
            ("gradient(f, 1.0, 1.0, 1)", "(20.0, 1.0, nothing)"),
            ("gradient(f, 1.0, 1.0, 2)", "(2.0, 20.0, nothing)"),
            ("gradient(f, 1.0, 1.0, 3)", "(40.0, 2.0, nothing)"),
            ("gradient(f, 1.0, 1.0, 0)", "(1.0, 10.0, nothing)"),
        ],
    );
}

#[test]
fn recursion() {
    check(
        "f(a, b) = a < b ? a * b : f(b, a) + a\n\
         total(x) = length(x) == 0 ? 0.0 : x[1] * x[1] + total(x[2:end])\n\
         power(x, n) = n == 0 ? one(x) : x * power(x, n - 1)\n\
         even(x, n) = n == 0 ? x : odd(2x, n - 1)\nodd(x, n) = n == 0 ? -x : even(x * x, n - 1)\n",
        &[
            ("gradient(f, 2.0, 3.0)", "(3.0, 2.0)"),
            ("gradient(f, 3.0, 2.0)", "(3.0, 3.0)"),
            ("gradient(total, [1.0, 2.0, 3.0])", "([2.0, 4.0, 6.0],)"),
            ("gradient(power, 2.0, 10)", "(5120.0, nothing)"),
            ("derivative(x -> power(x, 10), 2.0)", "5120.0"),
            ("gradient(even, 3.0, 2)", "(24.0, nothing)"),
            ("gradient(even, 3.0, 3)", "(-48.0, nothing)"),
        ],
    );
}

#[test]
fn a_way_that_depends_on_the_round() {
    check(
        "function f(x, n)\n    for i in 1:n\n        x = i % 2 == 0 ? sin(x) : cos(x)\n    end\n    x\nend\n\
         function d(x, n)\n    p = 1.0\n    for i in 1:n\n        p *= i % 2 == 0 ? cos(x) : -sin(x)\n        x = i % 2 == 0 ? sin(x) : cos(x)\n    end\n    p\nend\n",
        &[
            ("gradient(f, 1.0, 9)[1] ≈ d(1.0, 9)", "true"),
            ("abs(gradient(f, 1.0, 10000)[1] - d(1.0, 10000)) < 1e-12", "true"),
        ],
    );
}

#[test]
fn how_often_a_loop_goes_round_may_differ_from_call_to_call() {
    check(
        "function f(x)\n    n = 0\n    while x < 10.0\n        x = x * x\n        n += 1\n    end\n    x\nend\n",
        &[
            ("gradient(f, 20.0)", "(1.0,)"),
            ("gradient(f, 2.0)", "(32.0,)"),
            ("gradient(f, 5.0)", "(10.0,)"),
            ("gradient(f, 2.0)", "(32.0,)"),
            ("derivative(f, 1.5)", "136.6875"),
        ],
    );
}

#[test]
fn a_sum_that_starts_from_an_integer() {
    check(
        "f(x) = (s = 0; for v in x s += v * v end; s)\n",
        &[("gradient(f, [1.0, 2.0])", "([2.0, 4.0],)"), ("gradient(f, Float64[])", "(Float64[],)")],
    );
}

#[test]
fn break_and_continue_and_early_return() {
    check(
        "function f(x)\n    s = 0.0\n    for i in 1:length(x)\n        if x[i] < 0\n            continue\n        end\n        if x[i] > 100\n            break\n        end\n        s += x[i]^2\n    end\n    s\nend\n\
         function g(x)\n    for v in x\n        if v > 2\n            return v * v\n        end\n    end\n    return x[1]\nend\n",
        &[
            ("gradient(f, [1.0, -2.0, 3.0, 200.0, 5.0])", "([2.0, 0.0, 6.0, 0.0, 0.0],)"),
            ("gradient(g, [1.0, 3.0, 4.0])", "([0.0, 6.0, 0.0],)"),
            ("gradient(g, [1.0, 2.0])", "([1.0, 0.0],)"),
        ],
    );
}
