//! Definitions of functions and types.

use crate::check;

#[test]
fn long_form() {
    check(&[
        ("function f(x, y)\n x + y\nend", "(function f (x y) (block (call + x y)))"),
        ("function f() end", "(function f () (block))"),
        ("function f end", "(function f () NONE)"),
        ("function f(x) x end", "(function f (x) (block x))"),
        ("function f(x) -x end", "(function f (x) (block (call - x)))"),
        ("function f(x); x; end", "(function f (x) (block x))"),
        (
            "function f(x::T)::R where {T<:Real}\nend",
            "(function f ((:: x T)) (:: R) (where (call <: T Real)) (block))",
        ),
        ("function f(x) where T where S\nend", "(function f (x) (where T S) (block))"),
        (
            "function f(a, b = 1, c::Int = 2)\nend",
            "(function f (a (= b 1) (= (:: c Int) 2)) (block))",
        ),
        (
            "function f(::Type{T}, xs...) where T\nend",
            "(function f ((:: (curly Type T)) (... xs)) (where T) (block))",
        ),
        ("function f(xs::T...)\nend", "(function f ((... (:: xs T))) (block))"),
        ("function f((a, b), c)\nend", "(function f ((tuple a b) c) (block))"),
        ("function Base.show(x)\nend", "(function (. Base show) (x) (block))"),
        ("function Base.:+(a, b)\nend", "(function (. Base +) (a b) (block))"),
        ("function +(a, b)\nend", "(function + (a b) (block))"),
        ("function (p::P)(x)\n x\nend", "(function (:: p P) (x) (block x))"),
        ("function P{T}(x) where T\n x\nend", "(function (curly P T) (x) (where T) (block x))"),
        (
            "function (::Type{T})(x) where T\nend",
            "(function (:: (curly Type T)) (x) (where T) (block))",
        ),
        ("@inline function f(x)\n x\nend", "(function inline f (x) (block x))"),
        ("@noinline f(x) = x", "(function noinline f (x) x)"),
        ("function f(x)\n return x,\n  1\nend", "(function f (x) (block (return (tuple x 1))))"),
    ]);
}

#[test]
fn short_form() {
    check(&[
        ("f(x) = x + 1", "(function f (x) (call + x 1))"),
        ("f(x::T) where T = x", "(function f ((:: x T)) (where T) x)"),
        ("f(x::T) where {T<:A, S} = x", "(function f ((:: x T)) (where (call <: T A) S) x)"),
        ("f(x)::R = x", "(function f (x) (:: R) x)"),
        ("(f(x)::R) where T = x", "(function f (x) (:: R) (where T) x)"),
        ("f(x, y = 1) = x", "(function f (x (= y 1)) x)"),
        ("Base.:+(a::P, b::P) = a", "(function (. Base +) ((:: a P) (:: b P)) a)"),
        ("+(a::P, b::P) = a", "(function + ((:: a P) (:: b P)) a)"),
        ("-(a::P) = a", "(function - ((:: a P)) a)"),
        ("a ∘ b = c", "(function ∘ (a b) c)"),
        ("(p::P)(x) = p", "(function (:: p P) (x) p)"),
        ("P{T}(x) where T = x", "(function (curly P T) (x) (where T) x)"),
        ("f(x) = (a; b)", "(function f (x) (block a b))"),
        ("f(x) = begin\n x\nend", "(function f (x) (block x))"),
        ("f() = g() = 1", "(function f () (function g () 1))"),
    ]);
}

#[test]
fn anonymous_form() {
    check(&[
        ("x -> x + 1", "(-> (x) (call + x 1))"),
        ("() -> 1", "(-> () 1)"),
        ("(x, y) -> x", "(-> (x y) x)"),
        ("(x::Int) -> x", "(-> ((:: x Int)) x)"),
        ("x::Int -> x", "(-> ((:: x Int)) x)"),
        ("((a, b), c) -> a", "(-> ((tuple a b) c) a)"),
        ("((a, b),) -> a", "(-> ((tuple a b)) a)"),
        ("(x, y = 1) -> x", "(-> (x (= y 1)) x)"),
        ("(x = 1) -> x", "(-> ((= x 1)) x)"),
        ("(xs...) -> xs", "(-> ((... xs)) xs)"),
        ("x -> y -> x", "(-> (x) (-> (y) x))"),
        ("x -> begin\n x\nend", "(-> (x) (block x))"),
        ("function (x)\n x\nend", "(-> (x) (block x))"),
        ("function (x, y) x end", "(-> (x y) (block x))"),
        ("function (x::Int)::Int\n x\nend", "(-> ((:: x Int)) (:: Int) (block x))"),
        ("map(function (x) x end, xs)", "(call map (-> (x) (block x)) xs)"),
    ]);
}

#[test]
fn types() {
    check(&[
        ("struct P end", "(struct P)"),
        ("struct P\n x\n y::T\nend", "(struct P x (:: y T))"),
        (
            "struct P{T<:Real} <: N\n x::T\nend",
            "(struct P (curly (call <: T Real)) (<: N) (:: x T))",
        ),
        ("mutable struct C; x::Int; end", "(mutable C (:: x Int))"),
        (
            "struct P\n x\n P(x) = new(x)\n function P()\n new(1)\n end\nend",
            "(struct P x (function P (x) (call new x)) (function P () (block (call new 1))))",
        ),
        (
            "struct P{T}\n x::T\n P{T}(x) where T = new{T}(x)\nend",
            "(struct P (curly T) (:: x T) (function (curly P T) (x) (where T) (call (curly new T) x)))",
        ),
        ("abstract type A end", "(abstract A)"),
        ("abstract type A{T} <: B{T} end", "(abstract A (curly T) (<: (curly B T)))"),
    ]);
}
