//! Programs with the prelude, inferred, verified and run: values as Julia has them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::text::Text;

/// Programs, each in a world of its own, and what Julia shows as their value.
const PROGRAMS: &[(&str, &str)] = &[
    ("fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)\nfib(15)", "610"),
    ("sum([1.0, 2.0, 3.0])", "6.0"),
    ("sum(x^2 for x in 1:10)", "385"),
    ("map(x -> x + 1, [1, 2, 3])", "[2, 3, 4]"),
    ("struct P\n x::Float64\n y::Int64\nend\np = P(1, 2)\np.x + p.y", "3.0"),
    ("struct Q{T}\n x::T\nend\nf(q::Q{T}) where T = T\nf(Q(1.5))", "Float64"),
    ("mutable struct C\n n::Int64\nend\nc = C(1)\nc.n += 2\nc.n", "3"),
    ("struct R\n x::Real\nend\nr = R(2)\nr.x * 2", "4"),
    (
        "function counter()\n n = 0\n step() = (n += 1; n)\n step()\n step()\n n\nend\ncounter()",
        "2",
    ),
    (
        "function f()\n a, b = (1, 2.5)\n (; c, d) = (c = 3, d = 4)\n a + b + c + d\nend\nf()",
        "10.5",
    ),
    ("f(x::Vector{T}) where {T<:Real} = T\nf([1, 2])", "Int64"),
    ("x = [1.0, 2.0]\ny = x .* 2 .+ 1\ny", "[3.0, 5.0]"),
    ("v = Any[1, 2.0, \"a\"]\ntypeof(v[2])", "Float64"),
    (
        "g(x::Int64) = 1\ng(x::Float64) = 2\ng(x) = 3\nh(v) = sum(g(x) for x in v)\nh(Any[1, 2.0, nothing])",
        "6",
    ),
    ("h(::Val{N}) where N = N + 1\nh(Val(3))", "4"),
    ("s(xs...) = length(xs)\ns((1, 2)..., 3)", "3"),
    ("s(xs...) = length(xs)\ns([1, 2, 3]...)", "3"),
    ("f(x) = (t = 0; while true\n t += x\n t > 10 && break\n end; t)\nf(3)", "12"),
    ("f(x) = x isa Real ? 1 : 2\n(f(1), f(\"a\"))", "(1, 2)"),
    ("f(x) = typeof(x) === Int64\nv = Any[1, 1.0]\n(f(v[1]), f(v[2]))", "(true, false)"),
    (
        "function permuted_map(f, x::NamedTuple{KX}, y::NamedTuple{KY}) where {KX, KY}
    @assert issubset(KX,KY)
    NamedTuple{KX}(map(k -> f(x[k], y[k]), KX))
end
permuted_map(+, (a = 1, b = 2.0), (b = 3.0, a = 4))",
        "(a = 5, b = 5.0)",
    ),
    (
        "even(n) = n == 0 ? true : odd(n - 1)\nodd(n) = n == 0 ? false : even(n - 1)\neven(10)",
        "true",
    ),
    ("g(t, n) = n == 0 ? length(t) : g((t..., n), n - 1)\ng((), 12)", "12"),
    ("depth(t, n) = n == 0 ? n : depth((t, 1), n - 1)\ndepth(1, 20)", "0"),
    ("f(n) = n == 0 ? (0,) : (n, f(n - 1)...)\nlength(f(10))", "11"),
    ("f(x::Int64)::Float64 = x\nf(2)", "2.0"),
    ("compose(f, g) = x -> f(g(x))\ncompose(sqrt, abs)(-4.0)", "2.0"),
    ("f() = g()\ng() = 1\na = f()\ng() = 2.5\n(a, f())", "(1, 2.5)"),
    ("f(x) = h(x)\nh(x) = 1\na = f(1)\nh(x::Int64) = 2\n(a, f(1), f(1.0))", "(1, 2, 1)"),
    ("A = [1 2; 3 4]\nA * A", "[7 10; 15 22]"),
    ("f(x, y) = x + y\nreduce(f, [1, 2, 3])", "6"),
    ("x = Ref(1)\nx[] += 2\nx[]", "3"),
    ("ops = (+, *, -)\n[op(5, 3) for op in ops]", "[8, 15, 2]"),
    ("convert(Float64, 3) isa Float64", "true"),
    ("f(::Type{T}, x) where T = convert(T, x)\nf(Int64, 2.0)", "2"),
    ("total = 0\nfor i in 1:4\n global total += i\nend\ntotal", "10"),
    ("xs = Float64[]\npush!(xs, 1)\npush!(xs, 2)\nxs", "[1.0, 2.0]"),
    ("[i * j for i in 1:2, j in 1:2]", "[1 2; 2 4]"),
    ("map(+, (1, 2), (3.0, 4))", "(4.0, 6)"),
    ("any(x -> x > 2, [1, 2, 3])", "true"),
    ("let x = 3\n f = y -> x + y\n f(4)\nend", "7"),
    ("maximum(abs, [-3, 2])", "3"),
    ("f(x) = x > 0 ? 1 : 2.0\nf(1) + f(-1)", "3.0"),
    ("x = [1.0, 2.0]\ny = [0.0, 0.0]\ny .= x .* x .+ 1\ny", "[2.0, 5.0]"),
    (
        "struct S{T<:Real}\n a::T\n b::T\nend\nBase.:+(x::S, y::S) = S(x.a + y.a, x.b + y.b)\nsum([S(1, 2), S(3, 4)]).b",
        "6",
    ),
    (
        "abstract type Shape end\nstruct Sq <: Shape\n s::Float64\nend\nstruct Ci <: Shape\n r::Float64\nend\narea(x::Sq) = x.s^2\narea(x::Ci) = 3 * x.r^2\nsum(area(s) for s in [Sq(2.0), Ci(1.0)])",
        "7.0",
    ),
    ("f(x) = (y = x; y = y + 1; g = () -> y; g())\nf(1)", "2"),
    ("x = 1:10\nsum(x[2:3:end])", "15"),
    ("f(t::Tuple) = isempty(t) ? 0 : t[1] + f(Base.tail(t))\nf((1, 2, 3))", "6"),
    ("f(x, ys...) = isempty(ys) ? x : x + f(ys...)\nf(1, 2, 3.5)", "6.5"),
    ("if [true][1]\n 1\nelse\n 2\nend", "1"),
    ("v = Any[true]\nf(v) = v[1] ? 1 : 2\nf(v)", "1"),
    ("f(x) = (@inbounds s = x[1] + x[2]; s)\nf([1, 2])", "3"),
    ("zip([1, 2], (3, 4)) |> collect", "[(1, 3), (2, 4)]"),
    ("[x for x in 1:6 if x % 2 == 0]", "[2, 4, 6]"),
    ("function f(n)\n x = 1\n for i in 1:n\n  x = x / 2\n end\n x\nend\nf(2)", "0.25"),
];

#[test]
fn programs_have_the_values_that_julia_gives() {
    let mut wrong = Vec::new();
    for (source, expected) in PROGRAMS {
        let result = catch_unwind(AssertUnwindSafe(|| Text::new().shown(source)));
        match result {
            Ok(shown) if shown == *expected => {}
            Ok(shown) => wrong.push(format!("{source}\n  gives {shown}, Julia {expected}")),
            Err(panic) => {
                let message = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
                let message: String = message.unwrap_or_default().chars().take(1500).collect();
                wrong.push(format!("{source}\n  fails: {message}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n----\n"));
}

/// The ops of a function, in order.
fn ops(code: &str) -> Vec<&str> {
    code.lines().filter_map(|line| line.split(" = ").nth(1)?.split(' ').next()).collect()
}

#[test]
fn loops_over_arrays_and_ranges_are_counted_loops_of_ops() {
    let mut text = Text::new();
    let code = text.code(
        "function foo!(y::Vector{Float64}, x::Vector{Float64})
    @inbounds @simd for n in eachindex(x)
        y[n] = y[n] + x[n]
    end
    return y
end
foo!([1.0], [2.0])",
        "foo!(Vector{Float64}, Vector{Float64})",
    );
    let all = ops(&code);
    let expected = [
        "mem.length",
        "arith.ge",
        "arith.add",
        "mem.load",
        "mem.load",
        "arith.add",
        "mem.store",
        "arith.add",
    ];
    assert_eq!(all, expected, "{code}");
}

#[test]
fn calls_with_values_of_a_few_types_are_direct() {
    let mut text = Text::new();
    let code = text.code(
        "struct Tree
    v::Float64
    left::Union{Tree, Nothing}
    right::Union{Tree, Nothing}
end
total(::Nothing) = 0.0
total(t::Tree) = t.v + total(t.left) + total(t.right)
grow(n) = n == 0 ? nothing : Tree(n, grow(n - 1), grow(n - 1))
total(grow(2))",
        "total(Tree)",
    );
    assert_eq!(code.matches("call @\"total(Tree)\"").count(), 2, "{code}");
    assert_eq!(code.matches("core.isa").count(), 2, "{code}");
    assert!(!code.contains("core.apply"), "{code}");
    // A value that is passed twice is tested once.
    let code = text.code(
        "function squared(n)
    x = 1
    for i in 1:n
        x = i > 3 ? x * x : 0.5
    end
    return x
end
squared(5)",
        "squared(Int64)",
    );
    assert_eq!(code.matches("core.isa").count(), 1, "{code}");
    assert!(!code.contains("core.apply"), "{code}");
}
