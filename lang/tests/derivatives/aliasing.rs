//! Objects that are there several times, and state that outlives a call.

use super::check;

#[test]
fn the_same_array_twice_has_one_shadow() {
    check(
        "f(x, y) = x[1] * y[1]\ng!(x, y) = (x[1] = 2 * y[1]; y[1] * y[1])\n",
        &[
            ("x = [3.0]; gradient(f, x, x)", "([6.0], [6.0])"),
            ("gradient(f, [3.0], [3.0])", "([3.0], [3.0])"),
            ("y = [3.0]; g = gradient(g!, y, y)", "([24.0], [24.0])"),
            ("g[1] === g[2]", "true"),
            ("gradient(t -> t[1][1] * t[2][1], (x, x))", "(([6.0], [6.0]),)"),
        ],
    );
}

#[test]
fn an_array_that_a_closure_keeps_and_uses_again() {
    check(
        "function make(n)\n    cache = zeros(n)\n    function f(x)\n        for i in eachindex(x)\n            cache[i] = x[i] * x[i]\n        end\n        sum(cache)\n    end\n    f\nend\nconst f = make(2)\n",
        &[
            ("gradient(f, [1.0, 2.0])", "([2.0, 4.0],)"),
            ("gradient(f, [3.0, 2.0])", "([6.0, 4.0],)"),
            ("derivative(t -> f([t, t]), 3.0)", "12.0"),
        ],
    );
}

#[test]
fn a_global_array_that_is_written_to() {
    check(
        "const buffer = [0.0, 0.0]\n\
         f(x) = (buffer[1] = x * x; buffer[2] = buffer[1] * x; buffer[2])\n",
        &[
            ("gradient(f, 2.0)", "(12.0,)"),
            ("buffer", "[4.0, 8.0]"),
            ("gradient(f, 3.0)", "(27.0,)"),
        ],
    );
}

#[test]
fn an_error_in_the_middle_leaves_no_traces() {
    check(
        "function f(x, n)\n    s = 0.0\n    for i in 1:n\n        if i == 5\n            error(\"too far\")\n        end\n        s += x^i\n    end\n    s\nend\n",
        &[
            ("gradient(f, 2.0, 3)", "(17.0, nothing)"),
            ("gradient(f, 2.0, 7)", "error: too far"),
            ("gradient(f, 2.0, 3)", "(17.0, nothing)"),
        ],
    );
}

#[test]
fn arrays_that_change_places_in_a_loop() {
    check(
        "function f(x)\n    a, b = copy(x), zeros(length(x))\n    for k in 1:3\n        for i in eachindex(a)\n            b[i] = a[i] * a[i]\n        end\n        a, b = b, a\n    end\n    sum(a)\nend\n",
        &[("gradient(f, [2.0])", "([1024.0],)")],
    );
}

#[test]
fn each_derivative_has_its_own_shadows_of_globals() {
    check(
        "const box = [0.0, 0.0]\n\
         const cell = Ref(0.0)\n\
         weigh(x) = box[1] * x\n\
         through(x) = (box[1] = 2x; box[1] * 1.0)\n\
         read(x) = cell[] * x\n\
         store(x) = (cell[] = x * x; cell[] + box[2])\n\
         @noinline put(x) = (box[2] = x; nothing)\n\
         @noinline take() = box[2]\n\
         far(x) = (put(3x); take() * x)\n",
        &[
            // What the first one leaves in a shadow is not there for the second one.
            ("(gradient(weigh, 3.0), gradient(through, 3.0))", "((0.0,), (2.0,))"),
            (
                "(gradient(weigh, 1.0), gradient(weigh, 1.0), gradient(through, 1.0))",
                "((6.0,), (6.0,), (2.0,))",
            ),
            (
                "(gradient(read, 3.0), gradient(store, 3.0), gradient(store, 2.0))",
                "((0.0,), (6.0,), (4.0,))",
            ),
            (
                "(derivative(weigh, 3.0), derivative(through, 3.0), derivative(weigh, 3.0))",
                "(2.0, 2.0, 6.0)",
            ),
            // 3 x^2, twice
            ("(gradient(far, 2.0), gradient(far, 2.0))", "((12.0,), (12.0,))"),
        ],
    );
}

#[test]
fn derivatives_within_derivatives_have_their_own_shadows_of_globals() {
    check(
        "const box = [0.0, 0.0]\n\
         inner(x) = (box[1] = x * x; box[1] * x)\n\
         slope(x) = gradient(inner, x)[1]\n\
         beside(x) = (box[1] = 5x; a = box[1]; gradient(y -> box[1] * y, 2.0)[1] + a * x)\n\
         constant(x) = (g = gradient(inner, 2.0)[1]; box[1] = x; g * box[1])\n",
        &[
            // x^3: 3 x^2, 6 x.
            ("gradient(slope, 2.0)", "(12.0,)"),
            ("derivative(slope, 2.0)", "12.0"),
            ("gradient(x -> slope(x) + inner(x), 2.0)", "(24.0,)"),
            // The gradient within is 5 x: 5 x + 5 x^2.
            ("gradient(beside, 2.0)", "(25.0,)"),
            ("gradient(constant, 7.0)", "(12.0,)"),
            ("(gradient(slope, 2.0), gradient(slope, 2.0))", "((12.0,), (12.0,))"),
        ],
    );
}

#[test]
fn a_pullback_that_reads_a_global_gives_the_same_again() {
    check(
        "const box = [0.0]\n\
         f(x) = (box[1] = x * x; box[1] * x)\n\
         again(x) = (r = pullback(f, x); (r[2](1.0), r[2](1.0), r[2](2.0), gradient(f, x), r[2](1.0)))\n",
        &[("again(2.0)", "((12.0,), (12.0,), (24.0,), (12.0,), (12.0,))")],
    );
}
