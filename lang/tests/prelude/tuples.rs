use crate::check;

#[test]
fn elements_and_parts() {
    check(
        "t = (1, 2.5, :a)",
        &[
            ("t[1], t[end], t[2:3], length(t)", "(1, :a, (2.5, :a), 3)"),
            ("t[4]", "error: BoundsError"),
            ("first(t), last(t), Base.tail(t), Base.front(t)", "(1, :a, (2.5, :a), (1, 2.5))"),
            ("reverse(t), isempty(()), isempty(t)", "((:a, 2.5, 1), true, false)"),
            ("ntuple(i -> i^2, 4), ntuple(identity, Val(3))", "((1, 4, 9, 16), (1, 2, 3))"),
            ("(t..., 4), tuple(1, t...)", "((1, 2.5, :a, 4), (1, 1, 2.5, :a))"),
            ("eltype((1, 2)), eltype(())", "(Int64, Union{})"),
            ("Tuple([1, 2, 3]), Tuple(1:2)", "((1, 2, 3), (1, 2))"),
            ("let (a, b...) = (1, 2, 3); (a, b) end", "(1, (2, 3))"),
            ("let (a, b) = [4, 5]; a + b end", "9"),
        ],
    );
}

#[test]
fn maps_and_folds() {
    check(
        "",
        &[
            ("map(x -> 2x, (1, 2.5))", "(2, 5.0)"),
            ("map(+, (1, 2), (3, 4)), map(+, (1, 2), (3, 4, 5))", "((4, 6), (4, 6))"),
            ("map(+, (1, 2), (3, 4), (5, 6))", "(9, 12)"),
            ("sum((1, 2.5)), prod((2, 3)), sum(abs2, (1, 2, 3))", "(3.5, 6, 14)"),
            ("maximum((3, 1, 2)), minimum((3, 1, 2))", "(3, 1)"),
            (
                "any((true, false)), all((true, false)), any(x -> x > 2, (1, 2, 3))",
                "(true, false, true)",
            ),
            ("foldl(-, (1, 2, 3)), foldr(-, (1, 2, 3))", "(-4, 2)"),
            ("sum(ntuple(i -> 1.0 * i, 100))", "5050.0"),
            ("let s = 0; for x in (1, 2.5, 3) s += x end; s end", "6.5"),
        ],
    );
}

#[test]
fn comparison() {
    check(
        "",
        &[
            ("(1, 2) == (1.0, 2.0), (1, 2) == (1, 3), (1, 2) == (1, 2, 3)", "(true, false, false)"),
            ("(1, 2) < (1, 3), (2,) < (1, 3), isless((1,), (1, 2))", "(true, false, true)"),
            ("2 in (1, 2, 3), :b in (:a, :c), 2.0 ∈ (1, 2)", "(true, false, true)"),
            ("issubset((1, 2), (3, 2, 1)), issubset((:a,), (:b,))", "(true, false)"),
        ],
    );
}

#[test]
fn named_tuples() {
    check(
        "nt = (a = 1, b = 2.5)
         function permuted_map(f, x::NamedTuple{KX}, y::NamedTuple{KY}) where {KX, KY}
             @assert issubset(KX, KY)
             NamedTuple{KX}(map(k -> f(x[k], y[k]), KX))
         end",
        &[
            ("nt.a, nt[:b], nt[1], length(nt)", "(1, 2.5, 1, 2)"),
            (
                "keys(nt), values(nt), haskey(nt, :a), haskey(nt, :c)",
                "((:a, :b), (1, 2.5), true, false)",
            ),
            ("map(x -> 2x, nt)", "(a = 2, b = 5.0)"),
            ("merge(nt, (b = 3, c = 4))", "(a = 1, b = 3, c = 4)"),
            ("NamedTuple{(:x, :y)}((1, 2))", "(x = 1, y = 2)"),
            ("nt == (a = 1, b = 2.5), nt == (b = 2.5, a = 1)", "(true, false)"),
            ("permuted_map(+, (a = 1, b = 2), (b = 10, a = 20))", "(a = 21, b = 12)"),
            ("permuted_map(+, (a = 1, z = 2), (b = 10, a = 20))", "error: AssertionError"),
            ("let (; a, b) = nt; a + b end", "3.5"),
            ("propertynames(nt), get(nt, :q, 7)", "((:a, :b), 7)"),
            ("nt.q", "error: q"),
            ("let s = 0.0; for x in nt s += x end; s end", "3.5"),
        ],
    );
}
