//! Derivatives of products that a library computes, against those of loops.

use super::check;

/// Products by loops, and matrices and vectors that the library multiplies.
const DEFINITIONS: &str = "
function times(a, b)
    c = zeros(size(a, 1), size(b, 2))
    for j in axes(b, 2), k in axes(a, 2), i in axes(a, 1)
        c[i, j] += a[i, k] * b[k, j]
    end
    return c
end
turned(a) = [a[j, i] for i in axes(a, 2), j in axes(a, 1)]
column(x) = [x[i] for i in eachindex(x), j in 1:1]
a = [sin(1.0i * j) for i in 1:18, j in 1:17]
b = [cos(1.0i + j) for i in 1:17, j in 1:19]
at, bt = turned(a), turned(b)
x, y = [sin(1.0i) for i in 1:17], [cos(1.0i) for i in 1:18]
weigh(c) = sum(c .* c .* [0.1i + 0.2j for i in axes(c, 1), j in axes(c, 2)])
same(p, q) = maximum(abs, p - q) < 1e-9 * (1 + maximum(abs, q))
all_same(ps, qs) = all(same(p, q) for (p, q) in zip(ps, qs))
# Gradients; derivatives along a direction; gradients of these.
grads(f, a, b) = gradient(f, a, b)
along(f, a, b) = (derivative(t -> f(a .+ t .* cos.(a), b .+ t .* sin.(b)), 0.0),)
twice(f, a, b) = gradient((a, b) -> along(f, a, b)[1], a, b)
agree(f, g, a, b) = (all_same(grads(f, a, b), grads(g, a, b)),
    all_same(along(f, a, b), along(g, a, b)), all_same(twice(f, a, b), twice(g, a, b)))
";

#[test]
fn products_of_matrices_in_all_positions() {
    let all = "(true, true, true)";
    check(
        DEFINITIONS,
        &[
            ("agree((a, b) -> weigh(a * b), (a, b) -> weigh(times(a, b)), a, b)", all),
            ("agree((a, b) -> weigh(a' * b), (a, b) -> weigh(times(turned(a), b)), at, b)", all),
            ("agree((a, b) -> weigh(a * b'), (a, b) -> weigh(times(a, turned(b))), a, bt)", all),
            (
                "agree((a, b) -> weigh(a' * b'), (a, b) -> weigh(times(turned(a), turned(b))), at, bt)",
                all,
            ),
            (
                "all_same(grads((a, b) -> weigh(a' * a + b), at, times(turned(at), at)), \
              grads((a, b) -> weigh(times(turned(a), a) + b), at, times(turned(at), at)))",
                "true",
            ),
        ],
    );
}

#[test]
fn products_with_vectors() {
    let all = "(true, true, true)";
    check(
        DEFINITIONS,
        &[
            (
                "agree((a, x) -> weigh(column(a * x)), (a, x) -> weigh(times(a, column(x))), a, x)",
                all,
            ),
            (
                "agree((a, x) -> weigh(column(a' * x)), (a, x) -> weigh(times(turned(a), column(x))), at, x)",
                all,
            ),
            (
                "agree((x, y) -> weigh(x * y'), (x, y) -> weigh(times(column(x), turned(column(y)))), x, y)",
                all,
            ),
        ],
    );
}

/// The factors of a product are kept if the program writes to them afterwards.
#[test]
fn factors_that_change_after_the_product() {
    let overwritten = "
f(a, b) = (a = copy(a); c = a * b; a .= 2 .* c[1:18, 1:17]; weigh(c) + sum(a))
g(a, b) = (c = times(a, b); weigh(c) + sum(2 .* c[1:18, 1:17]))
";
    check(
        &format!("{DEFINITIONS}{overwritten}"),
        &[("agree(f, g, a, b)", "(true, true, true)"), ("size(gradient(f, a, b)[2])", "(17, 19)")],
    );
}

/// One factor is a constant, and both are one matrix.
#[test]
fn factors_that_are_constant_or_the_same() {
    check(
        DEFINITIONS,
        &[
            (
                "same(gradient(a -> weigh(a * b), a)[1], gradient(a -> weigh(times(a, b)), a)[1])",
                "true",
            ),
            (
                "same(gradient(b -> weigh(a * b), b)[1], gradient(b -> weigh(times(a, b)), b)[1])",
                "true",
            ),
            (
                "(s = a * at; same(gradient(s -> weigh(s * s), s)[1], \
                 gradient(s -> weigh(times(s, s)), s)[1]))",
                "true",
            ),
        ],
    );
}
