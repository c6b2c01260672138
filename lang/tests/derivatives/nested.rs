//! Derivatives of derivatives, in all mixes of the modes.

use super::check;

#[test]
fn second_derivatives_in_all_mixes() {
    check(
        "f(x) = x^2 * sin(x)\nd2(x) = 2 * sin(x) + 4x * cos(x) - x^2 * sin(x)\n\
         D(f) = x -> derivative(f, x)\nG(f) = x -> gradient(f, x)[1]\n",
        &[
            ("D(D(f))(1.5) ≈ d2(1.5)", "true"),
            ("D(G(f))(1.5) ≈ d2(1.5)", "true"),
            ("G(D(f))(1.5) ≈ d2(1.5)", "true"),
            ("G(G(f))(1.5) ≈ d2(1.5)", "true"),
        ],
    );
}

#[test]
fn third_derivatives() {
    check(
        "f(x) = x^5\nD(f) = x -> derivative(f, x)\nG(f) = x -> gradient(f, x)[1]\n",
        &[
            ("D(D(D(f)))(2.0)", "240.0"),
            ("D(D(G(f)))(2.0)", "240.0"),
            ("G(G(G(f)))(2.0)", "240.0"),
            ("G(D(G(f)))(2.0)", "240.0"),
        ],
    );
}

#[test]
fn gradients_of_what_uses_gradients_of_arrays() {
    check(
        "f(x) = sum(v -> v^3, x)\ng(x) = sum(abs2, gradient(f, x)[1])\n",
        // (3 v²)², 36 v³.
        &[
            ("gradient(g, [1.0, 2.0])", "([36.0, 288.0],)"),
            ("pushforward(g, [1.0, 2.0])([1.0, 0.0])", "36.0"),
        ],
    );
}

#[test]
fn reverse_mode_of_pullbacks() {
    // The first derivative by the first number is the second number, x^2.
    check(
        "any_of(x) = (r = Ref{Any}(x); r[])\n\
         product(xs) = xs[1] * xs[2]\n\
         late(xs) = product(any_of(xs))\n\
         by_pullback(f, x) = pullback(f, [x, x * x])[2](1.0)[1][1]\n\
         by_gradient(f, x) = gradient(f, [x, x * x])[1][1]\n",
        &[
            ("gradient(x -> by_pullback(product, x), 3.0)", "(6.0,)"),
            ("gradient(x -> by_pullback(late, x), 3.0)", "(6.0,)"),
            ("gradient(x -> by_gradient(product, x), 3.0)", "(6.0,)"),
            ("gradient(x -> by_gradient(late, x), 3.0)", "(6.0,)"),
            ("derivative(x -> by_pullback(late, x), 3.0)", "6.0"),
        ],
    );
}

#[test]
fn reverse_mode_of_rules_with_arrays() {
    // A rule gives an array, which is added to what has come already. total = Σ x²: by the second
    // number of [x, x²], the derivative is 2 x².
    check(
        "total(x) = sum(x .* x)\n\
         rrule(::typeof(total), x) = (total(x), dy -> (nothing, [2 * dy * v for v in x]))\n\
         any_of(x) = (r = Ref{Any}(x); r[])\n\
         late(x) = total(any_of(x))\n\
         second(f, x) = gradient(f, [x, x * x])[1][2]\n",
        &[
            ("gradient(x -> second(total, x), 3.0)", "(12.0,)"),
            ("gradient(x -> second(late, x), 3.0)", "(12.0,)"),
        ],
    );
}
