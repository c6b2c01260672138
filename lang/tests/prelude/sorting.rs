use crate::check;

#[test]
fn sorting() {
    check(
        "long = [mod(37 * k, 101) for k in 1:100]",
        &[
            (
                "sort([3, 1, 2]), sort([2.5, -1.0, NaN]), sortperm([30, 10, 20])",
                "([1, 2, 3], [-1.0, 2.5, NaN], [2, 3, 1])",
            ),
            ("let v = [3, 1, 2]; sort!(v); v end", "[1, 2, 3]"),
            ("sort(long) == 1:100, issorted(sort(long)), issorted(long)", "(true, true, false)"),
            (
                "sort(Int[]), sort([(2, :a), (1, :b)])[1][1], sortperm([1, 1, 0])",
                "(Int64[], 1, [3, 1, 2])",
            ),
            (
                "unique([1, 2, 1, 3]), searchsortedfirst([1, 3, 5], 3), searchsortedlast([1, 3, 5], 4)",
                "([1, 2, 3], 2, 2)",
            ),
        ],
    );
}
