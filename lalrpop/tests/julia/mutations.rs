//! Programs with bytes changed: nothing panics, and positions stay within the text.

use crate::{plain, read, tree_by_data};

const PROGRAM: &str = r#"
# Sums and such.
using LinearAlgebra, Statistics
abstract type Shape end
struct Point{T<:Real} <: Shape
    x::T
    y::T
    Point{T}(x, y) where T = new{T}(x, y)
end
mutable struct Counter; n::Int; end
Base.:+(a::Point, b::Point) = Point(a.x + b.x, a.y + b.y)
-(a::Point) = Point(-a.x, -a.y)
const LIMIT = 1_000
function pow(x::T, n::Int)::T where {T <: Real}
    r = one(T)
    while n > 0
        n -= 1
        r *= x
    end
    return r
end
function total(xs, ys...; )
    s = 0.0
    @inbounds @simd for i in 1:length(xs)
        s += xs[i]^2 / 2.5e-3 - xs[end-1]'
    end
    for (i, x) in enumerate(xs), j = 1:2:i
        x > 0 && i != j || continue
        s = x ≤ 1 ? s + 1 : s ÷ 2
    end
    s
end
ys = [f(x) * 2x for x in 1:10 if x ∉ (1, 2)]
m = [1 -2; 3 4]; m[:, 1] .+= 3
zs .= sin.(ys) .* 2 .+ m[begin, end]
a, b = b, a
(; x, y) = p
t = (a = 1, b = "te\"xt\n", c = :sym)
g = map(xs) do (a, b)
    a < b <= 3 ? (a; b) : """
      long
    """
end
h = x -> begin let y = x, z; y + z end end
@assert h(1) == 2 "no $(h(2)) and $x"
function named(x::T; a = 1, b::Int = a, kw...) where T
    @. x + f(a; b, kw..., c = "$(b + "q$a")")
end
named(1, a = 2; m.b, (; kw..., d = 3)...); q = (x; r = 1) -> Float64[x r; 1 2]
text = """
    $first line
      $(second; line) end"""
@show a b; @inferred named(1; a)
module Inner
using ..Outer: f as g, h; import Base.:+, .A.B as C
export f, +
w = try f(x) catch e; e.msg else y finally z end
try
    a
catch
    throw(x)
end
baremodule Bare; end
end
k(x, y = 1, zs...) = if x 1 elseif y 2 else 3 end #= a #= b =# c =#
"#;

/// Code as data and macros, added to the program.
const CODE: &str = r#"
ex = :(a + $b * f($(xs...), c = $(d + 1); e))
quote
    x.$name = $(QuoteNode(:s)); $f(y)::$T
    :(nested($$(x), $y))
end
macro swap(a, b = 1, cs...)
    :(($(esc(a)), $(esc(b))) = ($(esc(b)), $(esc(a))))
end
@swap a b; @swap(a, b = 2); M.@swap x -y :z [1, 2] "s"
@testset "x" begin @test f(x) == 1 end
z = raw"a\b\"" * r"[a-z]+"i
@generated function g(x::T, ys...; ) where T
    Expr(:call, :+, [:(ys[$i]) for i in 1:length(ys)]...)
end
h(x) = if @generated; :(x) else x end
for op in (:+, :-) @eval $op(x::P) = P($op(x.v)) end
:(for i in 1:3, j = 2; print(i) end; while a; b end; try a catch e; b finally c end)
:(let x = 1, y; x end; function k(x; y = 1)::Int where T x end; x -> y; map(x) do y; z end)
:([x^2 for x in a if b for c in d], [1 2; 3 4], T[1, 2], a ? b : c, a < b <= c, x', "a $b")
:(struct P{T} <: Q; x::T; end; module M; end; using A: b as c; export d; const e = 1)
"#;

/// A generator of numbers (Marsaglia's xorshift), so that runs are alike.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below
    }
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "end",
    "begin",
    "if ",
    "else",
    "elseif ",
    "for ",
    "function ",
    "do ",
    "let ",
    "struct ",
    "try ",
    "catch",
    ",",
    ";",
    "\n",
    " ",
    "'",
    "\"",
    "\"\"\"",
    ":",
    "::",
    "?",
    "->",
    "...",
    ".",
    ".(",
    "@",
    "@inbounds ",
    "@assert ",
    "@foo ",
    "#=",
    "=#",
    "#",
    "$",
    "\\",
    "=",
    "+=",
    ".=",
    "-",
    "+",
    "!",
    "√",
    "∈",
    " in ",
    " where ",
    " isa ",
    "<:",
    "1",
    "1.",
    "2x",
    "1e9",
    "x",
    "&&",
    "||",
    "return ",
    "local ",
    "const ",
    "global ",
    "using ",
    "quote ",
    "é",
    "\u{0}",
    "`",
    "//",
    "mutable ",
    "abstract type ",
    "0x",
    "9999999999999999999",
    "@goto ",
    "$",
    "$(",
    ":(",
    "quote ",
    "macro m(x) ",
    "@m ",
    "@m(",
    "esc(",
    "@simd ",
];

#[test]
fn ten_thousand_programs_with_changed_bytes() {
    assert!(read(PROGRAM).0.errors.is_empty(), "{:?}", read(PROGRAM).0.errors);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut clean = 0;
    let whole = format!("{PROGRAM}{CODE}");
    assert!(read(&whole).0.errors.is_empty(), "{:?}", read(&whole).0.errors);
    assert_eq!(plain(&tree_by_data(PROGRAM)), plain(&read(PROGRAM).1));
    for round in 0..10_000 {
        let mut bytes = if round % 2 == 0 { PROGRAM } else { &whole }.as_bytes().to_vec();
        for _ in 0..=random.next(5) {
            let at = random.next(bytes.len());
            match random.next(5) {
                0 => bytes[at] = random.next(256) as u8,
                1 => {
                    bytes.remove(at);
                }
                2 => {
                    let to = (at + random.next(30)).min(bytes.len());
                    bytes.drain(at..to);
                }
                3 => {
                    let from = random.next(whole.len());
                    let to = (from + random.next(40)).min(whole.len());
                    let piece = whole.as_bytes()[from..to].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => {
                    let piece = PIECES[random.next(PIECES.len())];
                    bytes.splice(at..at, piece.bytes());
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (parsed, tree) = read(&text);
        clean += usize::from(parsed.errors.is_empty());
        // An error in the tree has been reported.
        assert!(!parsed.errors.is_empty() || !tree.contains("ERROR"), "{text}");
        for error in &parsed.errors {
            for label in error.labels() {
                assert!(text.get(label.span.clone()).is_some(), "{text}\n{}", error.message());
            }
        }
        regraft_syntax::julia::tokens(&text);
        let by_data = tree_by_data(&text);
        // Macros of the program are expanded before, and what is wrong is told in other words.
        if parsed.errors.is_empty() && !tree.contains("(macrocall ") && !by_data.contains("×") {
            assert_eq!(plain(&by_data), plain(&tree), "{text}");
        }
    }
    // Some changes are harmless; most are not.
    assert!((300..9000).contains(&clean), "{clean}");
}

#[test]
fn ten_thousand_heaps_of_pieces() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..10_000 {
        let mut text = String::new();
        for _ in 0..random.next(30) {
            text += PIECES[random.next(PIECES.len())];
        }
        let (parsed, tree) = read(&text);
        assert!(!parsed.errors.is_empty() || !tree.contains("ERROR"), "{text}");
        tree_by_data(&text);
        regraft_ir::render_all(&parsed.errors, false);
        regraft_syntax::julia::tokens(&text);
    }
}

#[test]
fn every_start_of_a_program_is_incomplete_or_right_or_wrong_but_no_panic() {
    for at in 0..PROGRAM.len() {
        if PROGRAM.is_char_boundary(at) {
            read(&PROGRAM[..at]);
            read(&PROGRAM[at..]);
        }
    }
}
