//! Questions that have no answer, or need one more step: messages that say what to
//! write, arguments that count as floats, shapes.

use super::{check, check_in, session};

#[test]
fn arguments_without_a_derivative() {
    check(
        "f(x) = x^2\n",
        &[
            ("gradient(f, 3)", "error: write 3.0 instead of 3, which is an integer"),
            ("withgradient(f, 3)", "error: write 3.0 instead of 3"),
            ("gradient(sum, [1, 2])", "error: write float.(x) instead of x"),
            (
                "gradient(x -> 1.0, :a)",
                "error: no argument has a derivative: one is of type Symbol",
            ),
            ("gradient((x, n) -> x^n, 3.0, 2)", "(6.0, nothing)"),
            ("derivative(f, 3)", "6.0"),
            ("gradient(() -> 1.0)", "()"),
        ],
    );
}

#[test]
fn irrational_numbers_count_as_floats() {
    check(
        "",
        &[
            ("gradient(x -> 2x, π)", "(2.0,)"),
            ("gradient((x, y) -> x * y, π, 2.0)", "(2.0, 3.141592653589793)"),
            ("withgradient(sin, π).grad", "(-1.0,)"),
            ("pullback(x -> 2x, ℯ)[2](1.0)", "(2.0,)"),
            ("pushforward(x -> 2x, π)(1.0)", "2.0"),
            ("derivative(x -> 2x, π), hessian(x -> x^2, π)", "(2.0, 2.0)"),
        ],
    );
}

#[test]
fn vectors_of_integers_and_tangents_of_another_length() {
    check(
        "f(x) = sum(abs2, x)\n",
        &[
            (
                "jacobian(x -> 2x, [1, 2])",
                "error: jacobian takes a vector of floats, found elements of type Int64",
            ),
            ("hessian(f, [1, 2])", "error: hessian takes a vector of floats"),
            ("hvp(f, [1, 2], [1.0, 0.0])", "error: hvp takes a vector of floats"),
            (
                "hvp(f, [1.0, 2.0], [1.0])",
                "error: a tangent has the size of its argument, (2,), found one of size (1,)",
            ),
            ("hvp(f, [1.0, 2.0], [1.0, 2.0, 3.0])", "error: found one of size (3,)"),
            ("pushforward(f, [1.0, 2.0])([1.0])", "error: found one of size (1,)"),
            (
                "pushforward(t -> f(t[1]), ([1.0, 2.0], 1))(([1.0], nothing))",
                "error: found one of size (1,)",
            ),
            ("pushforward(f, [1.0, 2.0])()", "error: one tangent for each of 1 arguments"),
            ("hvp(f, [1.0, 2.0], [1.0, 0.0])", "[2.0, 0.0]"),
        ],
    );
}

#[test]
fn jacobians_of_tuples_and_of_numbers() {
    check(
        "f(t) = [t[1] * t[2], t[2], t[1]^2]\n\
         g(t) = (t[1] * t[2], t[2])\n",
        &[
            ("jacobian(f, (2.0, 3.0))", "[3.0 2.0; 0.0 1.0; 4.0 0.0]"),
            ("jacobian(g, (2.0, 3.0))", "[3.0 2.0; 0.0 1.0]"),
            ("jacobian(g, (2, 3.0))", "[3.0 2.0; 0.0 1.0]"),
            ("jacobian(x -> (x[1] * x[2], x[2]), [2.0, 3.0])", "[3.0 2.0; 0.0 1.0]"),
            ("jacobian(prod, [2.0, 3.0])", "[3.0 2.0]"),
            ("jacobian(prod, [2.0, 3.0, 4.0, 5.0, 6.0])", "[360.0 240.0 180.0 144.0 120.0]"),
            ("jacobian(g, (2, 3))", "error: jacobian takes a vector of floats"),
        ],
    );
}

#[test]
fn jacobians_of_what_uses_global_objects() {
    check(
        "ys = [1.0, 2.0, 3.0, 4.0]\n\
         zs = ys\n\
         ws = zeros(4)\n\
         f(x) = x .* ys .+ x .* zs\n\
         g(x) = (ws .= x .* zs; ws .* x)\n",
        &[
            (
                "jacobian(f, ones(4))",
                "[2.0 0.0 0.0 0.0; 0.0 4.0 0.0 0.0; 0.0 0.0 6.0 0.0; 0.0 0.0 0.0 8.0]",
            ),
            (
                "jacobian(g, ones(4))",
                "[2.0 0.0 0.0 0.0; 0.0 4.0 0.0 0.0; 0.0 0.0 6.0 0.0; 0.0 0.0 0.0 8.0]",
            ),
            (
                "hessian(x -> sum(f(x) .^ 2) / 2, [1.0, 0, 0, 0])",
                "[4.0 0.0 0.0 0.0; 0.0 16.0 0.0 0.0; 0.0 0.0 36.0 0.0; 0.0 0.0 0.0 64.0]",
            ),
        ],
    );
}

#[test]
fn a_pullback_takes_nothing_within_a_tuple() {
    check(
        "",
        &[
            ("pullback(x -> (x, 2x), 1.0)[2]((nothing, 1.0))", "(2.0,)"),
            ("pullback(x -> (x, 2x), 1.0)[2]((1, nothing))", "(1.0,)"),
            ("pullback(x -> (x, (2x, 3x)), 1.0)[2]((nothing, (nothing, 1.0)))", "(3.0,)"),
            ("pullback(x -> (x, (2x, 3x)), 1.0)[2]((1.0, nothing))", "(1.0,)"),
            ("pullback(x -> ([x, x], 2x), 1.0)[2]((nothing, 1.0))", "(2.0,)"),
            ("pullback(x -> ([x, x], 2x), 1.0)[2](([1.0, 2.0], nothing))", "(3.0,)"),
            (
                "pullback(x -> ([x, x], 2x), 1.0)[2]((1.0, 1.0))",
                "error: a pullback takes a tangent of the value",
            ),
        ],
    );
}

#[test]
fn what_a_rule_returns_is_checked() {
    check(
        "g1(x, y) = x * y\n\
         rrule(::typeof(g1), x, y) = (g1(x, y), dy -> (NoTangent(), 100 * dy))\n\
         g2(x, y) = x * y\n\
         rrule(::typeof(g2), x, y) = (g2(x, y), dy -> (1.0, 2.0, 3.0, 4.0))\n\
         g3(x) = sum(x)\n\
         rrule(::typeof(g3), x) = (g3(x), dy -> (NoTangent(), [1.0]))\n\
         g4(x) = sum(x)\n\
         rrule(::typeof(g4), x) = (g4(x), dy -> (NoTangent(), 1.0))\n\
         g5(x) = x * x\n\
         rrule(::typeof(g5), x) = (g5(x), dy -> 2.0)\n\
         g6(x) = x * x\n\
         rrule(::typeof(g6), x) = g6(x)\n\
         g7(x) = x * x\n\
         frule(t, ::typeof(g7), x) = g7(x)\n\
         g8(x) = x * x\n\
         frule(t, ::typeof(g8), x) = (g8(x), [1.0])\n\
         g9(x) = x .* x\n\
         frule(t, ::typeof(g9), x) = (g9(x), [1.0])\n\
         g10(x) = x * x\n\
         rrule(::typeof(g10), x) = (g10(x), dy -> (NoTangent(), \"a\"))\n\
         g11(x, more...) = x * sum(more)\n\
         rrule(::typeof(g11), x, more...) = (g11(x, more...), dy -> (NoTangent(), dy))\n\
         g12(x, more...) = x * sum(more)\n\
         rrule(::typeof(g12), x, more...) = (g12(x, more...), dy -> (NoTangent(), dy, map(m -> 10dy, more)...))\n",
        &[
            (
                "gradient(x -> g1(x, x) + 1, 3.0)",
                "error: the pullback in the rrule of g1 returned 2 tangents; it returns a tuple of 3",
            ),
            (
                "gradient(x -> g2(x, x) + 1, 3.0)",
                "error: the pullback in the rrule of g2 returned 4 tangents",
            ),
            (
                "gradient(x -> g3(x) + 1, [3.0, 4.0])",
                "error: the rule for g3 returned an array of size (1,) as tangent of",
            ),
            (
                "gradient(x -> g4(x) + 1, [3.0, 4.0])",
                "error: the rule for g4 returned a value of type Float64 as tangent of",
            ),
            (
                "gradient(x -> g5(x) + 1, 3.0)",
                "error: the pullback in the rrule of g5 returned a value of type Float64",
            ),
            (
                "gradient(x -> g6(x) + 1, 3.0)",
                "error: the rrule of g6 returned a value of type Float64",
            ),
            (
                "derivative(x -> g7(x) + 1, 3.0)",
                "error: the frule of g7 returned a value of type Float64",
            ),
            (
                "derivative(x -> g8(x) + 1, 3.0)",
                "error: the rule for g8 returned an array of size (1,) as tangent of a number",
            ),
            (
                "derivative(x -> sum(g9([x, x])) + 1, 3.0)",
                "error: the rule for g9 returned an array of size (1,) as tangent of",
            ),
            (
                "gradient(x -> g10(x) + 1, 3.0)",
                "error: the rule for g10 returned a value of type String as tangent of a number",
            ),
            (
                "gradient(x -> g11(x, x, x) + 1, 3.0)",
                "error: the pullback in the rrule of g11 returned 2 tangents; it returns a tuple of 4",
            ),
            ("gradient(x -> g12(x, x, x) + 1, 3.0)", "(21.0,)"),
        ],
    );
}

#[test]
fn rules_of_constructors() {
    check(
        "struct S1; a::Float64; b::Float64; end\n\
         rrule(P::Type{<:S1}, a, b) = (P(a, b), d -> (NoTangent(), 100 * d.a, 200.0))\n\
         frule(t, P::Type{<:S1}, a, b) = (P(a, b), (a = 1000.0, b = 0.0))\n\
         struct S2{T}; a::T; end\n\
         rrule(::Type{S2{T}}, a) where T = (S2{T}(a), d -> (NoTangent(), 100.0))\n\
         mutable struct S3; a::Float64; end\n\
         rrule(P::Type{S3}, a) = (P(a), d -> (NoTangent(), 100.0))\n",
        &[
            ("gradient(x -> S1(x, 2x).a, 2.0)", "(500.0,)"),
            ("derivative(x -> S1(x, 2x).a, 2.0)", "1000.0"),
            ("gradient(x -> S2{Float64}(x).a, 2.0)", "(100.0,)"),
            ("gradient(x -> S3(x).a, 2.0)", "(100.0,)"),
        ],
    );
}

#[test]
fn a_rule_of_a_constructor_that_comes_later() {
    let mut session = session(
        "struct S; f; x::Float64; end\n\
         h(x) = S(sin, x).x * x\n",
    );
    check_in(&mut session, &[("gradient(h, 3.0)", "(6.0,)"), ("derivative(h, 3.0)", "6.0")]);
    let rules = "rrule(P::Type{<:S}, f::typeof(sin), x) = (P(f, x), d -> (NoTangent(), nothing, 100.0))\n\
                 frule(t, P::Type{<:S}, f::typeof(sin), x) = (P(f, x), (f = nothing, x = 1000.0))";
    session.run("rules.jl", rules).unwrap();
    check_in(&mut session, &[("gradient(h, 3.0)", "(103.0,)"), ("derivative(h, 3.0)", "3003.0")]);
}

#[test]
fn functions_that_only_fail_are_run_again() {
    check(
        "f(h, a, ys) = a * sum(checkpoint(h, ys))\n\
         A = [1.0 2.0; 3.0 4.0]\n\
         w(h) = gradient((a, y) -> f(h, a, y), 2.0, A)\n",
        &[
            ("w(y -> y[:, 1])", "(4.0, [2.0 0.0; 2.0 0.0])"),
            ("w(y -> view(y, :, 2))", "(6.0, [0.0 2.0; 0.0 2.0])"),
            ("w(y -> y \\ [1.0, 2.0])[1]", "0.5"),
            ("w(y -> (y[1] = 2.0; y[:, 1]))", "error: changes its arguments"),
        ],
    );
}

#[test]
fn splats_of_nothing() {
    check(
        "g0() = 1.0\n\
         f(x) = (e = Any[]; x * g0(e...))\n\
         g(a...) = length(a) == 0 ? 2.0 : a[1]\n\
         h(x) = (e = Any[]; y = x * g(e...); push!(e, x); y + g(e...))\n",
        &[
            ("gradient(f, 2.0)", "(1.0,)"),
            ("derivative(f, 2.0)", "1.0"),
            ("gradient(h, 2.0)", "(3.0,)"),
            // The same call of `tuple`, of no elements, one and two.
            ("[length((c...,)) for c in (Any[], Any[1], Any[1, 2])]", "[0, 1, 2]"),
            ("t = Any[tuple]; (t[1](), t[1](1), t[1](1, 2.0))", "((), (1,), (1, 2.0))"),
        ],
    );
}

#[test]
fn fields_that_are_not_there() {
    check(
        "struct P; x::Float64; end\n\
         f(x) = (p = P(x); p.y * x)\n\
         g(x) = x > 0 ? x^2 : P(x).y\n\
         mutable struct M; x::Float64; end\n\
         h(x) = (m = M(x); m.y = 2.0; x)\n",
        &[
            ("gradient(f, 2.0)", "error: has no field"),
            ("gradient(g, 2.0)", "(4.0,)"),
            ("derivative(g, 2.0)", "4.0"),
            ("gradient(h, 2.0)", "error: has no field"),
            ("f(2.0)", "error: has no field"),
        ],
    );
}
