//! The precedence of operators.

use crate::check;

#[test]
fn arithmetic() {
    check(&[
        ("a + b * c", "(call + a (call * b c))"),
        ("a * b + c", "(call + (call * a b) c)"),
        ("a - b - c", "(call - (call - a b) c)"),
        ("a / b / c", "(call / (call / a b) c)"),
        ("a / b * c", "(call * (call / a b) c)"),
        ("a ^ b ^ c", "(call ^ a (call ^ b c))"),
        ("-2^2", "(call - (call ^ 2 2))"),
        ("-x^2", "(call - (call ^ x 2))"),
        ("(-2)^2", "(call ^ -2 2)"),
        ("2^-1", "(call ^ 2 -1)"),
        ("2^-x^y", "(call ^ 2 (call - (call ^ x y)))"),
        ("a*b^c*d", "(call * a (call ^ b c) d)"),
        ("a % b ÷ c", "(call ÷ (call % a b) c)"),
        ("a + b << 2", "(call + a (call << b 2))"),
        ("a * b >> c >>> d", "(call * a (call >>> (call >> b c) d))"),
        ("a | b & c", "(call | a (call & b c))"),
        ("a ⊻ b + c", "(call + (call ⊻ a b) c)"),
        ("f ∘ g ∘ h", "(call ∘ (call ∘ f g) h)"),
        ("A \\ b", "(call \\ A b)"),
        ("-a * b", "(call * (call - a) b)"),
        ("-a'", "(call - (call ' a))"),
        ("√x + 1", "(call + (call √ x) 1)"),
        ("√x^2", "(call √ (call ^ x 2))"),
        ("~a & b", "(call & (call ~ a) b)"),
    ]);
}

#[test]
fn sums_and_products_are_one_call() {
    check(&[
        ("x + y + z", "(call + x y z)"),
        ("x * y * z * w", "(call * x y z w)"),
        ("x + (y + z)", "(call + x (call + y z))"),
        ("(x + y) + z", "(call + (call + x y) z)"),
        ("x + y - z + w", "(call + (call - (call + x y) z) w)"),
        ("x .+ y .+ z", "(dot + (dot + x y) z)"),
    ]);
}

#[test]
fn juxtaposition() {
    check(&[
        ("2x", "(call * 2 x)"),
        ("2x^2", "(call * 2 (call ^ x 2))"),
        ("1/2x", "(call / 1 (call * 2 x))"),
        ("2^3x", "(call ^ 2 (call * 3 x))"),
        ("2(x + 1)", "(call * 2 (call + x 1))"),
        ("-2x", "(call * -2 x)"),
        ("2.5x * y", "(call * (call * 2.5 x) y)"),
        ("2f(x)", "(call * 2 (call f x))"),
        ("2x'", "(call * 2 (call ' x))"),
        ("x'y", "(call * (call ' x) y)"),
        ("(x + 1)y", "(call * (call + x 1) y)"),
        ("2x + 3y", "(call + (call * 2 x) (call * 3 y))"),
    ]);
}

#[test]
fn comparisons() {
    check(&[
        ("a < b", "(call < a b)"),
        ("a < b <= c", "(compare a < b <= c)"),
        ("a == b ≠ c ≥ d", "(compare a == b != c >= d)"),
        ("(a < b) < c", "(call < (call < a b) c)"),
        ("a + 1 ≤ b * 2", "(call <= (call + a 1) (call * b 2))"),
        ("x in 1:3", "(call in x (call : 1 3))"),
        ("x ∈ xs", "(call in x xs)"),
        ("x ∉ xs", "(call ! (call in x xs))"),
        ("x isa T && y", "(and (call isa x T) y)"),
        ("A <: B", "(call <: A B)"),
        ("!a == b", "(call == (call ! a) b)"),
        ("a !== b", "(call !== a b)"),
        ("a ≡ b", "(call === a b)"),
        ("x!=y", "(call != x y)"),
        ("a .< b", "(dot < a b)"),
        ("a .≤ b .* c", "(dot <= a (dot * b c))"),
    ]);
}

#[test]
fn logic_and_choice() {
    check(&[
        ("a || b && c", "(or a (and b c))"),
        ("a && b || c", "(or (and a b) c)"),
        ("a && b == c", "(and a (call == b c))"),
        ("a ? b : c", "(if a b c)"),
        ("a ? b : c ? d : e", "(if a b (if c d e))"),
        ("a ? b ? c : d : e", "(if a (if b c d) e)"),
        ("a || b ? c + 1 : d", "(if (or a b) (call + c 1) d)"),
        ("x = a ? b : c", "(= x (if a b c))"),
        ("a ? x = 1 : y = 2", "(if a (= x 1) (= y 2))"),
        ("a ? f(b:c) : d", "(if a (call f (call : b c)) d)"),
        ("a ? :b : :c", "(if a :b :c)"),
        ("a && return b", "(and a (return b))"),
        ("a || return", "(or a (return))"),
        ("a ? return : b", "(if a (return) b)"),
        ("a && (b = 1)", "(and a (block (= b 1)))"),
        ("a = b && c", "(= a (and b c))"),
    ]);
}

#[test]
fn ranges_and_pipes() {
    check(&[
        ("a:b", "(call : a b)"),
        ("a:s:b", "(call : a s b)"),
        ("1:n+1", "(call : 1 (call + n 1))"),
        ("1:2n", "(call : 1 (call * 2 n))"),
        ("(1:2):3", "(call : (call : 1 2) 3)"),
        ("x |> f |> g", "(call |> (call |> x f) g)"),
        ("1:3 |> sum", "(call |> (call : 1 3) sum)"),
        ("a:b == c", "(call == (call : a b) c)"),
        ("n:-1:1", "(call : n -1 1)"),
        ("a => b", "(call => a b)"),
    ]);
}

#[test]
fn assignment_is_loosest_but_for_commas_on_its_sides() {
    check(&[
        ("a = b = c", "(= a (= b c))"),
        ("a, b = b, a", "(= (tuple a b) (tuple b a))"),
        ("x = 1, 2", "(= x (tuple 1 2))"),
        ("a, = t", "(= (tuple a) t)"),
        ("a, b... = t", "(= (tuple a (... b)) t)"),
        ("x += 1", "(+= x 1)"),
        ("x -= y = 2", "(-= x (= y 2))"),
        ("x ÷= 2", "(÷= x 2)"),
        ("x >>>= 2", "(>>>= x 2)"),
        ("x .= y .+ 1", "(.= x (dot + y 1))"),
        ("x .*= 2", "(.*= x 2)"),
        ("x::Int = 3", "(= (:: x Int) 3)"),
        ("f = x -> y = x", "(= f (-> (x) (= y x)))"),
        ("x -> x, y", "(tuple (-> (x) x) y)"),
        ("(; a, b) = t", "(= (named a b) t)"),
        ("a[1], b.c = t", "(= (tuple (index a 1) (. b c)) t)"),
    ]);
}

#[test]
fn types_bind_tightly() {
    check(&[
        ("x::T + 1", "(call + (:: x T) 1)"),
        ("-x::T", "(call - (:: x T))"),
        ("x::T^2", "(call ^ (:: x T) 2)"),
        ("x.y::P{T}", "(:: (. x y) (curly P T))"),
        ("T where {A, B<:C}", "(where T A (call <: B C))"),
        ("T where A<:B", "(where T (call <: A B))"),
        ("T where A where B", "(where (where T A) B)"),
        ("x isa V{T} where T", "(call isa x (where (curly V T) T))"),
        ("V{<:Real}", "(curly V (call <: Real))"),
        ("T where A <: B <: C", "(where T (compare A <: B <: C))"),
    ]);
}
