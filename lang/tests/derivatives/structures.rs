//! Structs, mutation, arrays.

use super::{check, modes_agree};

#[test]
fn structs_and_their_fields() {
    check(
        "struct P\n    x::Float64\n    y::Float64\nend\n\
         f(a, b) = (p = P(a, b); p.x * p.y)\n\
         mutable struct M\n    x::Float64\n    n::Int\nend\n\
         g(a) = (m = M(a, 2); m.x = m.x * m.n; m.n += 1; m.x * m.n)\n",
        &[
            ("gradient(f, 3.0, 2.0)", "(2.0, 3.0)"),
            ("gradient(p -> p.x^2 * p.y, P(3.0, 2.0))", "((x = 12.0, y = 9.0),)"),
            ("gradient(g, 5.0)", "(6.0,)"),
            ("derivative(g, 5.0)", "6.0"),
        ],
    );
}

#[test]
fn arrays_that_are_written_to() {
    check(
        "f!(x) = (x[1] = sin(x[2]); x[1] * x[2])\n\
         g(x) = (y = copy(x); y[1] = 2 * y[2]; y[2] = y[1] * y[1]; y[1] + y[2])\n\
         h(x) = (y = zeros(length(x)); for n in eachindex(x) y[n] = sin(cos(exp(x[n]))) end; sum(y))\n\
         clobber!(x) = (x[1] = 0.0; x[2])\n",
        &[
            ("gradient(x -> f!(copy(x)), [5.0, 1.0])[1] ≈ [0.0, sin(1.0) + cos(1.0)]", "true"),
            ("gradient(f!, [5.0, 1.0])[1][2] ≈ sin(1.0) + cos(1.0)", "true"),
            ("x = [5.0, 1.0]; gradient(f!, x); x == [sin(1.0), 1.0]", "true"),
            ("gradient(g, [1.0, 3.0])", "([0.0, 26.0],)"),
            ("gradient(h, [0.1])[1] ≈ [-cos(cos(exp(0.1))) * sin(exp(0.1)) * exp(0.1)]", "true"),
            ("gradient(x -> x[1] * clobber!(x), [3.0, 4.0])", "([4.0, 3.0],)"),
        ],
    );
}

#[test]
fn products_of_matrices() {
    check(
        "function mul!(c, a, b)\n    for j in 1:size(b, 2), i in 1:size(a, 1)\n        s = 0.0\n        for k in 1:size(a, 2)\n            s += a[i, k] * b[k, j]\n        end\n        c[i, j] = s\n    end\n    c\nend\n\
         f(a, b) = sum(mul!(zeros(size(a, 1), size(b, 2)), a, b))\n",
        &[
            (
                "gradient(f, [1.0 2.0; 3.0 4.0], [5.0 6.0; 7.0 8.0])",
                "([11.0 15.0; 11.0 15.0], [4.0 4.0; 6.0 6.0])",
            ),
            ("gradient(a -> f(a, a), [1.0 2.0; 3.0 4.0])", "([7.0 11.0; 9.0 13.0],)"),
            (
                "gradient((a, b) -> sum(a * b), [1.0 2.0; 3.0 4.0], [5.0, 6.0])",
                "([5.0 6.0; 5.0 6.0], [4.0, 6.0])",
            ),
        ],
    );
}

#[test]
fn maps_and_broadcasts_and_comprehensions() {
    check(
        "",
        &[
            ("gradient(x -> sum(map(v -> v * v, x)), [1.0, 2.0])", "([2.0, 4.0],)"),
            (
                "gradient((x, y) -> sum(map((a, b) -> a * b, x, y)), [1.0, 2.0], [3.0, 4.0])",
                "([3.0, 4.0], [1.0, 2.0])",
            ),
            ("gradient(x -> sum(x .* x .+ 1.0), [1.0, 2.0])", "([2.0, 4.0],)"),
            ("gradient(x -> sum([v * v for v in x]), [1.0, 2.0])", "([2.0, 4.0],)"),
            ("gradient(x -> sum(v * v for v in x), [1.0, 2.0])", "([2.0, 4.0],)"),
            ("gradient((x, s) -> sum(x .* s), [1.0, 2.0], 3.0)", "([3.0, 3.0], 3.0)"),
            ("gradient(x -> sum(abs2, x[2:end]), [1.0, 2.0, 3.0])", "([0.0, 4.0, 6.0],)"),
            ("gradient(x -> maximum(x), [1.0, 5.0, 3.0])", "([0.0, 1.0, 0.0],)"),
            ("gradient(x -> prod(x), [2.0, 5.0, 3.0])", "([15.0, 6.0, 10.0],)"),
        ],
    );
}

#[test]
fn tangents_have_the_shape_of_arguments() {
    check(
        "f(t) = t[1] * sum(t[2].w) + t[2].b\n",
        &[("gradient(f, (2.0, (w = [1.0, 3.0], b = 7.0)))", "((4.0, (w = [2.0, 2.0], b = 1.0)),)")],
    );
}

/// A chain of masses between springs, which loops move; one of them is taken out of the array and put back, and two of them are
/// one object for a time. The derivative of a field that was overwritten is none of the new one.
#[test]
fn mutable_structs_in_an_array() {
    modes_agree(
        "mutable struct Mass
            x::Float64
            v::Float64
        end
        function chain(k, steps)
            n = length(k)
            ms = [Mass(i + 0.1sin(i), 0.1i) for i in 1:n]
            for s in 1:steps
                for i in 2:n-1
                    f = k[i] * (ms[i+1].x - ms[i].x - 1) - k[i-1] * (ms[i].x - ms[i-1].x - 1)
                    ms[i].v += 0.1f
                end
                for m in ms
                    m.x += 0.1m.v
                end
                first = ms[1]
                ms[1] = ms[n]
                ms[1].v = 0.5k[1] * ms[n].x
                ms[n] = first
            end
            sum(m -> m.v^2 + m.x, ms)
        end",
        &["chain([1.0, 1.5, 0.5, 2.0], 1)", "chain([1.0, 1.5, 0.5, 2.0], 7)"],
    );
}
