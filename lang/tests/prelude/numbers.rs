use crate::check;

#[test]
fn arithmetic_of_one_type() {
    check(
        "",
        &[
            ("1 + 2", "3"),
            ("1 + 2 + 3 + 4", "10"),
            ("9223372036854775807 + 1", "-9223372036854775808"),
            ("7 / 2", "3.5"),
            ("7 ÷ 2, -7 ÷ 2, div(7, -2)", "(3, -3, -3)"),
            ("7 % 3, -7 % 3, rem(7, -3)", "(1, -1, 1)"),
            ("mod(-7, 3), mod(7, -3)", "(2, -2)"),
            ("fld(-7, 2), cld(-7, 2)", "(-4, -3)"),
            ("5.5 % 2.0, -5.5 % 2.0, mod(-5.5, 2.0)", "(1.5, -1.5, 0.5)"),
            ("div(7.5, 2.0), fld(-7.5, 2.0), cld(7.5, 2.0)", "(3.0, -4.0, 4.0)"),
            ("divrem(7, 2), fldmod(-7, 2)", "((3, 1), (-4, 1))"),
            ("mod1(3, 3), mod1(4, 3), mod1(0, 3)", "(3, 1, 3)"),
            ("true + true, true * false, -true, true - false", "(2, false, -1, 1)"),
            ("false * NaN, true * 2.5", "(0.0, 2.5)"),
            ("-3 |> abs, abs2(-3), abs(-2.5)", "(3, 9, 2.5)"),
            ("sign(-3), sign(0), sign(2.5), sign(-0.0)", "(-1, 0, 1.0, -0.0)"),
            ("inv(4), inv(0.5)", "(0.25, 2.0)"),
            ("gcd(12, 18), lcm(4, 6), gcd(-12, 18, 27)", "(6, 12, 3)"),
            ("muladd(2, 3, 4), fma(2.0, 3.0, 4.0)", "(10, 10.0)"),
            ("copysign(3.0, -1), copysign(3, -1.0), flipsign(3, -1)", "(-3.0, -3, -3)"),
            ("factorial(5), factorial(20), binomial(5, 2)", "(120, 2432902008176640000, 10)"),
            ("1 ÷ 0", "error: DivideError"),
        ],
    );
}

#[test]
fn powers() {
    check(
        "power(x, n) = x^n",
        &[
            ("2^10, 2^0, 3^3, (-2)^2", "(1024, 1, 27, 4)"),
            ("2.0^2, 2.0^3, 2.0^-1, 2.0^-2, 2.0^0", "(4.0, 8.0, 0.5, 0.25, 1.0)"),
            ("power(2.0, 10), power(3, 4), power(2.0, -3)", "(1024.0, 81, 0.125)"),
            ("2^0.5, 4.0^0.5, 2.0^3.0", "(1.4142135623730951, 2.0, 8.0)"),
            ("power(2, -1)", "error: DomainError"),
            ("power(1, -5), power(-1, -5)", "(1, -1)"),
            ("(-8.0)^(1/3)", "error: DomainError"),
            ("true^2, 2^true", "(true, 2)"),
        ],
    );
}

#[test]
fn mixed_types_are_promoted() {
    check(
        "",
        &[
            ("1 + 2.5", "3.5"),
            ("2 * 1.5f0", "3.0f0"),
            ("1.5f0 + 1.0", "2.5"),
            ("Int32(2) + 1", "3"),
            ("typeof(Int32(2) + Int32(1)), typeof(Int32(2) + 1)", "(Int32, Int64)"),
            ("typeof(Int8(1) + Int16(1)), typeof(true + 1.0f0)", "(Int16, Float32)"),
            ("true + 1.5", "2.5"),
            ("promote(1, 2.5)", "(1.0, 2.5)"),
            ("promote(1, 2.5, true)", "(1.0, 2.5, 1.0)"),
            ("promote_type(Int64, Float32), promote_type(Int8, Bool)", "(Float32, Int8)"),
            ("promote_type(Int64, String)", "Any"),
            ("max(1, 2.5), min(1, 2.5), max(3, 1, 2)", "(2.5, 1.0, 3)"),
            ("max(NaN, 1.0), min(0.0, -0.0)", "(NaN, -0.0)"),
            ("2π", "6.283185307179586"),
            ("π / 2, π + 1, typeof(1.0f0 * π)", "(1.5707963267948966, 4.141592653589793, Float32)"),
            ("ℯ^2", "7.38905609893065"),
            ("clamp(5, 1, 3), clamp(0.5, 1, 3), clamp(2, 1, 3)", "(3, 1.0, 2)"),
        ],
    );
}

#[test]
fn comparison() {
    check(
        "same(a, b) = a == b\nless(a, b) = a < b",
        &[
            ("1 < 2 < 3, 1 < 3 < 2", "(true, false)"),
            ("1 == 1.0, 1 === 1.0, 0.0 == -0.0, 0.0 === -0.0", "(true, false, true, false)"),
            (
                "NaN == NaN, NaN === NaN, isequal(NaN, NaN), isequal(0.0, -0.0)",
                "(false, true, true, false)",
            ),
            ("same(9007199254740993, 9007199254740992.0)", "false"),
            ("same(9223372036854775807, 9.223372036854775807e18)", "false"),
            (
                "less(9007199254740992.0, 9007199254740993), less(9007199254740993, 9007199254740992.0)",
                "(true, false)",
            ),
            ("less(9223372036854775807, 9.223372036854775807e18)", "true"),
            ("1 < 1.5, 2 > 1.5, 1.5 >= 2, 1 <= 1.0, 1 != 1.0", "(true, true, false, true, false)"),
            ("true < 2, false == 0, 1.0f0 == 1.0", "(true, true, true)"),
            ("isless(1.0, NaN), isless(NaN, 1.0), isless(-0.0, 0.0)", "(true, false, true)"),
            ("cmp(1, 2), minmax(3, 1)", "(-1, (1, 3))"),
            ("1 ≈ 1 + 1e-10, 1 ≈ 1.1, 1.0 ≈ 1.0f0", "(true, false, true)"),
            ("3 in 3, :a == :a, \"a\" == \"a\", 1 == \"a\"", "(true, true, true, false)"),
            ("!(1 > 2), !true", "(true, false)"),
            ("isnan(NaN), isinf(-Inf), isfinite(1.0), isnan(1)", "(true, true, true, false)"),
            (
                "iszero(0.0), isone(1), iseven(4), isodd(4), isinteger(2.0)",
                "(true, true, true, false, true)",
            ),
        ],
    );
}

#[test]
fn conversion_and_rounding() {
    check(
        "",
        &[
            ("Int(3.0), Float64(3), Float32(0.5), Bool(1)", "(3, 3.0, 0.5f0, true)"),
            ("Int(3.5)", "error: InexactError"),
            ("Int8(200)", "error: InexactError"),
            ("Bool(2)", "error: InexactError"),
            ("convert(Float64, 3), convert(Any, 3)", "(3.0, 3)"),
            (
                "floor(2.7), ceil(2.2), round(2.5), round(3.5), trunc(-2.7)",
                "(2.0, 3.0, 2.0, 4.0, -2.0)",
            ),
            ("floor(Int, 2.7), ceil(Int, 2.2), round(Int, 2.5), trunc(Int, -2.7)", "(2, 3, 2, -2)"),
            ("floor(Int, 3), round(4)", "(3, 4)"),
            ("floor(Int, 1e20)", "error: InexactError"),
            ("zero(3), zero(2.5), one(Float32), zero(Bool)", "(0, 0.0, 1.0f0, false)"),
            ("typemax(Int), typemin(Int64)", "(9223372036854775807, -9223372036854775808)"),
            ("typemin(Float64), typemax(Int32)", "(-Inf, 2147483647)"),
            (
                "eps(), eps(1.0), eps(Float32)",
                "(2.220446049250313e-16, 2.220446049250313e-16, 1.1920929f-7)",
            ),
            ("floatmax(Float64), floatmin()", "(1.7976931348623157e308, 2.2250738585072014e-308)"),
            ("300 % Int8, -1 % Int32, Int8(5) % Int64", "(44, -1, 5)"),
            ("float(3), float(2.5f0), real(3), conj(2.0)", "(3.0, 2.5f0, 3, 2.0)"),
            ("Inf, -Inf, NaN, Inf32", "(Inf, -Inf, NaN, Inf32)"),
            ("reinterpret(Int64, 1.0)", "4607182418800017408"),
        ],
    );
}

#[test]
fn bits() {
    check(
        "",
        &[
            ("5 & 3, 5 | 3, 5 ⊻ 3, xor(true, true), ~5", "(1, 7, 6, false, -6)"),
            ("1 << 10, -8 >> 1, -8 >>> 60, 1 << 64", "(1024, -4, 15, 0)"),
            ("true & false, true | false, true & 1", "(false, true, 1)"),
            ("count_ones(7), leading_zeros(1), trailing_zeros(8)", "(3, 63, 3)"),
        ],
    );
}

#[test]
fn a_number_type_of_the_program() {
    check(
        "struct D <: Number\n x::Float64\n d::Float64\nend
         Base.:+(a::D, b::D) = D(a.x + b.x, a.d + b.d)
         Base.:*(a::D, b::D) = D(a.x * b.x, a.x * b.d + a.d * b.x)
         Base.convert(::Type{D}, x::Real) = D(x, 0.0)
         Base.promote_rule(::Type{D}, ::Type{<:Real}) = D",
        &[
            ("D(2.0, 1.0) * 3 + 1", "D(7.0, 3.0)"),
            ("2 * D(2.0, 1.0)", "D(4.0, 2.0)"),
            ("D(2.0, 1.0)^3", "D(8.0, 12.0)"),
            ("D(1.0, 0.0) / D(2.0, 0.0)", "error: no method matching"),
        ],
    );
}

#[test]
fn sums_of_many_terms() {
    let sum = ["1"; 4000].join(" + ");
    let halves = ["0.5"; 1500].join(" + ");
    let product = ["1", "2"].repeat(20).join(" * ");
    check(
        "f(xs...) = +(xs...)\ng(x) = x + 1 + 2.5 + x",
        &[
            (&sum, "4000"),
            (&halves, "750.0"),
            (&product, "1048576"),
            ("f(1, 2, 3.0, 4)", "10.0"),
            ("[g(x) for x in Any[1, 2.0]]", "[5.5, 7.5]"),
            ("1e100 + 1 + -1e100 + 1", "1.0"),
            ("\"a\" * \"b\" * \"c\" * \"d\"", "\"abcd\""),
            ("+(1, 2, \"a\", 3)", "error: no method matching +(::Int64, ::String)"),
        ],
    );
}
