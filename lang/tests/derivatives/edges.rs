//! Singular points, and arguments at the edges of what floats can be: one convention in both modes.
//! The table of `docs/derivatives.md` has these rows.

use super::check;

/// `(function, argument, derivative)`, in both modes.
#[track_caller]
fn slopes(table: &[(&str, &str, &str)]) {
    let mut all = Vec::new();
    for (f, at, slope) in table {
        all.push((format!("gradient({f}, {at})"), format!("({slope},)")));
        all.push((format!("derivative({f}, {at})"), (*slope).to_owned()));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(a, b)| (&**a, &**b)).collect();
    check("", &all);
}

#[test]
fn norms_at_zero_and_out_of_reach_of_squares() {
    slopes(&[
        ("x -> norm([x, 2x])", "0.0", "0.0"),
        ("x -> norm((x, 2x))", "0.0", "0.0"),
        ("x -> norm([x, 2x], 3)", "0.0", "0.0"),
        ("x -> norm([x, 2x], 1)", "0.0", "0.0"),
        ("x -> norm([x, 2x], Inf)", "0.0", "0.0"),
        ("x -> hypot(x, 2x)", "0.0", "0.0"),
        ("x -> norm([x, 0.0])", "1e-200", "1.0"),
        ("x -> norm([3x, 4x])", "1e200", "5.0"),
    ]);
    check(
        "",
        &[
            (
                "norm([1e-200, 0.0]), norm([3.0, 4.0]), norm([3, 4]), norm((3, 4))",
                "(1.0e-200, 5.0, 5.0, 5.0)",
            ),
            (
                "norm([3e200, 4e200]) ≈ 5e200, norm([1e200, 1e200], 3) ≈ 2^(1 / 3) * 1e200",
                "(true, true)",
            ),
            (
                "norm([Inf, 1.0]), norm([NaN, 1.0]), norm(Float64[]), norm([0.0f0])",
                "(Inf, NaN, 0.0, 0.0f0)",
            ),
            (
                "norm([1, -2], -Inf), norm([1, 0], 0), norm([1099511627776])",
                "(1.0, 1.0, 1.099511627776e12)",
            ),
            ("gradient(norm, [3e200, 4e200])", "([0.6, 0.8],)"),
            ("gradient(norm, [0.0, 0.0])", "([0.0, 0.0],)"),
            ("hessian(norm, [3.0, 4.0])", "[0.128 -0.096; -0.096 0.072]"),
            ("hessian(norm, [0.0, 0.0])", "[0.0 0.0; 0.0 0.0]"),
        ],
    );
}

#[test]
fn deviations_of_equal_numbers() {
    slopes(&[("x -> std([x, x])", "1.0", "0.0"), ("x -> var([x, x])", "1.0", "0.0")]);
    check(
        "",
        &[
            ("gradient(std, [1.0, 1.0])", "([0.0, 0.0],)"),
            ("gradient(std, (1.0, 1.0))", "((0.0, 0.0),)"),
            ("hessian(std, [1.0, 1.0])", "[0.0 0.0; 0.0 0.0]"),
            ("gradient(std, [1.0, 3.0])", "([-0.7071067811865475, 0.7071067811865475],)"),
        ],
    );
}

#[test]
fn roots_of_powers_at_zero() {
    slopes(&[
        ("sqrt", "0.0", "Inf"),
        ("x -> sqrt(x^2)", "0.0", "0.0"),
        ("x -> sqrt(x^3)", "0.0", "0.0"),
        ("x -> sqrt(x^4)", "0.0", "0.0"),
        ("x -> sqrt(x^2 + (2x)^2)", "0.0", "0.0"),
        ("x -> sqrt(abs(x)^2.0)", "0.0", "0.0"),
        ("x -> sqrt(x^2.5)", "0.0", "0.0"),
        ("x -> sqrt(x^0)", "0.0", "0.0"),
        ("x -> cbrt(x^2)", "0.0", "0.0"),
        ("x -> log(x^2)", "0.0", "0.0"),
        ("x -> x^2", "3.0", "6.0"),
        ("x -> x^3", "3.0", "27.0"),
        ("x -> x^1", "3.0", "1.0"),
        ("x -> x^-1", "2.0", "-0.25"),
        ("x -> x^-2", "2.0", "-0.25"),
    ]);
    check(
        "n = 2\nf(x) = derivative(y -> y^2 * sqrt(y^n), x)\n",
        &[
            // A product stays what IEEE 754 makes of it.
            ("gradient(x -> sqrt(x * x), 0.0)", "(NaN,)"),
            ("derivative(x -> derivative(y -> y^3, x), 2.0)", "12.0"),
            // Where a zero wins, the derivative by the other factor does not go.
            ("derivative(x -> derivative(y -> y^2, x), 0.0)", "2.0"),
            ("gradient(x -> gradient(y -> y^2, x)[1], 0.0)", "(2.0,)"),
            ("derivative(y -> derivative(x -> y * log(x), 4.0), 0.0)", "0.25"),
            ("derivative(y -> gradient(x -> y * sqrt(x), 4.0)[1], 0.0)", "0.25"),
            ("gradient(y -> gradient(x -> y / x, 4.0)[1], 0.0)", "(-0.0625,)"),
            ("gradient(y -> derivative(x -> y * x^2.5, 4.0), 0.0)", "(20.0,)"),
            ("hessian(x -> x[1]^2 + x[1] * x[2]^3, [0.0, 0.0])", "[2.0 0.0; 0.0 0.0]"),
            (
                "derivative(x -> derivative(exp, x), 0.0), derivative(x -> derivative(atan, x), 0.0)",
                "(1.0, 0.0)",
            ),
            ("gradient(x -> gradient(y -> y^2, x)[1], 2.0)", "(2.0,)"),
            ("derivative(x -> derivative(y -> y * sqrt(x^2), 1.0), 0.0)", "0.0"),
            ("gradient(x -> gradient(y -> y * sqrt(x^2), 1.0)[1], 0.0)", "(0.0,)"),
            (
                "(-0.0)^1, (-0.0)^3, 3.0f0^2, 1.1^2 == 1.1 * 1.1, 1.1^3 == 1.1 * 1.1 * 1.1",
                "(-0.0, -0.0, 9.0f0, true, true)",
            ),
        ],
    );
}

#[test]
fn logarithms_times_zero() {
    slopes(&[
        ("xlogx", "0.0", "-Inf"),
        ("xlogx", "1.0", "1.0"),
        ("x -> xlogy(x, 3.0)", "0.0", "1.0986122886681098"),
        ("x -> xlogy(x, 0.0)", "0.0", "-Inf"),
        ("y -> xlogy(0.0, y)", "0.0", "0.0"),
        ("x -> xlogy(x, Inf)", "0.0", "Inf"),
        ("x -> xlog1py(x, 2.0)", "0.0", "1.0986122886681098"),
        ("x -> xlog1py(x, -1.0)", "0.0", "-Inf"),
    ]);
    check(
        "",
        &[
            ("gradient(xlogy, 0.0, 3.0)", "(1.0986122886681098, 0.0)"),
            ("gradient(xlogy, 2.0, 4.0)", "(1.3862943611198906, 0.5)"),
            (
                "xlogx(0), xlogy(0, 0), xlogy(0, -0.0), xlogy(0.0, NaN), xlog1py(0, -1)",
                "(0.0, 0.0, 0.0, NaN, 0.0)",
            ),
            (
                "signbit(xlogy(-0.0, 3.0)), signbit(xlogy(0.0, 0.5)), typeof(xlogy(0, 3.0f0))",
                "(false, false, Float32)",
            ),
            ("derivative(y -> gradient(x -> xlogy(x, y), 0.0)[1], 4.0)", "0.25"),
            ("derivative(x -> derivative(xlogx, x), 2.0)", "0.5"),
        ],
    );
}

#[test]
fn determinants_of_singular_matrices() {
    check(
        "A = [1.0 1 1; 1 1 2; 1 1 3]\n\
         f(v) = det(reshape(v, 2, 2))\n\
         g(v) = det(reshape(v, 3, 3))\n",
        &[
            ("gradient(det, A)", "([1.0 -1.0 0.0; -2.0 2.0 0.0; 1.0 -1.0 0.0],)"),
            ("derivative(t -> det(A .+ t .* [1 0 0; 0 0 0; 0 0 0]), 0.0)", "1.0"),
            ("gradient(det, [1.0 2; 3 4])", "([4.0 -3.0; -2.0 1.0],)"),
            ("gradient(det, [1.0 2; 2 4])", "([4.0 -2.0; -2.0 1.0],)"),
            ("gradient(a -> det(a'), [1.0 2; 2 4])", "([4.0 -2.0; -2.0 1.0],)"),
            (
                "gradient(det, zeros(2, 2)), gradient(det, zeros(3, 3))[1] == zeros(3, 3)",
                "(([0.0 0.0; 0.0 0.0],), true)",
            ),
            (
                "gradient(det, fill(3.0, 1, 1)), gradient(det, zeros(1, 1))",
                "(([1.0;;],), ([1.0;;],))",
            ),
            (
                "hessian(f, [0.0, 0.0, 0.0, 0.0])",
                "[0.0 0.0 0.0 1.0; 0.0 0.0 -1.0 0.0; 0.0 -1.0 0.0 0.0; 1.0 0.0 0.0 0.0]",
            ),
            (
                "hessian(f, [1.0, 1.0, 1.0, 1.0])",
                "[0.0 0.0 0.0 1.0; 0.0 0.0 -1.0 0.0; 0.0 -1.0 0.0 0.0; 1.0 0.0 0.0 0.0]",
            ),
            // Of rank one: the derivative of the cofactors is not zero.
            (
                "hessian(g, [1.0, 0, 0, 0, 0, 0, 0, 0, 0])[5, :]",
                "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]",
            ),
            (
                "hessian(g, [2.0, 1, 1, 1, 3, 2, 1, 1, 4])[1, :]",
                "[0.0, 0.0, 0.0, 0.0, 4.0, -1.0, 0.0, -2.0, 3.0]",
            ),
            ("gradient(x -> gradient(a -> det(a), [x 1.0; 1.0 x])[1][1, 1], 1.0)", "(1.0,)"),
            ("gradient(d -> det(Diagonal(d)), [0.0, 2.0, 3.0])", "([6.0, 0.0, 0.0],)"),
            (
                "det([1 2; 3 4]), det(zeros(0, 0)), gradient(det, [1 2.0; 3 4])",
                "(-2.0, 1.0, ([4.0 -3.0; -2.0 1.0],))",
            ),
        ],
    );
}

#[test]
fn products_with_zeros() {
    check(
        "",
        &[
            ("gradient(prod, [0.0, 2.0, 3.0])", "([6.0, 0.0, 0.0],)"),
            ("gradient(prod, [0.0, 0.0, 3.0])", "([0.0, 0.0, 0.0],)"),
            ("gradient(prod, (0.0, 2.0))", "((2.0, 0.0),)"),
            ("gradient(x -> sum(cumprod(x)), [0.0, 2.0, 3.0])", "([9.0, 0.0, 0.0],)"),
            ("hessian(prod, [0.0, 0.0, 3.0])", "[0.0 3.0 0.0; 3.0 0.0 0.0; 0.0 0.0 0.0]"),
            ("gradient(maximum, [1.0, 2.0, 2.0])", "([0.0, 0.0, 1.0],)"),
            ("gradient(minimum, [1.0, 1.0, 2.0])", "([1.0, 0.0, 0.0],)"),
        ],
    );
}

#[test]
fn functions_that_level_off() {
    slopes(&[
        ("logistic", "-800.0", "0.0"),
        ("logistic", "800.0", "0.0"),
        ("logistic", "0.0", "0.25"),
        ("logistic", "-Inf", "0.0"),
        ("logistic", "Inf", "0.0"),
        ("x -> 1 / (1 + exp(-x))", "-800.0", "0.0"),
        ("x -> 1 / (1 + exp(-x))", "800.0", "0.0"),
        ("x -> inv(1 + exp(-x))", "-800.0", "0.0"),
        ("x -> exp(x) / (1 + exp(x))", "-800.0", "0.0"),
        ("log1pexp", "-800.0", "0.0"),
        ("log1pexp", "800.0", "1.0"),
        ("log1pexp", "-Inf", "0.0"),
        ("tanh", "-800.0", "0.0"),
        ("tanh", "Inf", "0.0"),
        ("x -> erf(x)", "800.0", "0.0"),
        ("x -> erfc(-x)", "800.0", "0.0"),
        ("atan", "Inf", "0.0"),
        ("atan", "1e300", "0.0"),
        ("x -> exp(-x^2)", "1e200", "0.0"),
        ("x -> exp(-1 / x)", "0.0", "0.0"),
        ("sinc", "0.0", "0.0"),
    ]);
    check(
        "f(x) = 1 / (1 + exp(-x))\n",
        &[
            (
                "logistic(-800.0), logistic(-Inf), logistic(Inf), logistic(0)",
                "(0.0, 0.0, 1.0, 0.5)",
            ),
            ("derivative(x -> derivative(logistic, x), 1.0)", "-0.09085774767294841"),
            ("derivative(x -> derivative(logistic, x), -800.0)", "0.0"),
            ("gradient(x -> gradient(f, x)[1], -800.0)", "(0.0,)"),
            ("derivative(x -> derivative(f, x), -800.0)", "0.0"),
        ],
    );
}

/// A value is computed before a branch and used in one of its arms only.
#[test]
fn a_branch_that_was_not_taken_adds_nothing_to_what_was_computed_before() {
    slopes(&[
        ("x -> (l = log(x); x > 0 ? l : x)", "0.0", "1.0"),
        ("x -> (l = log(2x); x > 0 ? l * x : x)", "0.0", "1.0"),
        ("x -> (q = 1 / x; r = q * q; x > 0 ? r : 3x)", "0.0", "3.0"),
        (
            "x -> (s = 0.0; q = 1 / x; for i in 1:3; i > 5 && (s += q); s += x; end; s)",
            "0.0",
            "3.0",
        ),
        ("x -> (l = log(x); y = x > 0 ? l : 0.0; y + l * 0 + 2x)", "1.0", "3.0"),
    ]);
}

/// An invariant quotient leaves the loop, and with it the arm that it was in. The derivative of its
/// derivative, where the arm was not taken, is a zero that wins over a quotient by zero.
#[test]
fn an_arm_that_was_not_taken_adds_nothing_to_second_derivatives() {
    check(
        "function f(x, o)
            t = 0.0
            for i in 1:3
                t += (o == 0 ? x : x / o) * i
            end
            t
        end
        by_o(x) = gradient(o -> f(x, o), 0.0)[1]
        by_both(x) = sum(gradient(f, x, 0.0))
        of_both(x) = gradient(f, x[1], x[2])[2]",
        &[
            ("gradient(f, 1.0, 0.0)", "(6.0, -0.0)"),
            ("gradient(by_o, 1.0)", "(-0.0,)"),
            ("derivative(by_o, 1.0)", "-0.0"),
            ("gradient(by_both, 1.0)", "(-0.0,)"),
            ("derivative(by_both, 1.0)", "-0.0"),
            ("gradient(of_both, [1.0, 0.0])[1] == [0.0, 0.0]", "true"),
            // x / 2 six times: its derivative by o is -6 x / 4.
            ("gradient(x -> gradient(o -> f(x, o), 2.0)[1], 1.0)", "(-1.5,)"),
        ],
    );
}

/// A quotient by zero is computed ahead of the branch around it, and kept for the pullback, which is called dynamically.
/// It takes no part there, nor in the derivative of that.
#[test]
fn what_is_kept_for_an_arm_that_was_not_taken_adds_nothing_to_second_derivatives() {
    check(
        "P(f) = x -> pullback(f, x)[2](1.0)[1]
        D(f) = x -> derivative(f, x)
        function by_itself(x)
            a = Any[x]
            b = Any[a[1]]
            for i in 1:2
                b[1] = tanh(sin(sin(b[1])))
                zero = x - x
                unused = b[1] + norm([zero, zero])
            end
            x + a[1] + b[1]
        end
        h(x) = tanh(sin(sin(x)))
        same(x) = 2x + h(h(x))
        # So many values that floats are kept in an array.
        deep(y, x, k) = k == 0 ? y : deep(x, y * x + 0.1, k - 1)
        product(a) = a[1] * a[2]
        function among_many(x)
            a = Any[[x, x]]
            v = fill(exp(-abs2(deep(sum(a[1]), sum(a[1]), 0))), 2)
            for i in 1:1
                step = 0.3 + 0.01 * x
                zero = x - x
                unused = sum(collect(0.0:step:1.0)) + checkpoint(product, v) + norm([zero, zero])
            end
            c = Ref{Any}(tanh.(v .* 0.0))
            d = Ref{Any}([sum(c[]), sum(c[])])
            e = sin(sum(d[]))
            sum(a[1]) + tanh(v[1]) + tanh(e) + tanh(sum(c[])) + tanh(sum(d[]))
        end
        same_of_many(x) = 2x + tanh(exp(-4x^2))",
        &[
            ("gradient(P(by_itself), 0.7)[1] ≈ derivative(D(same), 0.7)", "true"),
            ("gradient(P(among_many), 0.7)[1] ≈ derivative(D(same_of_many), 0.7)", "true"),
        ],
    );
}

#[test]
fn borders_that_are_infinite() {
    check(
        "softmin(a, b, c, γ) = (m = min(a, b, c); m - γ * log(exp(-(a - m) / γ) + exp(-(b - m) / γ) + exp(-(c - m) / γ)))\n\
         function sdtw(x, y, γ)\n\
             n, m = length(x), length(y)\n\
             R = fill(Inf, n + 1, m + 1)\n\
             R[1, 1] = 0.0\n\
             for j in 1:m, i in 1:n\n\
                 R[i + 1, j + 1] = (x[i] - y[j])^2 + softmin(R[i, j], R[i, j + 1], R[i + 1, j], γ)\n\
             end\n\
             return R[n + 1, m + 1]\n\
         end\n\
         x = [1.0, 2.0, 3.0]\n\
         y = [1.5, 2.5]\n\
         gx, gy, gγ = gradient(sdtw, x, y, 0.5)\n",
        &[
            ("gx", "[-1.0126778912770404, 0.0, 1.0126778912770404]"),
            ("gy", "[0.3719572070483356, -0.3719572070483356]"),
            ("abs(gγ - (sdtw(x, y, 0.50001) - sdtw(x, y, 0.49999)) / 2e-5) < 1e-7", "true"),
            ("derivative(γ -> sdtw(x, y, γ), 0.5) ≈ gγ", "true"),
            ("abs(derivative(t -> sdtw(x .+ t, y, 0.5), 0.0) - sum(gx)) < 1e-12", "true"),
            (
                "abs(derivative(t -> sdtw([1.0 + t, 2.0, 3.0], y, 0.5), 0.0) - gx[1]) < 1e-12",
                "true",
            ),
        ],
    );
}

#[test]
fn polygamma_functions() {
    slopes(&[
        ("trigamma", "1.0", "-2.4041138063191885"),
        ("digamma", "1.0", "1.6449340668482264"),
        ("x -> polygamma(2, x)", "1.0", "6.493939402266829"),
        ("x -> trigamma(x)", "-1.3", "68.54941347116214"),
    ]);
    check(
        "",
        &[
            ("polygamma(0, 1.0) == digamma(1.0), polygamma(1, 2) == trigamma(2)", "(true, true)"),
            ("polygamma(-1, 1.0)", "error: DomainError"),
            (
                "derivative(x -> derivative(y -> derivative(loggamma, y), x), 1.0)",
                "-2.4041138063191885",
            ),
            ("gradient(x -> gradient(trigamma, x)[1], 1.0)", "(6.493939402266829,)"),
        ],
    );
}
