# Rational numbers in lowest terms, with a denominator that is not negative.

struct Rational{T<:Integer} <: Real
    num::T
    den::T
    Rational{T}(n, d, ::Val{:reduced}) where T = new{T}(n, d)
end
Rational(n::T, d::T) where T<:Integer = __reduced(n, d)
Rational(n::Integer, d::Integer) = Rational(promote(n, d)...)
Rational(n::Integer) = Rational{typeof(n)}(n, one(n), Val(:reduced))
Rational(x::Rational) = x
Rational(x::AbstractFloat) = Rational{Int64}(x)
(::Type{Rational{T}})(n::Integer, d::Integer) where T = Rational(convert(T, n), convert(T, d))
(::Type{Rational{T}})(n::Integer) where T = Rational{T}(convert(T, n), one(T), Val(:reduced))
(::Type{Rational{T}})(x::Rational) where T = Rational{T}(convert(T, x.num), convert(T, x.den), Val(:reduced))
(::Type{Rational{T}})(x::Rational{T}) where T = x
# The value of a float is a whole number over a power of 2.
function (::Type{Rational{T}})(x::AbstractFloat) where T
    isnan(x) && throw(InexactError(:Rational, Rational{T}, x))
    isinf(x) && return __reduced(convert(T, x > 0 ? 1 : -1), zero(T))
    d = one(T)
    while !isinteger(x)
        x = 2 * x
        d > typemax(T) >> 1 && throw(InexactError(:Rational, Rational{T}, x))
        d = d << 1
    end
    return __reduced(convert(T, x), d)
end
function __reduced(n::T, d::T) where T
    n == 0 && d == 0 && throw(ArgumentError(string("invalid rational: zero(", T, ")//zero(", T, ")")))
    g = gcd(n, d)
    s = d < 0 ? -g : g
    return Rational{T}(div(n, s), div(d, s), Val(:reduced))
end
//(n::Integer, d::Integer) = Rational(n, d)
//(x::Rational, d::Integer) = Rational(x.num, __checked_mul(x.den, d))
//(n::Integer, x::Rational) = Rational(__checked_mul(n, x.den), x.num)
//(x::Rational, y::Rational) = x / y
//(a::AbstractArray, y::Number) = a .// y
numerator(x::Rational) = x.num
denominator(x::Rational) = x.den
numerator(x::Integer) = x
denominator(x::Integer) = one(x)
(::Type{T})(x::Rational) where T<:__Float = T(x.num) / T(x.den)
(::Type{T})(x::Rational) where T<:Integer = x.den == 1 ? convert(T, x.num) : throw(InexactError(nameof(T), T, x))
AbstractFloat(x::Rational) = float(x.num) / float(x.den)
float(x::Rational) = float(x.num) / float(x.den)
float(::Type{Rational{T}}) where T = float(T)
promote_rule(::Type{Rational{T}}, ::Type{S}) where {T, S<:Integer} = Rational{promote_type(T, S)}
promote_rule(::Type{Rational{T}}, ::Type{S}) where {T, S<:AbstractFloat} = promote_type(T, S)
promote_rule(::Type{Rational{T}}, ::Type{Rational{S}}) where {T, S} = Rational{promote_type(T, S)}
zero(::Type{Rational{T}}) where T = Rational{T}(zero(T))
one(::Type{Rational{T}}) where T = Rational{T}(one(T))
typemin(::Type{Rational{T}}) where T = __reduced(-one(T), zero(T))
typemax(::Type{Rational{T}}) where T = __reduced(one(T), zero(T))

# Where the numbers of Julia's rationals overflow, there is an error.
__checked_mul(a::T, b::T) where T<:Integer = __checked(a * b, a == 0 || div(a * b, a) == b && !(a == -1 && b == typemin(T)), :*, a, b)
__checked_add(a::T, b::T) where T<:Integer = __checked(a + b, (a + b < a) == (b < 0), :+, a, b)
__checked_sub(a::T, b::T) where T<:Integer = __checked(a - b, (a - b > a) == (b < 0), :-, a, b)
__checked_mul(a, b) = __checked_mul(promote(a, b)...)
__checked(c, good, op, a, b) = good ? c : throw(OverflowError(string(a, " ", op, " ", b, " overflowed for type ", typeof(c))))
-(x::Rational) = Rational{typeof(x.num)}(__checked_sub(zero(x.num), x.num), x.den, Val(:reduced))
+(x::Rational{T}, y::Rational{T}) where T = __rational_sum(__checked_add, x, y)
-(x::Rational{T}, y::Rational{T}) where T = __rational_sum(__checked_sub, x, y)
function __rational_sum(op, x, y)
    g = gcd(x.den, y.den)
    a, b = div(x.den, g), div(y.den, g)
    return __reduced(op(__checked_mul(x.num, b), __checked_mul(y.num, a)), __checked_mul(x.den, b))
end
function *(x::Rational{T}, y::Rational{T}) where T
    a, b = x.num // y.den, y.num // x.den
    return Rational{T}(__checked_mul(a.num, b.num), __checked_mul(a.den, b.den), Val(:reduced))
end
/(x::Rational{T}, y::Rational{T}) where T = x * inv(y)
function inv(x::Rational)
    x.num == 0 && throw(DivideError())
    return x.num < 0 ? Rational{typeof(x.num)}(-x.den, -x.num, Val(:reduced)) : Rational{typeof(x.num)}(x.den, x.num, Val(:reduced))
end
^(x::Rational, n::Integer) = n < 0 ? __power(inv(x), -n) : __power(x, n)
^(x::Rational, n::__Int) = n < 0 ? __power(inv(x), -n) : __power(x, n)
^(x::Rational, n::Bool) = n ? x : one(x)
^(x::Number, y::Rational) = x^float(y)
^(x::Rational, y::Rational) = y.den == 1 ? float(x)^y.num : float(x)^float(y)
^(x::AbstractFloat, y::Rational) = x^oftype(x, y)
^(x::Rational, y::AbstractFloat) = oftype(y, x)^y
==(x::Rational{T}, y::Rational{T}) where T = (x.num == y.num) & (x.den == y.den)
==(x::Rational, y::Integer) = x.den == 1 && x.num == y
==(x::Integer, y::Rational) = y == x
# Exactly: a float has a denominator that is a power of 2.
==(x::Rational, y::AbstractFloat) = isfinite(y) ? ispow2(x.den) && y * x.den == x.num : x.den == 0 && y == float(x)
==(x::AbstractFloat, y::Rational) = y == x
<(x::Rational{T}, y::Rational{T}) where T = __less_ratio(<, x, y)
<=(x::Rational{T}, y::Rational{T}) where T = __less_ratio(<=, x, y)
__less_ratio(op, x, y) = op(__checked_mul(x.num, y.den), __checked_mul(y.num, x.den))
isless(x::Rational, y::Rational) = x < y
abs(x::Rational) = x.num < 0 ? -x : x
sign(x::Rational) = oftype(x, sign(x.num))
signbit(x::Rational) = x.num < 0
iszero(x::Rational) = x.num == 0
isone(x::Rational) = (x.num == 1) & (x.den == 1)
isinteger(x::Rational) = x.den == 1
isfinite(x::Rational) = x.den != 0
isinf(x::Rational) = x.den == 0
isnan(x::Rational) = false
copysign(x::Rational, y::Real) = signbit(x.num) == signbit(y) ? x : -x
floor(x::Rational) = __whole(fld, x)
ceil(x::Rational) = __whole(cld, x)
trunc(x::Rational) = __whole(div, x)
round(x::Rational) = __whole(__nearest, x)
floor(::Type{T}, x::Rational) where T<:Integer = convert(T, floor(__divisible(x)))
ceil(::Type{T}, x::Rational) where T<:Integer = convert(T, ceil(__divisible(x)))
trunc(::Type{T}, x::Rational) where T<:Integer = convert(T, trunc(__divisible(x)))
round(::Type{T}, x::Rational) where T<:Integer = convert(T, round(__divisible(x)))
__divisible(x) = iszero(x.den) ? throw(DivideError()) : x
__whole(divide, x) = iszero(x.den) ? x : Rational(divide(x.num, x.den))
function __nearest(n, d)
    down = fld(n, d)
    twice = 2 * (n - down * d)
    return twice < d || twice == d && iseven(down) ? down : down + 1
end
div(x::Rational, y::Rational) = div(__checked_mul(x.num, y.den), __checked_mul(x.den, y.num))
fld(x::Rational, y::Rational) = fld(__checked_mul(x.num, y.den), __checked_mul(x.den, y.num))
rem(x::Rational, y::Rational) = x - y * div(x, y)
mod(x::Rational, y::Rational) = x - y * fld(x, y)
rationalize(x::Real; tol = eps(float(x))) = __rationalize(float(x), tol)
rationalize(::Type{T}, x::Real; tol = eps(float(x))) where T<:Integer = Rational{T}(__rationalize(float(x), tol))
# The simplest fraction within `tol`: the first convergent of the continued fraction that is near enough.
function __rationalize(x, tol)
    x < 0 && return -__rationalize(-x, tol)
    a, b, c, d = 0, 1, 1, 0
    y = x
    while true
        n = floor(Int64, y)
        a, b, c, d = c, d, n * c + a, n * d + b
        (abs(x - c / d) <= tol || y == n) && return Rational(c, d)
        y = inv(y - n)
    end
end
sqrt(x::Rational) = sqrt(float(x))
exp(x::Rational) = exp(float(x))
log(x::Rational) = log(float(x))
sin(x::Rational) = sin(float(x))
cos(x::Rational) = cos(float(x))
tan(x::Rational) = tan(float(x))
tanh(x::Rational) = tanh(float(x))
