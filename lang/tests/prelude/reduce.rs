use crate::check;

#[test]
fn sums_and_folds() {
    check(
        "",
        &[
            ("sum([1, 2, 3]), sum([1.5, 2.5]), sum(Float64[]), sum(Int[])", "(6, 4.0, 0.0, 0)"),
            (
                "sum([true, true]), typeof(sum(Int32[1, 2])), prod([2, 3]), prod(Int[])",
                "(2, Int64, 6, 1)",
            ),
            ("sum(abs, [-1, 2]), sum(x -> 2x, 1:3), sum([-0.0])", "(3, 12, -0.0)"),
            ("sum([1 2; 3 4]), maximum([1 5; 3 4]), minimum([2.5, NaN])", "(10, 5, NaN)"),
            ("maximum(abs, [-3, 2]), extrema([3, 1, 2])", "(3, (1, 3))"),
            ("maximum(Int[])", "error: reducing over an empty collection is not allowed"),
            (
                "reduce(+, [1, 2, 3]), reduce(max, [1, 3, 2]), foldl(-, [1, 2, 3]), foldr(-, [1, 2, 3])",
                "(6, 3, -4, 2)",
            ),
            ("mapreduce(abs2, +, [1, 2, 3]), mapreduce(*, +, [1, 2], [3, 4])", "(14, 11)"),
            (
                "any([false, true]), all([true, true]), all(isodd, [1, 3]), any(iseven, Int[])",
                "(true, true, true, false)",
            ),
            ("count([true, false, true]), count(isodd, 1:5)", "(2, 3)"),
            ("sum(Any[1, 2.5]), sum([[1, 2], [3, 4]])", "(3.5, [4, 6])"),
        ],
    );
}

#[test]
fn vectors_are_joined() {
    check(
        "",
        &[
            (
                "reduce(hcat, [[1, 2], [3, 4]]), reduce(vcat, [[1, 2], Int[], [3]])",
                "([1 3; 2 4], [1, 2, 3])",
            ),
            (
                "size(reduce(hcat, [[1.5, 2.5]])), reduce(vcat, Vector{Float64}[])",
                "((2, 1), Float64[])",
            ),
            (
                "vcat([1], [2.5, 3.5]), vcat(1:2, [3]), typeof([Int[]; Float64[]])",
                "([1.0, 2.5, 3.5], [1, 2, 3], Vector{Float64})",
            ),
            (
                "reduce(hcat, [[1, 2], [3]])",
                "error: number of rows of each array must match (got (2, 1))",
            ),
            (
                "reduce(hcat, Vector{Int}[])",
                "error: reducing over an empty collection is not allowed",
            ),
        ],
    );
}

#[test]
fn maps() {
    check(
        "",
        &[
            (
                "map(x -> x + 1, [1, 2]), map(sqrt, [4, 9]), map(+, [1, 2], [10, 20])",
                "([2, 3], [2.0, 3.0], [11, 22])",
            ),
            ("map(x -> 2x, [1 2; 3 4]), map(x -> x, 3)", "([2 4; 6 8], 3)"),
            ("map(x -> x > 1 ? x : 0.5, [1, 2])[2], map(identity, Any[1, 2])", "(2, [1, 2])"),
            ("map(sin ∘ cos, [0.0]), map(x -> (x, 1), [1])", "([0.8414709848078965], [(1, 1)])"),
            (
                "map!(x -> 2x, zeros(2), [1, 2]), map!(+, zeros(2), [1, 2], [3, 4])",
                "([2.0, 4.0], [4.0, 6.0])",
            ),
            (
                "filter(isodd, 1:5), filter(x -> x > 1, [1.0, 2.0]), filter(isodd, (1, 2, 3))",
                "([1, 3, 5], [2.0], (1, 3))",
            ),
            ("filter!(isodd, [1, 2, 3])", "[1, 3]"),
            (
                "cumsum([1, 2, 3]), cumprod([1, 2, 3]), accumulate(max, [1, 3, 2]), diff([1, 4, 9])",
                "([1, 3, 6], [1, 2, 6], [1, 3, 3], [3, 5])",
            ),
            ("let s = 0; foreach(x -> s += x, [1, 2]); s end", "3"),
        ],
    );
}

#[test]
fn searches_and_statistics() {
    check(
        "",
        &[
            (
                "findfirst([false, true]), findfirst(isodd, [2, 3]), findfirst(isodd, [2])",
                "(2, 2, nothing)",
            ),
            (
                "findall([true, false, true]), findall(x -> x > 1, [1, 2, 3]), findlast(isodd, [1, 3, 4])",
                "([1, 3], [2, 3], 2)",
            ),
            (
                "argmax([1, 3, 2]), argmin([2, 1, 3]), findmax([1, 3, 2]), argmax([3, 3])",
                "(2, 2, (3, 2), 1)",
            ),
            (
                "mean([1, 2, 3]), mean(x -> 2x, [1, 2]), mean((1, 2)), var([1, 2, 3, 4]), std([1.0, 3.0])",
                "(2.0, 3.0, 1.5, 1.6666666666666667, 1.4142135623730951)",
            ),
            ("median([3, 1, 2]), median([1, 2, 3, 4])", "(2.0, 2.5)"),
        ],
    );
}
