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
