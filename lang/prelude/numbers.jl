# Numbers: arithmetic, comparison, conversion, rounding.
#
# Methods for two numbers of one type are ops. Numbers of two types are promoted first; so are
# those of a program that defines `promote_rule` (or `convert` and its own methods) for its type.

# --- constants ------------------------------------------------------------------------------

abstract type AbstractIrrational <: Real end
struct Irrational{S} <: AbstractIrrational end
const π = __new(Irrational{:π})
const pi = π
const ℯ = __new(Irrational{:ℯ})
const γ = __new(Irrational{:γ})
const eulergamma = γ
const φ = __new(Irrational{:φ})
const golden = φ
const catalan = __new(Irrational{:catalan})
const Inf = arith.fdiv(1.0, 0.0)
const NaN = arith.bitcast(Float64, 9221120237041090560)
const Inf64 = Inf
const NaN64 = NaN
const Inf32 = core.convert(Float32, Inf)
const NaN32 = core.convert(Float32, NaN)

Float64(x::Irrational{:π}) = 3.141592653589793
Float64(x::Irrational{:ℯ}) = 2.718281828459045
Float64(x::Irrational{:γ}) = 0.5772156649015329
Float64(x::Irrational{:φ}) = 1.618033988749895
Float64(x::Irrational{:catalan}) = 0.915965594177219
Float32(x::Irrational{:π}) = 3.1415927f0
Float32(x::Irrational{:ℯ}) = 2.7182817f0
Float32(x::Irrational{:γ}) = 0.5772157f0
Float32(x::Irrational{:φ}) = 1.618034f0
Float32(x::Irrational{:catalan}) = 0.91596556f0
float(x::AbstractIrrational) = Float64(x)
-(x::AbstractIrrational) = -Float64(x)
+(x::AbstractIrrational, y::AbstractIrrational) = Float64(x) + Float64(y)
-(x::AbstractIrrational, y::AbstractIrrational) = Float64(x) - Float64(y)
*(x::AbstractIrrational, y::AbstractIrrational) = Float64(x) * Float64(y)
/(x::AbstractIrrational, y::AbstractIrrational) = Float64(x) / Float64(y)
^(x::AbstractIrrational, y::AbstractIrrational) = Float64(x)^Float64(y)
^(x::AbstractIrrational, y::__Int) = Float64(x)^y
^(x::Irrational{:ℯ}, y::__Num) = exp(y)
^(x::Irrational{:ℯ}, y::__Int) = exp(y)
<(x::AbstractIrrational, y::AbstractIrrational) = Float64(x) < Float64(y)
==(x::AbstractIrrational, y::AbstractIrrational) = x === y
==(x::AbstractIrrational, y::Number) = false
==(x::Number, y::AbstractIrrational) = false
__shown(x::Irrational{S}) where S = string(S)

# --- conversion and promotion ---------------------------------------------------------------

(::Type{T})(x::__Num) where T<:__Num = core.convert(T, x)
(::Type{T})(x::T) where T<:Number = x
(::Type{T})(x::T) where T<:__Num = x
AbstractFloat(x) = float(x)
convert(::Type{T}, x::__Num) where T<:__Num = core.convert(T, x)
convert(::Type{T}, x::T) where T<:Number = x
convert(::Type{T}, x::T) where T<:__Num = x
convert(::Type{T}, x::Number) where T<:Number = T(x)

promote_rule(a, b) = nothing
promote_type(::Type{T}) where T = T
promote_type(::Type{T}, ::Type{T}) where T = T
promote_type(::Type{S}, ::Type{T}) where {S, T} = __promoted_type(S, T, promote_rule(S, T), promote_rule(T, S))
promote_type(S::Type, T::Type, more::Type...) = promote_type(promote_type(S, T), more...)
__promoted_type(::Type{S}, ::Type{T}, ::Nothing, ::Nothing) where {S, T} = Any
__promoted_type(S, T, ::Type{R}, r) where R = R
__promoted_type(S, T, ::Nothing, ::Type{R}) where R = R
# The later type of a pair here takes in the earlier ones.
promote_rule(::Type{T}, ::Type{Bool}) where T<:__Arith = T
promote_rule(::Type{T}, ::Type{Int8}) where T<:Union{Int16, Int32, Int64, Float32, Float64} = T
promote_rule(::Type{T}, ::Type{Int16}) where T<:Union{Int32, Int64, Float32, Float64} = T
promote_rule(::Type{T}, ::Type{Int32}) where T<:Union{Int64, Float32, Float64} = T
promote_rule(::Type{T}, ::Type{Int64}) where T<:__Float = T
promote_rule(::Type{Float64}, ::Type{Float32}) = Float64
promote_rule(::Type{T}, ::Type{Irrational{S}}) where {T<:__Float, S} = T
promote_rule(::Type{T}, ::Type{Irrational{S}}) where {T<:__Bits, S} = Float64
promote_rule(::Type{Irrational{R}}, ::Type{Irrational{S}}) where {R, S} = Float64

promote(x) = (x,)
@inline function promote(x, y)
    T = promote_type(typeof(x), typeof(y))
    return (convert(T, x), convert(T, y))
end
@inline function promote(x, y, more...)
    T = promote_type(typeof(x), typeof(y), __unroll_map(typeof, more)...)
    return (convert(T, x), convert(T, y), __unroll_map(__ConvertTo{T}(), more)...)
end
struct __ConvertTo{T} end
@inline (c::__ConvertTo{T})(x) where T = convert(T, x)

function __equal end
# What a binary function does with numbers of two types. Where promotion changes nothing there is
# no method for the type.
function __promoted(f, x::T, y::T) where T
    error("no method matching ", f, "(::", T, ", ::", T, ")")
end
# Numbers of one type for which there is no method of `==` are equal if they are the same.
__promoted(::typeof(__equal), x::T, y::T) where T = x === y
@inline function __promoted(f, x, y)
    T = promote_type(typeof(x), typeof(y))
    return __after_promotion(f, T, x, y, convert(T, x), convert(T, y))
end
@inline __after_promotion(f, T, x, y, a, b) = f(a, b)
__after_promotion(f, ::Type{Any}, x, y, a, b) = error("no method matching ", f, "(::", typeof(x), ", ::", typeof(y), ")")

# --- arithmetic -----------------------------------------------------------------------------

+(x::__Num) = x + zero(x)
+(x::Number) = x
+(x::T, y::T) where T<:__Arith = arith.add(x, y)
-(x::T, y::T) where T<:__Arith = arith.sub(x, y)
*(x::T, y::T) where T<:__Arith = arith.mul(x, y)
-(x::__Arith) = arith.neg(x)
+(x::Bool, y::Bool) = arith.add(arith.zext(Int64, x), arith.zext(Int64, y))
-(x::Bool, y::Bool) = arith.sub(arith.zext(Int64, x), arith.zext(Int64, y))
*(x::Bool, y::Bool) = arith.and(x, y)
-(x::Bool) = arith.neg(arith.zext(Int64, x))
# `false` is a strong zero.
*(x::Bool, y::T) where T<:__Float = core.select(x, y, arith.copysign(zero(y), y))
*(y::T, x::Bool) where T<:__Float = core.select(x, y, arith.copysign(zero(y), y))
+(x::Number, y::Number) = __promoted(+, x, y)
-(x::Number, y::Number) = __promoted(-, x, y)
*(x::Number, y::Number) = __promoted(*, x, y)
/(x::Number, y::Number) = __promoted(/, x, y)
^(x::Number, y::Number) = __promoted(^, x, y)
@inline +(x, y, z, more...) = __unroll_fold(+, (x + y) + z, more)
@inline *(x, y, z, more...) = __unroll_fold(*, (x * y) * z, more)
+(x::__Arith, y::__Arith, z::__Arith) = (x + y) + z
*(x::__Arith, y::__Arith, z::__Arith) = (x * y) * z
-(x::Number) = zero(x) - x

/(x::T, y::T) where T<:__Float = arith.fdiv(x, y)
/(x::T, y::T) where T<:__Bits = arith.fdiv(core.convert(Float64, x), core.convert(Float64, y))
\(x::Number, y::Number) = y / x
inv(x::__Float) = arith.fdiv(one(x), x)
inv(x::__Bits) = arith.fdiv(1.0, core.convert(Float64, x))
inv(x::Number) = one(x) / x

div(x::T, y::T) where T<:__Int = arith.div(x, y)
rem(x::T, y::T) where T<:__Int = arith.rem(x, y)
fld(x::T, y::T) where T<:__Int = arith.fld(x, y)
cld(x::T, y::T) where T<:__Int = arith.cld(x, y)
mod(x::T, y::T) where T<:__Int = arith.mod(x, y)
rem(x::T, y::T) where T<:__Float = arith.frem(x, y)
mod(x::T, y::T) where T<:__Float = arith.floor_mod(x, y)
div(x::T, y::T) where T<:__Float = arith.round(arith.fdiv(arith.sub(x, arith.frem(x, y)), y))
fld(x::T, y::T) where T<:__Float = arith.round(arith.fdiv(arith.sub(x, arith.floor_mod(x, y)), y))
cld(x::T, y::T) where T<:__Float = arith.neg(fld(arith.neg(x), y))
div(x::Number, y::Number) = __promoted(div, x, y)
rem(x::Number, y::Number) = __promoted(rem, x, y)
fld(x::Number, y::Number) = __promoted(fld, x, y)
cld(x::Number, y::Number) = __promoted(cld, x, y)
mod(x::Number, y::Number) = __promoted(mod, x, y)
div(x::Bool, y::Bool) = y ? x : throw(DivideError())
rem(x::Bool, y::Bool) = y ? false : throw(DivideError())
mod(x::Bool, y::Bool) = rem(x, y)
÷(x, y) = div(x, y)
%(x, y) = rem(x, y)
rem(x::Int64, ::Type{T}) where T<:__Bits = arith.wrap(T, x)
rem(x::Int32, ::Type{T}) where T<:Union{Int32, Int16, Int8, Bool} = arith.wrap(T, x)
rem(x::Int16, ::Type{T}) where T<:Union{Int16, Int8, Bool} = arith.wrap(T, x)
rem(x::Int8, ::Type{T}) where T<:Union{Int8, Bool} = arith.wrap(T, x)
rem(x::Union{Int32, Int16, Int8, Bool}, ::Type{Int64}) = arith.sext(Int64, x)
rem(x::Union{Int16, Int8, Bool}, ::Type{Int32}) = arith.sext(Int32, x)
rem(x::Union{Int8, Bool}, ::Type{Int16}) = arith.sext(Int16, x)
divrem(x, y) = (div(x, y), rem(x, y))
fldmod(x, y) = (fld(x, y), mod(x, y))
mod1(x::T, y::T) where T<:__Int = arith.add(arith.mod(arith.sub(x, one(x)), y), one(x))
function mod1(x::Number, y::Number)
    m = mod(x, y)
    return m == 0 ? m + y : m
end
fld1(x::Integer, y::Integer) = fld(x - 1, y) + 1
function gcd(x::T, y::T) where T<:__Int
    while y != 0
        x, y = y, rem(x, y)
    end
    return abs(x)
end
gcd(x::Integer, y::Integer) = __promoted(gcd, x, y)
lcm(x::T, y::T) where T<:__Int = x == 0 ? x : abs(x * div(y, gcd(y, x)))
lcm(x::Integer, y::Integer) = __promoted(lcm, x, y)
gcd(x, y, z, more...) = gcd(gcd(x, y), z, more...)
lcm(x, y, z, more...) = lcm(lcm(x, y), z, more...)
factorial(n::Int64) = n < 0 ? throw(DomainError(n, "`n` must not be negative.")) :
    n > 20 ? throw(OverflowError(string(n, " is too large to look up in the table; consider using `factorial(big(", n, "))` instead"))) :
    prod(1:n)
function binomial(n::Int64, k::Int64)
    k < 0 && return 0
    n < 0 && return (iseven(k) ? 1 : -1) * binomial(k - n - 1, k)
    k > n && return 0
    k = min(k, n - k)
    x = 1
    for i in 1:k
        x = div(x * (n - k + i), i)
    end
    return x
end
isqrt(n::Int64) = __isqrt(n, core.convert(Int64, arith.floor(math.sqrt(core.convert(Float64, n)))))
__isqrt(n, r) = r * r > n ? r - 1 : (r + 1) * (r + 1) <= n ? r + 1 : r
ispow2(n::Integer) = n > 0 && count_ones(n) == 1
function isprime(n::Int64)
    n < 2 && return false
    k = 2
    while k * k <= n
        n % k == 0 && return false
        k += 1
    end
    return true
end

# A constant exponent up to 3 is multiplied out, as in Julia, by the op itself where it is positive.
@inline function ^(x::__Float, n::Int64)
    if __known(n) && -2 <= n <= 1
        return n == 1 ? x : n == 0 ? one(x) : n == -1 ? inv(x) : inv(x) * inv(x)
    end
    return math.powi(x, n)
end
@inline function ^(x::T, n::Int64) where T<:__Int
    if __known(n) && 0 <= n <= 3
        return n == 2 ? x * x : n == 3 ? x * x * x : n == 1 ? x : one(x)
    end
    return arith.powi(x, n)
end
^(x::__Float, n::Union{Int32, Int16, Int8}) = math.powi(x, core.convert(Int64, n))
^(x::__Int, n::Union{Int32, Int16, Int8}) = arith.powi(x, core.convert(Int64, n))
^(x::__Arith, n::Bool) = core.select(n, x, one(x))
^(x::Bool, n::Bool) = arith.or(x, arith.not(n))
^(x::Bool, n::__Int) = n == 0 ? true : n > 0 || x ? x : throw(DomainError(n, "Cannot raise false to a negative power."))
^(x::T, y::T) where T<:__Float = math.pow(x, y)
# `x^-n` with the exponent in the text: a whole number becomes a float, as its inverse is none.
@inline __literal_pow(x, n) = n == -1 ? inv(x) : inv(x)^-n
@inline __literal_pow(x::__Float, n) = x^n
@inline __literal_pow(x::__Int, n) = Float64(x)^n
@inline __literal_pow(x::Irrational, n) = x^n
# A number of a program's own type, to a whole power: by squaring.
@inline function ^(x::Number, n::__Int)
    if __known(n) && 0 <= n <= 2
        return n == 2 ? x * x : n == 1 ? x : one(x)
    end
    return __power(x, n)
end
function __power(x, n)
    n < 0 && return __power(inv(x), -n)
    n == 0 && return one(x)
    while iseven(n)
        x = x * x
        n = n >> 1
    end
    y = x
    n = n >> 1
    while n > 0
        x = x * x
        if isodd(n)
            y = y * x
        end
        n = n >> 1
    end
    return y
end

power_by_squaring(x, n::Integer) = __power(x, n)
muladd(x::Number, y::Number, z::Number) = x * y + z
fma(x::T, y::T, z::T) where T<:__Float = arith.fma(x, y, z)
fma(x::__Int, y::__Int, z::__Int) = x * y + z
fma(x::Number, y::Number, z::Number) = fma(promote(x, y, z)...)
abs(x::__Arith) = arith.abs(x)
abs(x::Bool) = x
abs(x::Real) = signbit(x) ? -x : x
abs2(x::Real) = x * x
sign(x::T) where T<:__Int = core.select(arith.gt(x, zero(x)), one(x), core.select(arith.lt(x, zero(x)), arith.neg(one(x)), zero(x)))
sign(x::T) where T<:__Float = core.select(arith.gt(x, zero(x)), one(x), core.select(arith.lt(x, zero(x)), arith.neg(one(x)), ad.ignore(x)))
sign(x::Bool) = x
sign(x::Real) = x < zero(x) ? -one(x) : x > zero(x) ? one(x) : x
signbit(x::__Arith) = arith.signbit(x)
signbit(x::Bool) = false
signbit(x::Real) = x < 0
copysign(x::T, y::__Float) where T<:__Float = arith.copysign(x, arith.float_cast(T, y))
copysign(x::T, y::__Bits) where T<:__Float = core.select(signbit(y), -abs(x), abs(x))
copysign(x::__Int, y::__Num) = core.select(signbit(y), -abs(x), abs(x))
flipsign(x::__Arith, y::__Num) = core.select(signbit(y), arith.neg(x), x)
conj(x::Real) = x
real(x::Real) = x
imag(x::Real) = zero(x)
float(x::__Float) = x
float(x::__Bits) = core.convert(Float64, x)
float(x::Real) = Float64(x)
float(::Type{T}) where T<:__Float = T
float(::Type{T}) where T<:__Bits = Float64

zero(::Type{T}) where T<:__Num = core.convert(T, 0)
one(::Type{T}) where T<:__Num = core.convert(T, 1)
zero(::Type{T}) where T<:Number = convert(T, 0)
one(::Type{T}) where T<:Number = convert(T, 1)
zero(::Type{T}) where T<:AbstractIrrational = false
one(::Type{T}) where T<:AbstractIrrational = true
zero(x::Number) = zero(typeof(x))
one(x::Number) = one(typeof(x))
oneunit(x) = one(x)
typemin(::Type{Int64}) = -9223372036854775807 - 1
typemax(::Type{Int64}) = 9223372036854775807
typemin(::Type{Int32}) = core.convert(Int32, -2147483648)
typemax(::Type{Int32}) = core.convert(Int32, 2147483647)
typemin(::Type{Int16}) = core.convert(Int16, -32768)
typemax(::Type{Int16}) = core.convert(Int16, 32767)
typemin(::Type{Int8}) = core.convert(Int8, -128)
typemax(::Type{Int8}) = core.convert(Int8, 127)
typemin(::Type{Bool}) = false
typemax(::Type{Bool}) = true
typemin(::Type{T}) where T<:__Float = core.convert(T, -Inf)
typemax(::Type{T}) where T<:__Float = core.convert(T, Inf)
typemin(x::Real) = typemin(typeof(x))
typemax(x::Real) = typemax(typeof(x))
eps() = 2.220446049250313e-16
eps(::Type{Float64}) = 2.220446049250313e-16
eps(::Type{Float32}) = 1.1920929f-7
function eps(x::Float64)
    x = abs(ad.ignore(x))
    isfinite(x) || return NaN
    x < 2.2250738585072014e-308 && return 5.0e-324
    return arith.bitcast(Float64, arith.add(arith.bitcast(Int64, x), 1)) - x
end
floatmin(::Type{Float64}) = 2.2250738585072014e-308
floatmax(::Type{Float64}) = 1.7976931348623157e308
floatmin(::Type{Float32}) = 1.1754944f-38
floatmax(::Type{Float32}) = 3.4028235f38
floatmin() = floatmin(Float64)
floatmax() = floatmax(Float64)
maxintfloat(::Type{T} = Float64) where T<:__Float = 2 / eps(T)
sizeof(::Type{Bool}) = 1
sizeof(::Type{Int8}) = 1
sizeof(::Type{Int16}) = 2
sizeof(::Type{T}) where T<:Union{Int32, Float32} = 4
sizeof(::Type{T}) where T<:Union{Int64, Float64} = 8
sizeof(x::__Num) = sizeof(typeof(x))
reinterpret(::Type{T}, x::__Arith) where T<:__Arith = arith.bitcast(T, x)
# The derivative is 1: the difference to the next float is constant, and exact.
function nextfloat(x::Float64)
    isnan(x) || x == Inf ? x : x == -Inf || x == -5.0e-324 ? __next_float(x) : x + ad.ignore(__next_float(x) - x)
end
__next_float(x) = x == 0 ? 5.0e-324 : arith.bitcast(Float64, arith.add(arith.bitcast(Int64, x), x > 0 ? 1 : -1))
prevfloat(x::Float64) = -nextfloat(-x)

# --- comparison -----------------------------------------------------------------------------

==(x::T, y::T) where T<:__Num = arith.eq(x, y)
!=(x::T, y::T) where T<:__Num = arith.ne(x, y)
<(x::T, y::T) where T<:__Num = arith.lt(x, y)
<=(x::T, y::T) where T<:__Num = arith.le(x, y)
>(x::T, y::T) where T<:__Num = arith.gt(x, y)
>=(x::T, y::T) where T<:__Num = arith.ge(x, y)
==(x::Number, y::Number) = __promoted(__equal, x, y)
<(x::Real, y::Real) = __promoted(__less, x, y)
<=(x::Real, y::Real) = __promoted(__less_or_equal, x, y)
!=(x::__Num, y::__Num) = arith.not(x == y)
>(x::__Num, y::__Num) = y < x
>=(x::__Num, y::__Num) = y <= x
__equal(x::T, y::T) where T<:__Num = arith.eq(x, y)
__equal(x, y) = x == y
__less(x::T, y::T) where T<:__Num = arith.lt(x, y)
__less(x, y) = x < y
__less_or_equal(x::T, y::T) where T<:__Num = arith.le(x, y)
__less_or_equal(x, y) = x <= y

# Int64 with Float64 is compared exactly. A constant that has an equal float is that float.
@inline ==(n::Int64, y::Float64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.eq(core.convert(Float64, n), y) : __int_eq(n, y)
@inline ==(x::Float64, n::Int64) = n == x
@inline <(n::Int64, y::Float64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.lt(core.convert(Float64, n), y) : __int_lt(n, y)
@inline <(x::Float64, n::Int64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.lt(x, core.convert(Float64, n)) : __float_lt(x, n)
@inline <=(n::Int64, y::Float64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.le(core.convert(Float64, n), y) : arith.or(__int_lt(n, y), __int_eq(n, y))
@inline <=(x::Float64, n::Int64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.le(x, core.convert(Float64, n)) : arith.or(__float_lt(x, n), __int_eq(n, x))
@inline !=(x::Float64, n::Int64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.ne(x, core.convert(Float64, n)) : arith.not(__int_eq(n, x))
@inline !=(n::Int64, x::Float64) = x != n
@inline >(x::Float64, n::Int64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.gt(x, core.convert(Float64, n)) : __int_lt(n, x)
@inline >=(x::Float64, n::Int64) = __known(n) && -9007199254740992 <= n <= 9007199254740992 ?
    arith.ge(x, core.convert(Float64, n)) : arith.or(__int_lt(n, x), __int_eq(n, x))
# 2.0^63 is the only float that equals the float of an integer and is out of range.
__int_eq(n, y) = arith.and(arith.and(arith.eq(core.convert(Float64, n), y), arith.lt(y, 9.223372036854775807e18)),
    arith.eq(n, arith.float_to_int_sat(Int64, y)))
function __int_lt(n, y)
    x = core.convert(Float64, n)
    return arith.or(arith.lt(x, y), arith.and(arith.eq(x, y),
        arith.or(arith.lt(n, arith.float_to_int_sat(Int64, y)), arith.eq(y, 9.223372036854775807e18))))
end
function __float_lt(y, n)
    x = core.convert(Float64, n)
    return arith.or(arith.lt(y, x), arith.and(arith.eq(x, y), arith.and(arith.lt(y, 9.223372036854775807e18),
        arith.lt(arith.float_to_int_sat(Int64, y), n))))
end

isless(x::T, y::T) where T<:__Bits = arith.lt(x, y)
isless(x::T, y::T) where T<:__Float = arith.or(arith.or(arith.lt(x, y), arith.and(arith.isnan(y), arith.not(arith.isnan(x)))),
    arith.and(arith.eq(x, y), arith.and(arith.signbit(x), arith.not(arith.signbit(y)))))
isless(x::Real, y::Real) = __isless_promoted(promote(x, y)...)
__isless_promoted(x::T, y::T) where T<:__Num = isless(x, y)
__isless_promoted(x, y) = x < y
isequal(x::T, y::T) where T<:__Float = arith.or(arith.and(arith.isnan(x), arith.isnan(y)), core.same(x, y))
isequal(x::__Num, y::__Num) = __isequal_promoted(promote(x, y)...)
__isequal_promoted(x::__Float, y::__Float) = isequal(x, y)
__isequal_promoted(x, y) = x == y
cmp(x, y) = isless(x, y) ? -1 : isless(y, x) ? 1 : 0
min(x::T, y::T) where T<:__Arith = arith.min(x, y)
max(x::T, y::T) where T<:__Arith = arith.max(x, y)
min(x::Bool, y::Bool) = arith.and(x, y)
max(x::Bool, y::Bool) = arith.or(x, y)
min(x::__Num, y::__Num) = min(promote(x, y)...)
max(x::__Num, y::__Num) = max(promote(x, y)...)
min(x, y) = isless(y, x) ? y : x
max(x, y) = isless(y, x) ? x : y
min(x) = x
max(x) = x
min(x, y, z, more...) = min(min(x, y), z, more...)
max(x, y, z, more...) = max(max(x, y), z, more...)
minmax(x, y) = (min(x, y), max(x, y))
clamp(x::T, lo::T, hi::T) where T<:__Num = core.select(x > hi, hi, core.select(x < lo, lo, x))
clamp(x::__Num, lo::__Num, hi::__Num) = clamp(promote(x, lo, hi)...)
clamp(x, lo, hi) = x > hi ? hi : x < lo ? lo : x

isnan(x::__Float) = arith.isnan(x)
isinf(x::__Float) = arith.isinf(x)
isfinite(x::__Float) = arith.isfinite(x)
isnan(x::Real) = x != x
isinf(x::Real) = !isnan(x) && !isfinite(x)
isfinite(x::Real) = x - x == 0
isnan(x::__Bits) = false
isinf(x::__Bits) = false
isfinite(x::__Bits) = true
iszero(x) = x == zero(x)
isone(x) = x == one(x)
iseven(x::__Int) = arith.eq(arith.and(x, one(x)), zero(x))
isodd(x::__Int) = arith.ne(arith.and(x, one(x)), zero(x))
iseven(x::__Float) = isinteger(x) && rem(x, 2) == 0
isodd(x::__Float) = isinteger(x) && abs(rem(x, 2)) == 1
isinteger(x::__Float) = arith.eq(arith.sub(x, arith.trunc(x)), zero(x))
isinteger(x::Integer) = true
isreal(x::Real) = true
# Whether two numbers differ by at most the square root of the precision.
@inline isapprox(x::Number, y::Number) = x == y || (isfinite(x) && isfinite(y) && abs(x - y) <= __rtol(x, y) * max(abs(x), abs(y)))
isapprox(x::Integer, y::Integer) = x == y
__rtol(x, y) = max(__rtol(typeof(x)), __rtol(typeof(y)))
__rtol(::Type{Float64}) = 1.4901161193847656e-8
__rtol(::Type{Float32}) = 0.00034526698300124393
__rtol(::Type{T}) where T = 0.0
const ≈ = isapprox
≉(x, y; kw...) = !isapprox(x, y; kw...)

# --- bits -----------------------------------------------------------------------------------

!(x::Bool) = arith.not(x)
!(f::Function) = ComposedFunction(!, f)
&(x::T, y::T) where T<:__Bits = arith.and(x, y)
|(x::T, y::T) where T<:__Bits = arith.or(x, y)
xor(x::T, y::T) where T<:__Bits = arith.xor(x, y)
&(x::Integer, y::Integer) = __promoted(&, x, y)
|(x::Integer, y::Integer) = __promoted(|, x, y)
xor(x::Integer, y::Integer) = __promoted(xor, x, y)
&(x, y, z, more...) = &(x & y, z, more...)
|(x, y, z, more...) = |(x | y, z, more...)
⊻(x, y) = xor(x, y)
~(x::__Bits) = arith.not(x)
<<(x::__Int, n::Integer) = arith.shl(x, Int64(n))
>>(x::__Int, n::Integer) = arith.ashr(x, Int64(n))
>>>(x::__Int, n::Integer) = arith.shr(x, Int64(n))
count_ones(x::__Int) = arith.popcount(x)
count_zeros(x::__Int) = arith.popcount(arith.not(x))
function bitrotate(x::Integer, k::Integer)
    n = 8 * sizeof(x)
    k = mod(k, n)
    return (x << k) | (x >>> (n - k))
end
leading_zeros(x::__Int) = arith.clz(x)
trailing_zeros(x::__Int) = arith.ctz(x)

# --- rounding -------------------------------------------------------------------------------

floor(x::__Float) = arith.floor(x)
ceil(x::__Float) = arith.ceil(x)
round(x::__Float) = arith.round(x)
trunc(x::__Float) = arith.trunc(x)
floor(x::Integer) = x
ceil(x::Integer) = x
round(x::Integer) = x
trunc(x::Integer) = x
floor(::Type{T}, x::Real) where T<:Number = convert(T, floor(x))
ceil(::Type{T}, x::Real) where T<:Number = convert(T, ceil(x))
round(::Type{T}, x::Real) where T<:Number = convert(T, round(x))
trunc(::Type{T}, x::Real) where T<:Number = convert(T, trunc(x))

# --- a number as a collection of itself ------------------------------------------------------

length(x::Number) = 1
size(x::Number) = ()
ndims(x::Number) = 0
first(x::Number) = x
last(x::Number) = x
isempty(x::Number) = false
eltype(::Type{T}) where T<:Number = T
eachindex(x::Number) = OneTo(1)
firstindex(x::Number) = 1
lastindex(x::Number) = 1
getindex(x::Number) = x
getindex(x::Number, i::Int64) = i == 1 ? x : __out_of_bounds(x, i)
in(x::Number, y::Number) = x == y
transpose(x::Number) = x
adjoint(x::Number) = conj(x)

# --- more of integers -----------------------------------------------------------------------

nand(x::Bool...) = !(&(x...))
nor(x::Bool...) = !(|(x...))
unsafe_trunc(::Type{T}, x) where T = trunc(T, x)
modf(x::__Float) = (x - trunc(x), trunc(x))
# The cofactors of Bézout's identity, by Euclid's extended algorithm.
function gcdx(a::Integer, b::Integer)
    s, t, u, v = one(a), zero(a), zero(a), one(a)
    x, y = a, b
    while y != 0
        q = div(x, y)
        x, y = y, x - q * y
        s, t = t, s - q * t
        u, v = v, u - q * v
    end
    return x < 0 ? (-x, -s, -u) : (x, s, u)
end
function powermod(x::Integer, n::Integer, m::Integer)
    n < 0 && return powermod(invmod(x, m), -n, m)
    y, r = mod(x, m), mod(one(m), m)
    while n > 0
        isodd(n) && (r = mod(widemul(r, y), m) % typeof(m))
        y = mod(widemul(y, y), m) % typeof(m)
        n >>= 1
    end
    return r
end
function invmod(x::Integer, m::Integer)
    g, s = gcdx(x, m)
    g == 1 || throw(DomainError((x, m), "Greatest common divisor is " * string(g) * "."))
    return mod(s, m)
end
function nextpow(a::Real, x::Real)
    p = one(a)
    while p < x
        p *= a
    end
    return p
end
function prevpow(a::Real, x::Real)
    p = one(a)
    while p * a <= x
        p *= a
    end
    return p
end
