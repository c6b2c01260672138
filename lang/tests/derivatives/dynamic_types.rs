//! Values whose types are known only when the program runs.

use super::check;

#[test]
fn what_a_reference_to_anything_holds() {
    check(
        "f(x) = (r = Ref{Any}(x); r[] * r[])\n\
         g(x) = (r = Ref{Any}(sin); r[](x))\n",
        &[
            ("gradient(f, 3.0)", "(6.0,)"),
            ("derivative(f, 3.0)", "6.0"),
            ("gradient(g, 0.0)", "(1.0,)"),
            ("derivative(g, 0.0)", "1.0"),
        ],
    );
}

#[test]
fn fields_of_abstract_types() {
    check(
        "struct S\n    x::Real\n    n::Any\nend\nf(x, y) = (s = S(x, y); s.x * s.n)\n",
        &[("gradient(f, 3.0, 2.0)", "(2.0, 3.0)"), ("derivative(x -> f(x, 5.0), 3.0)", "5.0")],
    );
}

#[test]
fn the_type_decides_what_is_done() {
    check(
        "f(x) = x isa Int ? x : x * x\n\
         h(flag, x) = (v = flag ? [1, 2] : [x, 2x]; v[1] * x)\n",
        &[
            ("gradient(f, 3.0)", "(6.0,)"),
            ("gradient((x, n) -> f(x) * f(n), 3.0, 3)", "(18.0, nothing)"),
            ("gradient(h, true, 3.0)", "(nothing, 1.0)"),
            ("gradient(h, false, 3.0)", "(nothing, 6.0)"),
        ],
    );
}

#[test]
fn arrays_of_anything() {
    check("f(x) = (v = Any[x, 2, x * x]; v[1] * v[2] + v[3])\n", &[("gradient(f, 3.0)", "(8.0,)")]);
}

#[test]
fn arguments_whose_types_are_not_known() {
    check(
        "square(x) = x * x\nfunction f(r)\n    gradient(square, r[])\nend\n",
        &[
            ("f(Ref{Any}(3.0))", "(6.0,)"),
            ("f(Ref{Any}(3.0f0))", "(6.0f0,)"),
            ("fs = Any[sin, x -> 2x]; [derivative(g, 0.0) for g in fs]", "[1.0, 2.0]"),
        ],
    );
}

#[test]
fn calls_in_functions_that_are_known_late() {
    // What the inner calls keep is of any type; the types of its values are their own.
    check(
        "fs = Any[x -> x * x, x -> 3 * fs[1](x), (x, y) -> fs[2](x) * y]\n\
         g(x) = fs[2](x)\n\
         h(x, y) = fs[3](x, fs[1](y))\n",
        &[
            ("gradient(g, 0.5)", "(3.0,)"),
            ("derivative(g, 0.5)", "3.0"),
            // 3 x^2 y^2
            ("gradient(h, 2.0, 5.0)", "(300.0, 120.0)"),
            ("gradient(x -> gradient(g, x)[1], 0.5)", "(6.0,)"),
        ],
    );
}
