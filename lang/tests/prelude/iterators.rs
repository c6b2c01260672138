use crate::check;

#[test]
fn several_at_once() {
    check(
        "using Base.Iterators: product",
        &[
            ("let s = 0; for (a, b) in zip([1, 2, 3], (4, 5)) s += a * b end; s end", "14"),
            ("let s = 0; for (i, x) in enumerate([10, 20]) s += i * x end; s end", "50"),
            (
                "collect(zip(1:2, [3.0, 4.0])), collect(enumerate((:a, :b)))",
                "([(1, 3.0), (2, 4.0)], [(1, :a), (2, :b)])",
            ),
            (
                "length(zip(1:3, 1:2)), [a + b + c for (a, b, c) in zip(1:2, 3:4, 5:6)]",
                "(2, [9, 12])",
            ),
            ("collect(product(1:2, [5, 6]))", "[(1, 5) (1, 6); (2, 5) (2, 6)]"),
            ("let s = 0; for i in 1:2, j in 1:3 s += i * j end; s end", "18"),
            ("let s = 0; for x in 5 s += x end; s end", "5"),
        ],
    );
}

#[test]
fn generators() {
    check(
        "",
        &[
            ("sum(x^2 for x in 1:3), maximum(abs(x) for x in (-3, 2))", "(14, 3)"),
            ("collect(2x for x in [1, 2]), prod(x for x in 1:5 if isodd(x))", "([2, 4], 15)"),
            ("sum(i * j for i in 1:2, j in 1:2), sum(i * j for i in 1:2 for j in 1:i)", "(9, 7)"),
            ("[x + y for (x, y) in zip(1:2, 3:4)], any(x > 2 for x in 1:3)", "([4, 6], true)"),
        ],
    );
}

#[test]
fn iterate_of_the_program_and_of_the_library() {
    check(
        "struct Count\n n::Int\nend
         Base.iterate(c::Count) = c.n < 1 ? nothing : (1, 2)
         Base.iterate(c::Count, s) = s > c.n ? nothing : (s, s + 1)
         Base.length(c::Count) = c.n
         function total(it)\n s = 0\n next = iterate(it)\n while next !== nothing\n  (x, st) = next\n  s += x\n  next = iterate(it, st)\n end\n s\nend
         struct Squares <: AbstractVector{Int}\n n::Int\nend
         Base.size(s::Squares) = (s.n,)
         Base.getindex(s::Squares, i::Int) = i^2",
        &[
            ("let s = 0; for x in Count(4) s += x end; s end", "10"),
            ("sum(Count(3)), collect(Count(3)), [2x for x in Count(2)]", "(6, [1, 2, 3], [2, 4])"),
            ("total([1, 2, 3]), total(1:4), total((5, 6)), total(Count(3))", "(6, 10, 11, 6)"),
            ("sum(Squares(3)), Squares(4)[end], collect(Squares(2)), length(Squares(7))", "(14, 16, [1, 4], 7)"),
            ("iterate(Int[])", "nothing"),
        ],
    );
}
