//! Calls: of any number of arguments, with splats, of functions with captures.

use super::check;

#[test]
fn any_number_of_arguments() {
    check(
        "f(x, ys...) = x * ys[1] + length(ys)\n\
         g(xs...) = sum(xs)\nh(t) = g(t...)\n",
        &[
            ("gradient(f, 3.0, 2.0)", "(2.0, 3.0)"),
            ("gradient(f, 3.0, 2.0, 5.0)", "(2.0, 3.0, 0.0)"),
            ("gradient(f, 3.0, 2.0, 5)", "(2.0, 3.0, nothing)"),
            ("gradient(g, 1.0, 2.0, 3.0)", "(1.0, 1.0, 1.0)"),
            ("gradient(h, (1.0, 2.0))", "((1.0, 1.0),)"),
            ("pushforward(f, 3.0, 2.0, 5.0)(1.0, 1.0, 1.0)", "5.0"),
        ],
    );
}

#[test]
fn a_sum_over_a_long_tuple() {
    check(
        "f(t) = sum(t)\nt = Tuple(Float64.(1:100));\n",
        &[("gradient(f, t)[1][100]", "1.0"), ("length(gradient(f, t)[1])", "100")],
    );
}

#[test]
fn deeply_nested_tuples() {
    check(
        "f(t) = t[1][1][1][1] * t[2]\n",
        &[("gradient(f, ((((2.0,), 1.0),), 3.0))", "(((((3.0,), 0.0),), 2.0),)")],
    );
}

#[test]
fn functions_with_captures() {
    check(
        "f(a) = (g = x -> a * x; g(2.0) * g(3.0))\n\
         function counter(x)\n    n = 0.0\n    add = v -> (n += v)\n    add(x)\n    add(2x)\n    n * n\nend\n",
        &[
            ("gradient(f, 1.5)", "(18.0,)"),
            ("gradient(counter, 2.0)", "(36.0,)"),
            ("derivative(counter, 2.0)", "36.0"),
        ],
    );
}

#[test]
fn constants_at_top_level() {
    check(
        "const w = [2.0, 3.0]\nconst c = 5.0\nf(x) = w[1] * x * c\n",
        &[("gradient(f, 1.0)", "(10.0,)")],
    );
}

#[test]
fn methods_that_are_called_by_their_values() {
    check(
        "struct Line\n    a::Float64\n    b::Float64\nend\n(l::Line)(x) = l.a * x + l.b\n",
        &[
            ("gradient(Line(2.0, 1.0), 3.0)", "(2.0,)"),
            ("gradient(l -> l(3.0), Line(2.0, 1.0))", "((a = 3.0, b = 1.0),)"),
        ],
    );
}

#[test]
fn numbers_of_arguments_that_are_known_late() {
    check(
        "p(a, b, c) = a * b + c\n\
         q(xs) = p(xs...)\n\
         most(xs) = max(xs...)\n\
         mixed(x, ys) = p(x, ys...)\n\
         both(v) = (w = [3.0]; p((v[1] * 2, v[2])..., w...))\n\
         arrays(xs) = ((a, b) -> a[1] * b[2])(xs...)\n\
         whole(x, ns) = x * max(ns...)\n\
         squares(xs) = max((x * x for x in xs)...)\n\
         twice(x) = gradient(q, [x, x * x, 1.0])[1][1]\n",
        &[
            ("gradient(q, [2.0, 3.0, 4.0])", "([3.0, 2.0, 1.0],)"),
            ("pushforward(q, [2.0, 3.0, 4.0])([1.0, 10.0, 100.0])", "123.0"),
            ("gradient(most, [1.0, 3.0, 2.0])", "([0.0, 1.0, 0.0],)"),
            ("gradient(mixed, 2.0, [3.0, 4.0])", "(3.0, [2.0, 1.0])"),
            ("gradient(both, [1.0, 2.0])", "([4.0, 2.0],)"),
            ("gradient(arrays, [[1.0, 2.0], [3.0, 4.0]])", "([[4.0, 0.0], [0.0, 1.0]],)"),
            ("gradient(whole, 2.0, [1, 3])", "(3.0, nothing)"),
            ("gradient(squares, [1.0, -2.0])", "([0.0, -4.0],)"),
            // x^2 is the first derivative.
            ("gradient(twice, 3.0)", "(6.0,)"),
            ("derivative(twice, 3.0)", "6.0"),
        ],
    );
}

#[test]
fn calls_known_late_of_what_changes_its_arguments() {
    // It returns nothing that has a derivative; what it changes has.
    check(
        "any_of(x) = (r = Ref{Any}(x); r[])\n\
         set!(v, x) = (v[1] = x * x; nothing)\n\
         f(x) = (v = [0.0]; set!(any_of(v), x); v[1])\n",
        &[("gradient(f, 3.0)", "(6.0,)"), ("derivative(f, 3.0)", "6.0")],
    );
}

#[test]
fn vectors_as_arguments_of_functions_that_take_one_number_of_them() {
    check(
        "w(a, b, c) = a * b + c\n\
         f(v) = w(v...)\ng(x, v) = w(x, v...)\nk(v, x) = w(v..., x)\n\
         two(v, u) = w(v..., u...)\nh = v -> (q = (a, b) -> a * b; q(v...))\n\
         any_number(xs...) = xs[1] * xs[2]\nm(v) = any_number(v...)\n\
         struct P; a; b; end\np(v) = (o = P(v...); o.a * o.b)\n",
        &[
            ("gradient(f, [1.0, 2.0, 3.0])", "([2.0, 1.0, 1.0],)"),
            ("gradient(g, 2.0, [3.0, 4.0])", "(3.0, [2.0, 1.0])"),
            ("gradient(k, [3.0, 4.0], 2.0)", "([4.0, 3.0], 1.0)"),
            ("gradient(two, [3.0], [4.0, 5.0])", "([4.0], [3.0, 1.0])"),
            ("gradient(h, [3.0, 4.0])", "([4.0, 3.0],)"),
            ("gradient(m, [3.0, 4.0])", "([4.0, 3.0],)"),
            ("gradient(m, [3.0, 4.0, 5.0])", "([4.0, 3.0, 0.0],)"),
            ("gradient(p, [3.0, 4.0])", "([4.0, 3.0],)"),
            ("f([1, 2, 3]), f(Any[1, 2.5, 3])", "(5, 5.5)"),
            ("f([1.0, 2.0])", "error: MethodError: no method matching w(::Float64, ::Float64)"),
            ("g(1.0, [1.0])", "error: MethodError: no method matching w(::Float64, ::Float64)"),
            ("gradient(f, [1.0, 2.0])", "error: no method matching w(::Float64, ::Float64)"),
            ("w(a, b) = a - b; f([1.0, 2.0]), f([1.0, 2.0, 3.0])", "(-1.0, 5.0)"),
            ("gradient(f, [1.0, 2.0])", "([1.0, -1.0],)"),
        ],
    );
}
