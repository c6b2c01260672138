use crate::check;

#[test]
fn making() {
    check(
        "",
        &[
            (
                "zeros(2), zeros(Int, 2), ones(2), fill(7, 3)",
                "([0.0, 0.0], [0, 0], [1.0, 1.0], [7, 7, 7])",
            ),
            (
                "zeros(2, 2), zeros((1, 2)), ones(Int, 1, 2)",
                "([0.0 0.0; 0.0 0.0], [0.0 0.0], [1 1])",
            ),
            (
                "[1, 2.5], [1, 2], [true, 2], Float64[1, 2]",
                "([1.0, 2.5], [1, 2], [1, 2], [1.0, 2.0])",
            ),
            ("[1, \"a\"], [], Int[]", "(Any[1, \"a\"], Any[], Int64[])"),
            ("[1 2; 3 4], [1 2], [1; 2], [[1, 2]; 3]", "([1 2; 3 4], [1 2], [1, 2], [1, 2, 3])"),
            ("[[1 2]; [3 4]], [[1, 2] [3, 4]], [1 2.5]", "([1 2; 3 4], [1 3; 2 4], [1.0 2.5])"),
            (
                "[zeros(2, 2) ones(2); 1 2 3], vcat([1.0 2.0], [3 4])",
                "([0.0 0.0 1.0; 0.0 0.0 1.0; 1.0 2.0 3.0], [1.0 2.0; 3.0 4.0])",
            ),
            (
                "try [[1, 2] [3]] catch e; e.msg end",
                "\"number of rows of each array must match (got (2, 1))\"",
            ),
            ("try [1 2; 3] catch e; e.msg end", "\"row 2 has 1 columns, the first row 2\""),
            (
                "try hvcat((2, 2), 1, 2, 3) catch e; e.msg end",
                "\"argument count does not match specified shape (expected 4, got 3)\"",
            ),
            (
                "Float32[1 2; 3 4], typeof([1 2im])",
                "(Float32[1.0 2.0; 3.0 4.0], Matrix{Complex{Int64}})",
            ),
            (
                "hcat([1, 2], [3, 4]), vcat([1], [2, 3]), vcat(1, 2)",
                "([1 3; 2 4], [1, 2, 3], [1, 2])",
            ),
            ("length(Vector{Float64}(undef, 3)), size(Matrix{Int}(undef, 2, 3))", "(3, (2, 3))"),
            (
                "size(Array{Float64}(undef, 2, 3, 4)), size(Array{Int, 2}(undef, 1, 2))",
                "((2, 3, 4), (1, 2))",
            ),
            (
                "similar([1, 2]) |> length, size(similar([1 2; 3 4])), eltype(similar([1], Float64))",
                "(2, (2, 2), Float64)",
            ),
            (
                "copy([1, 2]), collect(1:3), Vector{Float64}([1, 2])",
                "([1, 2], [1, 2, 3], [1.0, 2.0])",
            ),
            ("let a = [1, 2]; b = copy(a); b[1] = 5; (a, b) end", "([1, 2], [5, 2])"),
            ("fill!(zeros(2), 3), copyto!(zeros(3), [1.0, 2.0])", "([3.0, 3.0], [1.0, 2.0, 0.0])"),
            ("[x^2 for x in 1:3], [i + j for i in 1:2, j in 1:3]", "([1, 4, 9], [2 3 4; 3 4 5])"),
            (
                "[x for x in 1:6 if iseven(x)], [(i, j) for i in 1:2 for j in 1:i]",
                "([2, 4, 6], [(1, 1), (2, 1), (2, 2)])",
            ),
            ("let a = [x > 1 ? x : 0.5 for x in 1:2]; (a[1], a[2]) end", "(0.5, 2)"),
            ("Float64[i for i in 1:2]", "[1.0, 2.0]"),
            ("zeros(-1)", "error: ArgumentError"),
        ],
    );
}

#[test]
fn shape() {
    check(
        "a = [1 2 3; 4 5 6]",
        &[
            (
                "size(a), size(a, 1), size(a, 3), length(a), ndims(a), eltype(a)",
                "((2, 3), 2, 1, 6, 2, Int64)",
            ),
            ("lastindex(a), lastindex(a, 2), collect(eachindex([5, 6]))", "(6, 3, [1, 2])"),
            ("collect(axes(a, 2)), isempty(Int[]), isempty(a)", "([1, 2, 3], true, false)"),
            ("first(a), last(a)", "(1, 6)"),
            ("vec(a) == [1, 4, 2, 5, 3, 6], collect(reshape(a, 3, 2))", "(true, [1 5; 4 3; 2 6])"),
            ("collect(reshape(1:4, 2, :)), size(reshape(a, (6,)))", "([1 3; 2 4], (6,))"),
            ("reshape(a, 4, 2)", "error: DimensionMismatch"),
            ("let b = copy(a); v = vec(b); v[2] = 9; b end", "[1 2 3; 9 5 6]"),
            (
                "permutedims(a), collect(a'), collect(transpose([1, 2]))",
                "([1 4; 2 5; 3 6], [1 4; 2 5; 3 6], [1 2])",
            ),
        ],
    );
}

#[test]
fn elements() {
    check(
        "a = [1 2 3; 4 5 6]\nv = [10, 20, 30]",
        &[
            ("v[1], v[end], v[end - 1], a[2, 3], a[end, 1], a[3]", "(10, 30, 20, 6, 4, 2)"),
            (
                "v[2:3], v[[3, 1]], v[:], v[v .> 10], v[1:0]",
                "([20, 30], [30, 10], [10, 20, 30], [20, 30], Int64[])",
            ),
            (
                "a[1, :], a[:, 2], a[:, 2:3], a[2, [1, 3]], a[:]",
                "([1, 2, 3], [2, 5], [2 3; 5 6], [4, 6], [1, 4, 2, 5, 3, 6])",
            ),
            ("a[:, [true, false, true]], a[a .> 4]", "([1 3; 4 6], [5, 6])"),
            ("v[4]", "error: BoundsError"),
            ("v[0]", "error: BoundsError"),
            ("a[3, 1]", "error: BoundsError"),
            ("v[2:4]", "error: BoundsError"),
            ("let w = copy(v); w[2] = 5; w[3] += 1; w end", "[10, 5, 31]"),
            ("let w = copy(v); w[1:2] = [7, 8]; w end", "[7, 8, 30]"),
            ("let w = zeros(2, 2); w[1, :] = [1, 2]; w[2, 2] = 9; w end", "[1.0 2.0; 0.0 9.0]"),
            ("let w = copy(v); w[1] = 2.5; w end", "error: InexactError"),
            ("let w = copy(v); w[1:2] = [1, 2, 3]; w end", "error: DimensionMismatch"),
            ("let w = zeros(2, 2, 2); w[1, 2, 2] = 3; (w[1, 2, 2], sum(w)) end", "(3.0, 3.0)"),
        ],
    );
}

#[test]
fn growing() {
    check(
        "",
        &[
            ("let v = [1]; push!(v, 2); push!(v, 3, 4); v end", "[1, 2, 3, 4]"),
            ("let v = [1, 2, 3]; x = pop!(v); (x, v) end", "(3, [1, 2])"),
            ("let v = Float64[]; push!(v, 1); v end", "[1.0]"),
            ("append!([1, 2], [3, 4]), append!([1], (2, 3))", "([1, 2, 3, 4], [1, 2, 3])"),
            (
                "pushfirst!([2, 3], 1), insert!([1, 3], 2, 2), deleteat!([1, 2, 3], 2)",
                "([1, 2, 3], [1, 2, 3], [1, 3])",
            ),
            ("let v = [1, 2]; x = popfirst!(v); (x, v) end", "(1, [2])"),
            ("length(resize!([1, 2, 3], 2)), empty!([1, 2])", "(2, Int64[])"),
            ("pop!(Int[])", "error: ArgumentError"),
            ("reverse([1, 2, 3]), reverse!([1, 2, 3, 4])", "([3, 2, 1], [4, 3, 2, 1])"),
            (
                "repeat([1, 2], 2), repeat([1 2], 2, 1), circshift([1, 2, 3], 1)",
                "([1, 2, 1, 2], [1 2; 1 2], [3, 1, 2])",
            ),
        ],
    );
}

#[test]
fn comparison() {
    check(
        "",
        &[
            ("[1, 2] == [1.0, 2.0], [1, 2] == [1, 2, 3], [1 2] == [1, 2]", "(true, false, false)"),
            ("[1.0, 2.0] ≈ [1.0, 2.0 + 1e-12], [1.0] ≈ [1.1]", "(true, false)"),
            ("2 in [1, 2], 5 ∈ [1, 2], 5 ∉ [1, 2]", "(true, false, true)"),
            ("[1, 2] === [1, 2], [NaN] == [NaN], isequal([NaN], [NaN])", "(false, false, true)"),
        ],
    );
}
