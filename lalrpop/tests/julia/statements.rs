//! Control flow, blocks, declarations, macros.

use crate::check;

#[test]
fn branches() {
    check(&[
        ("if a\n b\nend", "(if a (block b))"),
        ("if a b else c end", "(if a (block b) (block c))"),
        ("if a; b; end", "(if a (block b))"),
        ("if a\n b\nelseif c\n d\nelse\n e\nend", "(if a (block b) (if c (block d) (block e)))"),
        ("if (a) (b) end", "(if a (block b))"),
        ("if a [1] end", "(if a (block (vect 1)))"),
        ("x = if a 1 else 2 end", "(= x (if a (block 1) (block 2)))"),
        ("if a\nend", "(if a (block))"),
        ("if a && !b\n c\nend", "(if (and a (call ! b)) (block c))"),
    ]);
}

#[test]
fn loops() {
    check(&[
        ("while a\n b\nend", "(while a (block b))"),
        ("while x < 3 x += 1 end", "(while (call < x 3) (block (+= x 1)))"),
        ("for i in 1:3\n f(i)\nend", "(for ((in i (call : 1 3))) (block (call f i)))"),
        ("for i = 1:3 f(i) end", "(for ((in i (call : 1 3))) (block (call f i)))"),
        ("for i ∈ xs; end", "(for ((in i xs)) (block))"),
        ("for i in a, j in b\n i\nend", "(for ((in i a) (in j b)) (block i))"),
        ("for i in a,\n j = b\n i\nend", "(for ((in i a) (in j b)) (block i))"),
        (
            "for (i, x) in enumerate(xs) x end",
            "(for ((in (tuple i x) (call enumerate xs))) (block x))",
        ),
        ("while true\n break\n continue\nend", "(while true (block (break) (continue)))"),
        (
            "for x in xs\n x in ys || continue\nend",
            "(for ((in x xs)) (block (or (call in x ys) (continue))))",
        ),
        (
            "for i in 1:n, j in 1:i a[i, j] = 0 end",
            "(for ((in i (call : 1 n)) (in j (call : 1 i))) (block (= (index a i j) 0)))",
        ),
    ]);
}

#[test]
fn errors_that_are_caught() {
    check(&[
        ("try\n a\ncatch e\n b\nend", "(try (block a) (catch e (block b)))"),
        ("try\n a\ncatch\n b\nend", "(try (block a) (catch (block b)))"),
        ("try a catch; b end", "(try (block a) (catch (block b)))"),
        ("try a catch e; b end", "(try (block a) (catch e (block b)))"),
        ("try a catch e end", "(try (block a) (catch e (block)))"),
        ("try a catch end", "(try (block a) (catch (block)))"),
        ("try a catch f(x) end", "(try (block a) (catch (block (call f x))))"),
        ("try\n a\ncatch e # why\n b\nend", "(try (block a) (catch e (block b)))"),
        (
            "x = try a catch e b else c end",
            "(= x (try (block a) (catch e (block b)) (else (block c))))",
        ),
        ("try\n a\nfinally\n b\nend", "(finally (block a) (block b))"),
        (
            "try\n a\ncatch e\n b\nelse\n c\nfinally\n d\nend",
            "(finally (try (block a) (catch e (block b)) (else (block c))) (block d))",
        ),
        (
            "if a\n try b catch; c end\nelse\n d\nend",
            "(if a (block (try (block b) (catch (block c)))) (block d))",
        ),
        ("f(try a catch; b end, c)", "(call f (try (block a) (catch (block b))) c)"),
    ]);
}

#[test]
fn blocks() {
    check(&[
        ("begin\n a\n b\nend", "(block a b)"),
        ("begin a; b end", "(block a b)"),
        ("(a; b)", "(block a b)"),
        ("(a;)", "(block a)"),
        ("let x = 1, y\n x\nend", "(let ((= x 1) y) (block x))"),
        ("let\n x\nend", "(let () (block x))"),
        ("let x = 1; x end", "(let ((= x 1)) (block x))"),
        ("let x\nend", "(let (x) (block))"),
        ("a; b\nc", "a\nb\nc"),
    ]);
}

#[test]
fn declarations() {
    check(&[
        ("local x", "(local x)"),
        ("local x, y", "(local x y)"),
        ("local x = 1", "(local (= x 1))"),
        ("local x::Int = 1", "(local (= (:: x Int) 1))"),
        ("local x, y = 1, 2", "(local (= (tuple x y) (tuple 1 2)))"),
        ("global x", "(global x)"),
        ("global x += 1", "(global (+= x 1))"),
        ("const N = 3", "(const (= N 3))"),
        ("const a, b = 1, 2", "(const (= (tuple a b) (tuple 1 2)))"),
        ("using LinearAlgebra", "(using (. LinearAlgebra))"),
        ("using A, Main.B # two", "(using (. A) (. Main B))"),
        ("using Base: f, g\nx", "(using (. Base) : (f g))\nx"),
        ("import Base: +, -,\n  f", "(import (. Base) : (+ - f))"),
        ("import Base.show", "(import (. Base show))"),
        ("import Base.:+", "(import (. Base +))"),
        ("using ..A.B: f as g, h", "(using (. .. A B) : ((= g f) h))"),
        ("import .A as B, .C", "(import (. . A) as B (. . C))"),
        ("module A\nexport f, +\nf(x) = x\nend", "(module A (export f +) (function f (x) x))"),
        ("baremodule A end", "(baremodule A)"),
    ]);
}

#[test]
fn tuples() {
    check(&[
        ("()", "(tuple)"),
        ("(a,)", "(tuple a)"),
        ("(a, b)", "(tuple a b)"),
        ("(a)", "a"),
        ("(a = 1,)", "(named (= a 1))"),
        ("(a = 1, b = 2)", "(named (= a 1) (= b 2))"),
        ("(; a, b)", "(named a b)"),
        ("(; a = 1, x.b)", "(named (= a 1) (. x b))"),
        ("(;)", "(named)"),
        ("a, b", "(tuple a b)"),
        ("return a, b", "(return (tuple a b))"),
        ("((a, b), c) = t", "(= (tuple (tuple a b) c) t)"),
        ("(a = 1)", "(block (= a 1))"),
    ]);
}

#[test]
fn macros() {
    check(&[
        ("@inbounds x[i] = 1", "(inbounds (= (index x i) 1))"),
        ("@inbounds a, b = b, a", "(inbounds (= (tuple a b) (tuple b a)))"),
        ("@inbounds begin\n a\nend", "(inbounds (block a))"),
        ("@inbounds @simd for i in a\n i\nend", "(inbounds (simd (for ((in i a)) (block i))))"),
        ("@simd for i in a i end", "(simd (for ((in i a)) (block i)))"),
        ("y = @inbounds x[1]", "(= y (inbounds (index x 1)))"),
        ("@inbounds(x[1]) + 2", "(call + (inbounds (index x 1)) 2)"),
        ("@inbounds return x[1]", "(inbounds (return (index x 1)))"),
        ("@view a[1, :]", "(view (index a 1 COLON))"),
        ("sum(@view a[i:end]) + 1", "(call + (call sum (view (index a (call : i END)))) 1)"),
        ("@view(a[2:3])[1]", "(index (view (index a (call : 2 3))) 1)"),
        ("@inbounds(x[1])[2]", "(index (inbounds (index x 1)) 2)"),
        ("@view(a[1]) .= 2", "(.= (view (index a 1)) 2)"),
        ("@assert a", "(assert a)"),
        ("@assert a == b \"no\"", "(assert (call == a b) \"no\")"),
        ("@assert(a, \"no\")", "(assert a \"no\")"),
        ("@assert (a, b) == c", "(assert (call == (tuple a b) c))"),
        ("@goto l\n@label l", "(goto l)\n(label l)"),
        ("a && @goto l", "(and a (goto l))"),
        ("@inline f(x) = x", "(function inline f (x) x)"),
        ("x = @inline f(y)", "(= x (call f y))"),
    ]);
}
