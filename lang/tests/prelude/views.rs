use crate::check;

#[test]
fn slices_share_their_elements() {
    check(
        "",
        &[
            (
                "let a = [1, 2, 3, 4]; v = view(a, 2:3); v[1] = 9; (a, v[2], length(v)) end",
                "([1, 9, 3, 4], 3, 2)",
            ),
            (
                "let a = [1 2; 3 4]; v = view(a, :, 2); v[1] = 9; (a, sum(v)) end",
                "([1 9; 3 4], 13)",
            ),
            ("let a = [1 2; 3 4]; v = view(a, 1, :); (v[2], size(v)) end", "(2, (2,))"),
            (
                "let a = [1 2 3; 4 5 6]; v = view(a, 1:2, 2:3); (v[2, 1], size(v), collect(v)) end",
                "(5, (2, 2), [2 3; 5 6])",
            ),
            ("view([1, 2, 3], 2:5)", "error: BoundsError"),
            ("view([1, 2, 3], 1:2)[3]", "error: BoundsError"),
            ("let a = [1, 2, 3, 4]; a[2:3] .= 0; a end", "[1, 0, 0, 4]"),
            ("let a = zeros(2, 2); a[:, 1] .+= 1; a end", "[1.0 0.0; 1.0 0.0]"),
            ("let s = 0; for x in view([1, 2, 3], 2:3) s += x end; s end", "5"),
            (
                "[sum(c) for c in eachcol([1 2; 3 4])], map(sum, eachrow([1 2; 3 4]))",
                "([4, 6], [3, 7])",
            ),
        ],
    );
}

#[test]
fn transposes_share_their_elements() {
    check(
        "",
        &[
            (
                "let a = [1 2; 3 4]; b = a'; b[1, 2] = 9; (a, b[1, 2], size(b)) end",
                "([1 2; 9 4], 9, (2, 2))",
            ),
            ("size([1, 2, 3]'), [1, 2, 3]'[1, 2], ([1, 2]')' == [1, 2]", "((1, 3), 2, true)"),
            ("[1 2; 3 4]' == [1 3; 2 4], sum([1 2; 3 4]')", "(true, 10)"),
            ("let a = [1 2; 3 4]; a .= a'; a end", "[1 3; 2 4]"),
        ],
    );
}

#[test]
fn parts_of_matrices() {
    check(
        "",
        &[
            (
                "collect(UpperTriangular([1 2; 3 4])), collect(LowerTriangular([1 2; 3 4]))",
                "([1 2; 0 4], [1 0; 3 4])",
            ),
            (
                "collect(Diagonal([1, 2])), collect(Symmetric([1 2; 3 4]))",
                "([1 0; 0 2], [1 2; 2 4])",
            ),
            ("UpperTriangular([1 2; 3 4])' == [1 0; 2 4]", "true"),
        ],
    );
}
