use crate::check;

#[test]
fn functions_as_values() {
    check(
        "",
        &[
            (
                "identity(3), (abs ∘ sin)(-π/2), 4 |> sqrt, (sqrt ∘ abs ∘ -)(4)",
                "(3, 1.0, 2.0, 2.0)",
            ),
            (
                "filter(==(2), [1, 2]), filter(in((1, 3)), [1, 2, 3]), map(<(2), [1, 2])",
                "([2], [1, 3], Bool[1, 0])",
            ),
            (
                "ifelse(true, 1, 2), ifelse(false, 1, 2.5), isnothing(nothing), something(nothing, 3)",
                "(1, 2.5, true, 3)",
            ),
            ("Val(3) === Val{3}(), typeof(Val(:a)) == Val{:a}", "(true, true)"),
        ],
    );
}

#[test]
fn fields_and_refs() {
    check(
        "struct P\n x::Float64\n y::Int\nend\nmutable struct C\n n::Int\nend",
        &[
            (
                "P(1, 2).x, getfield(P(1, 2), :y), getfield(P(1, 2), 1), fieldnames(P)",
                "(1.0, 2, 1.0, (:x, :y))",
            ),
            ("let c = C(1); c.n = 5; c.n += 1; c.n end", "6"),
            ("let c = C(1); c.n = 2.0; c.n end", "2"),
            ("let c = C(1); c.n = 2.5; c.n end", "error: InexactError"),
            ("P(1, 2).z", "error: z"),
            ("let r = Ref(1); r[] = 5; r[] += 1; r[] end", "6"),
            ("let r = Ref{Float64}(1); r[] = 2; r[] end", "2.0"),
            ("let r = Ref{Any}(1); r[] = :a; r[] end", ":a"),
            (
                "fieldtype(P, :x), isa(1, Real), 1 isa Float64, Int <: Real, hasproperty(P(1, 2), :x)",
                "(Float64, true, false, true, true)",
            ),
            ("let n = 0; f() = (n += 1); f(); f(); n end", "2"),
        ],
    );
}

#[test]
fn errors() {
    check(
        "",
        &[
            ("error(\"bad \", 3)", "error: bad 3"),
            ("throw(ArgumentError(\"no\"))", "error: ArgumentError: no"),
            ("throw(DomainError(-1, \"msg\"))", "error: DomainError with -1"),
            ("@assert 1 > 2", "error: AssertionError: 1 > 2"),
            ("@assert 1 > 2 \"text\"", "error: AssertionError: text"),
            ("throw(DimensionMismatch(\"d\"))", "error: DimensionMismatch: d"),
            ("undefined_name", "error: undefined_name"),
        ],
    );
}

#[test]
fn text() {
    check(
        "",
        &[
            (
                "string(1, \" \", 2.5, :a), \"a\" * \"b\", \"ab\"^2, join([1, 2, 3], \", \")",
                "(\"1 2.5a\", \"ab\", \"abab\", \"1, 2, 3\")",
            ),
            (
                "string([1, 2]), string((1, 2.0)), string(nothing), string(π)",
                "(\"[1, 2]\", \"(1, 2.0)\", \"nothing\", \"π\")",
            ),
        ],
    );
}
