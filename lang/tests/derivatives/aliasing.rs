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
