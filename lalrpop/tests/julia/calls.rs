//! Calls, indices, fields, splats, broadcasting.

use crate::check;

#[test]
fn calls() {
    check(&[
        ("f()", "(call f)"),
        ("f(x)(y)", "(call (call f x) y)"),
        ("f(x, y,)", "(call f x y)"),
        ("f(\n  x,\n  y\n)", "(call f x y)"),
        ("f(xs...)", "(call f (... xs))"),
        ("f(a, b + c...)", "(call f a (... (call + b c)))"),
        ("push!(v, 1)", "(call push! v 1)"),
        ("+(a, b)", "(call + a b)"),
        ("*(a, b)^2", "(call ^ (call * a b) 2)"),
        ("-(a, b)^2", "(call ^ (call - a b) 2)"),
        ("-(a)^2", "(call - (call ^ a 2))"),
        ("+(xs...)", "(call + (... xs))"),
        ("==(a, b)", "(call == a b)"),
        ("reduce(+, xs)", "(call reduce + xs)"),
        ("op = +", "(= op +)"),
        ("(+)(a, b)", "(call + a b)"),
        ("f(:, 1)", "(call f COLON 1)"),
        ("(:)(1, 2)", "(call : 1 2)"),
        ("in(x, xs)", "(call in x xs)"),
        ("isa(x, T)", "(call isa x T)"),
        ("f(x) do y\n y + 1\nend", "(call f (-> (y) (block (call + y 1))) x)"),
        ("f() do\n 1\nend", "(call f (-> () (block 1)))"),
        ("f(xs) do (a, b), c\n a\nend", "(call f (-> ((tuple a b) c) (block a)) xs)"),
        ("f((a = 1))", "(call f (block (= a 1)))"),
        ("f(x -> x, 1)", "(call f (-> (x) x) 1)"),
        ("f(a ? b : c, d)", "(call f (if a b c) d)"),
    ]);
}

#[test]
fn indices() {
    check(&[
        ("a[i, j]", "(index a i j)"),
        ("r[]", "(index r)"),
        ("a[end]", "(index a END)"),
        ("a[end-1, begin]", "(index a (call - END 1) BEGIN)"),
        ("a[(end + 1) ÷ 2]", "(index a (call ÷ (call + END 1) 2))"),
        ("a[min(end, 3)]", "(index a (call min END 3))"),
        ("a[b[end]]", "(index a (index b END))"),
        ("a[:, 1]", "(index a COLON 1)"),
        ("a[2:end]", "(index a (call : 2 END))"),
        ("a[i - 1]", "(index a (call - i 1))"),
        ("a[i-1]", "(index a (call - i 1))"),
        ("a[is...]", "(index a (... is))"),
        ("a[[1, end]]", "(index a (vect 1 END))"),
        ("Float64[1, 2]", "(index Float64 1 2)"),
        ("f(x)[1].y", "(. (index (call f x) 1) y)"),
        ("x[\n 1,\n 2\n]", "(index x 1 2)"),
        ("x[if c 1 else 2 end]", "(index x (if c (block 1) (block 2)))"),
    ]);
}

#[test]
fn fields_and_names_of_modules() {
    check(&[
        ("a.b.c", "(. (. a b) c)"),
        ("Base.sum(x)", "(call (. Base sum) x)"),
        ("Base.:+", "(. Base +)"),
        ("Base.:(==)", "(. Base ==)"),
        ("x.end", "(. x end)"),
        ("x.y'", "(call ' (. x y))"),
    ]);
}

#[test]
fn dots() {
    check(&[
        ("f.(x, y)", "(dot f x y)"),
        ("x .^ 2", "(dot ^ x 2)"),
        (".-x", "(dot - x)"),
        (".!x", "(dot ! x)"),
        ("sin.(x) .+ 1", "(dot + (dot sin x) 1)"),
        ("x .= a .* b .+ 1", "(.= x (dot + (dot * a b) 1))"),
        ("x[:, i] .+= v", "(.+= (index x COLON i) v)"),
        ("a.b.(c)", "(dot (. a b) c)"),
        ("2 .* x", "(dot * 2 x)"),
        ("x .== y", "(dot == x y)"),
        ("x .|> f", "(dot |> x f)"),
    ]);
}

#[test]
fn chains_go_on_after_operators_and_commas() {
    check(&[
        ("x = a +\n  b", "(= x (call + a b))"),
        ("x =\n  b", "(= x b)"),
        ("a &&\n b", "(and a b)"),
        ("c ?\n a :\n b", "(if c a b)"),
        ("a,\nb = t", "(= (tuple a b) t)"),
        ("(a\n + b)", "(call + a b)"),
        ("a # one\n+ b", "a\n(call + b)"),
    ]);
}
