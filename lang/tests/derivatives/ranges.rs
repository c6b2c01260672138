//! Ranges of floats: their elements are as differentiable as what they are made of, their length is
//! constant.

use super::check;

/// `(expression in p, p, derivative)`, in both modes.
#[track_caller]
fn slopes(table: &[(&str, &str, &str)]) {
    let mut all = Vec::new();
    for (body, at, slope) in table {
        all.push((format!("gradient(p -> {body}, {at})"), format!("({slope},)")));
        all.push((format!("derivative(p -> {body}, {at})"), (*slope).to_owned()));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(a, b)| (&**a, &**b)).collect();
    check("", &all);
}

#[test]
fn elements_of_a_range_by_its_step() {
    slopes(&[
        ("(0.0:p:10.0)[3]", "0.5", "2.0"),
        ("last(0.0:p:1.0)", "0.25", "4.0"),
        ("step(0.0:p:1.0)", "0.25", "1.0"),
        ("first(0.0:p:1.0)", "0.25", "0.0"),
        ("sum(0:p:3)", "0.1", "465.0"),
        ("sum(0.0:π*p:10.0)", "0.5", "65.97344572538566"),
        ("sum(1.0:-p:0.0)", "0.25", "-10.0"),
        ("maximum(0.0:p:1.0) + minimum(-1.0:p:1.0)", "0.25", "4.0"),
    ]);
    check("", &[("gradient(p -> sum(0.0f0:p:1.0f0), 0.25f0)", "(10.0f0,)")]);
}

#[test]
fn elements_of_a_range_by_its_ends() {
    slopes(&[
        ("sum(collect(p:1.0:5.0))", "0.5", "5.0"),
        ("first(p:0.5:1.0)", "0.25", "1.0"),
        ("last(p:0.25:1.0)", "0.25", "1.0"),
        ("length(p:0.5:10.0) * p", "0.5", "20.0"),
        ("sum(0.0:0.1:p)", "0.55", "0.0"),
        ("sum(range(0.0, p, 5))", "0.5", "2.5"),
        ("range(p, 2.0, 5)[2]", "0.5", "0.75"),
        ("sum(LinRange(p, 2.0, 5))", "0.5", "2.5"),
        ("step(range(p, 2.0, 5))", "0.5", "-0.25"),
    ]);
    check(
        "f(p) = sum(collect(0.0:p[1]:p[2]))\n",
        &[
            ("gradient(f, [0.3, 25.0])", "([3486.0, 0.0],)"),
            ("gradient((a, p) -> sum(a:p:2.0), 0.1, 0.1)", "(20.0, 190.0)"),
        ],
    );
}

#[test]
fn what_is_done_with_a_range() {
    slopes(&[
        ("sum(reverse(0.0:p:1.0))", "0.25", "10.0"),
        ("sum((0.0:p:1.0)[2:3])", "0.25", "3.0"),
        ("sum(2 .* (0.0:p:1.0))", "0.25", "20.0"),
        ("sum((0.0:0.25:1.0) .+ p)", "0.25", "5.0"),
        ("sum(map(x -> x^2, 0.0:p:1.0))", "0.25", "15.0"),
        ("sum([x^2 for x in 0.0:p:1.0])", "0.25", "15.0"),
        ("(s = 0.0; for x in 0.0:p:1.0; s += x^2; end; s)", "0.25", "15.0"),
        ("sum(x * y for (x, y) in zip(0.0:p:1.0, 1:5))", "0.25", "40.0"),
        ("sum(sort(-(0.0:p:1.0)))", "0.25", "-10.0"),
    ]);
}

#[test]
fn second_derivatives_through_ranges() {
    check(
        "f(p) = (s = 0.0; for x in 0.0:p:1.0; s += x^2; end; s)\n\
         g(p) = gradient(f, p)[1]\n",
        &[
            ("gradient(g, 0.25)", "(60.0,)"),
            ("derivative(g, 0.25)", "60.0"),
            ("derivative(p -> derivative(f, p), 0.25)", "60.0"),
            ("gradient(p -> derivative(f, p), 0.25)", "(60.0,)"),
        ],
    );
}

#[test]
fn values_of_ranges_stay_exact() {
    check(
        "",
        &[
            ("collect(0.1:0.1:0.5) == [0.1, 0.2, 0.3, 0.4, 0.5]", "true"),
            ("collect(-1:0.1:1)[[1, 4, 11, 21]] == [-1.0, -0.7, 0.0, 1.0]", "true"),
            ("signbit((-0.0:1.0:2.0)[1]), signbit((-0.0:-1.0:-2.0)[1])", "(false, true)"),
        ],
    );
}

#[test]
fn a_range_as_an_argument_has_the_tangent_of_an_array() {
    check(
        "",
        &[
            ("gradient(r -> sum(abs2, r), 0.0:0.5:1.0)", "([0.0, 1.0, 2.0],)"),
            ("gradient(sum, LinRange(0.0, 1.0, 3))", "([1.0, 1.0, 1.0],)"),
            ("pushforward(r -> sum(abs2, r), 0.0:0.5:1.0)([1.0, 1.0, 1.0])", "3.0"),
            ("pullback(r -> 2 .* r, 0.0:0.5:1.0)[2]([1.0, 2.0, 3.0])", "([2.0, 4.0, 6.0],)"),
            ("jacobian(r -> r .^ 2, 1.0:2.0)", "[2.0 0.0; 0.0 4.0]"),
            ("hessian(r -> r[1]^2 * r[2], 2.0:3.0)", "[6.0 4.0; 4.0 0.0]"),
        ],
    );
}

#[test]
fn numbers_next_to_a_number() {
    slopes(&[
        ("nextfloat(p)", "1.0", "1.0"),
        ("nextfloat(p)", "0.0", "1.0"),
        ("prevfloat(p)", "1.0", "1.0"),
        ("p + eps(p)", "1.0", "1.0"),
        ("mod1(p, 2.0)", "4.0", "1.0"),
        ("mod1(4.0, p)", "2.0", "-1.0"),
        ("sign(p)", "0.0", "0.0"),
    ]);
    check(
        "",
        &[
            (
                "nextfloat(0.0), nextfloat(-5.0e-324), nextfloat(-Inf)",
                "(5.0e-324, -0.0, -1.7976931348623157e308)",
            ),
            (
                "nextfloat(1.0) == 1.0000000000000002, prevfloat(Inf), prevfloat(0.0)",
                "(true, 1.7976931348623157e308, -5.0e-324)",
            ),
            ("mod1(4.0, 2.0), mod1(3, 2.5), sign(-0.0)", "(2.0, 0.5, -0.0)"),
        ],
    );
}
