# Integers of 128 bits: two words, the low one first. Most methods are for both types.

struct Int128 <: Signed
    low::Int64
    high::Int64
    Int128(x::__Float) = __wide_of_float(Int128, x)
end
struct UInt128 <: Unsigned
    low::Int64
    high::Int64
    UInt128(x::__Float) = __wide_of_float(UInt128, x)
end
const __Wide = Union{Int128, UInt128}
const __Narrow = Union{Bool, Int64, Int32, Int16, Int8, UInt8, UInt16, UInt32, UInt64}
const __AnyInt = Union{Bool, Int64, Int32, Int16, Int8, UInt8, UInt16, UInt32, UInt64, Int128, UInt128}
__Int128(low, high) = __new(Int128, low, high)
__UInt128(low, high) = __new(UInt128, low, high)

# --- conversion -----------------------------------------------------------------------------

__low(x::__Wide) = x.low
__low(x::__Narrow) = __as_int(x)
__high(x::__Wide) = x.high
__high(x::__Int) = arith.ashr(__as_int(x), 63)
__high(x::Union{Bool, __UInt}) = 0
__is_negative(x::Union{__Int, Int128}) = __high(x) < 0
__is_negative(x::Union{Bool, __UInt, UInt128}) = false
__fits_word(x::__Wide) = x.high == arith.ashr(x.low, 63) && (x.high < 0) == __is_negative(x)
rem(x::__AnyInt, ::Type{T}) where T<:__Wide = __new(T, __low(x), __high(x))
rem(x::__Wide, ::Type{T}) where T<:Union{__Integers, Bool} = __of_int(T, x.low)
function __checked_rem(x, ::Type{T}, name) where T
    y = rem(x, T)
    return y == x ? y : throw(InexactError(name, T, x))
end
Int128(x::__Narrow) = rem(x, Int128)
UInt128(x::Union{Bool, __UInt}) = rem(x, UInt128)
UInt128(x::Union{__Int, Int128}) = __checked_rem(x, UInt128, :check_top_bit)
Int128(x::UInt128) = __checked_rem(x, Int128, :check_top_bit)
(::Type{T})(x::__Wide) where T<:__Num = convert(T, x)
(::Type{T})(x::__Wide) where T<:__UInt = convert(T, x)
convert(::Type{T}, x::__Wide) where T<:__Integers = __checked_rem(x, T, :trunc)
convert(::Type{Bool}, x::__Wide) = __checked_rem(x, Bool, :Bool)
convert(::Type{T}, x::__Wide) where T<:__Float = __fits_word(x) ? core.convert(T, x.low) : __float_of_wide(T, x)
# The 64 highest bits, of which the last says whether there are others below, round as all of them do.
function __float_of_wide(::Type{T}, x) where T
    u = __is_negative(x) ? -x : x
    n = leading_zeros(u)
    u = u << n
    y = convert(T, __UInt64(arith.or(u.high, arith.zext(Int64, u.low != 0))))
    y = y * core.convert(T, arith.bitcast(Float64, arith.shl(1087 - n, 52)))
    return __is_negative(x) ? -y : y
end
function __wide_of_float(::Type{T}, x) where T
    y = Float64(x)
    low, high = T === Int128 ? (-1.7014118346046923e38, 1.7014118346046923e38) : (0.0, 3.402823669209385e38)
    isinteger(y) && low <= y < high || throw(InexactError(nameof(T), T, x))
    -9.0e18 < y < 9.0e18 && return rem(Int64(y), T)
    bits = arith.bitcast(Int64, abs(y))
    u = __new(T, arith.or(arith.and(bits, 4503599627370495), 4503599627370496), 0) << (arith.shr(bits, 52) - 1075)
    return y < 0 ? -u : u
end
float(::Type{T}) where T<:__Wide = Float64
signed(::Type{T}) where T<:__Wide = Int128
unsigned(::Type{T}) where T<:__Wide = UInt128
signed(x::__Wide) = rem(x, Int128)
unsigned(x::__Wide) = rem(x, UInt128)
reinterpret(::Type{T}, x::__Wide) where T<:__Wide = rem(x, T)
promote_rule(::Type{T}, ::Type{S}) where {T<:__Wide, S<:__Narrow} = T
promote_rule(::Type{UInt128}, ::Type{Int128}) = UInt128
promote_rule(::Type{S}, ::Type{T}) where {S<:__Float, T<:__Wide} = S
promote_rule(::Type{T}, ::Type{Irrational{S}}) where {T<:Union{__UInt, __Wide}, S} = Float64
widen(::Type{T}) where T<:__Int = sizeof(T) == 1 ? Int16 : sizeof(T) == 2 ? Int32 : sizeof(T) == 4 ? Int64 : Int128
widen(::Type{T}) where T<:__UInt = sizeof(T) == 1 ? UInt16 : sizeof(T) == 2 ? UInt32 : sizeof(T) == 4 ? UInt64 : UInt128
widen(::Type{Float32}) = Float64
widen(::Type{Float64}) = BigFloat()
widen(::Type{T}) where T<:__Wide = BigInt()
widen(x::Number) = convert(widen(typeof(x)), x)
widemul(x::Number, y::Number) = widen(x) * widen(y)
sizeof(::Type{T}) where T<:__Wide = 16
sizeof(x::Union{__UInt, __Wide}) = sizeof(typeof(x))
zero(::Type{T}) where T<:__Wide = __new(T, 0, 0)
one(::Type{T}) where T<:__Wide = __new(T, 1, 0)
typemin(::Type{Int128}) = __Int128(0, typemin(Int64))
typemax(::Type{Int128}) = __Int128(-1, typemax(Int64))
typemin(::Type{UInt128}) = __UInt128(0, 0)
typemax(::Type{UInt128}) = __UInt128(-1, -1)

# --- arithmetic, which wraps ----------------------------------------------------------------

# What the sign of one operand cannot be converted to wraps as well.
const __Wrapping = Union{typeof(+), typeof(-), typeof(*), typeof(&), typeof(|), typeof(xor)}
@inline __promoted(f::__Wrapping, x::Union{__UInt, __Wide}, y::__AnyInt) = __wrapped(f, promote_type(typeof(x), typeof(y)), x, y)
@inline __promoted(f::__Wrapping, x::__Bits, y::Union{__UInt, __Wide}) = __wrapped(f, promote_type(typeof(x), typeof(y)), x, y)
@inline __wrapped(f, ::Type{T}, x, y) where T = f(rem(x, T), rem(y, T))
function +(x::T, y::T) where T<:__Wide
    low = arith.add(x.low, y.low)
    carry = arith.zext(Int64, __unsigned_less(low, x.low))
    return __new(T, low, arith.add(arith.add(x.high, y.high), carry))
end
function -(x::T, y::T) where T<:__Wide
    borrow = arith.zext(Int64, __unsigned_less(x.low, y.low))
    return __new(T, arith.sub(x.low, y.low), arith.sub(arith.sub(x.high, y.high), borrow))
end
-(x::__Wide) = zero(x) - x
function *(x::T, y::T) where T<:__Wide
    a, b = arith.and(x.low, 4294967295), arith.shr(x.low, 32)
    c, d = arith.and(y.low, 4294967295), arith.shr(y.low, 32)
    s = b * c + arith.shr(a * c, 32)
    t = a * d + arith.and(s, 4294967295)
    high = b * d + arith.shr(s, 32) + arith.shr(t, 32)
    return __new(T, x.low * y.low, high + x.high * y.low + x.low * y.high)
end
/(x::__Wide, y::__AnyInt) = Float64(x) / Float64(y)
/(x::__Narrow, y::__Wide) = Float64(x) / Float64(y)
# Quotient and remainder of unsigned numbers, in steps of almost 50 bits. The factor outweighs the
# rounding of three operations, so that no estimate is too large.
function __quotient(a::UInt128, b::UInt128)
    if a.high == 0 && b.high == 0
        q = __unsigned_div(a.low, b.low)
        return (__UInt128(q, 0), __UInt128(a.low - q * b.low, 0))
    end
    iszero(b) && throw(DivideError())
    q = zero(a)
    while b <= a
        part = floor(Float64(a) / Float64(b) * 0.999999999999999)
        part = part < 1 ? one(a) : UInt128(part)
        q, a = q + part, a - part * b
    end
    return (q, a)
end
function __quotient(x::Int128, y::Int128)
    q, r = __quotient(unsigned(abs(x)), unsigned(abs(y)))
    return ((x.high < 0) == (y.high < 0) ? signed(q) : -signed(q), x.high < 0 ? -signed(r) : signed(r))
end
function div(x::T, y::T) where T<:__Wide
    T === Int128 && y == -1 && x == typemin(T) && throw(DivideError())
    return __quotient(x, y)[1]
end
rem(x::T, y::T) where T<:__Wide = __quotient(x, y)[2]
function mod(x::T, y::T) where T<:__Wide
    r = rem(x, y)
    return iszero(r) || __is_negative(r) == __is_negative(y) ? r : r + y
end
fld(x::T, y::T) where T<:__Wide = iszero(mod(x, y)) || __is_negative(x) == __is_negative(y) ? div(x, y) : div(x, y) - one(x)
cld(x::T, y::T) where T<:__Wide = iszero(mod(x, y)) || __is_negative(x) != __is_negative(y) ? div(x, y) : div(x, y) + one(x)
# Of a signed and an unsigned number.
function __promoted(f::Union{typeof(div), typeof(rem)}, x::Union{__Int, Int128}, y::Union{__UInt, UInt128})
    z = signed(f(unsigned(abs(x)), y))
    return __is_negative(x) ? -z : z
end
__promoted(::typeof(rem), x::Union{__UInt, UInt128}, y::Union{__Int, Int128}) = rem(x, unsigned(abs(y)))
function __promoted(::typeof(div), x::Union{__UInt, UInt128}, y::Union{__Int, Int128})
    z = div(x, unsigned(abs(y)))
    return __is_negative(y) ? -z : z
end
^(x::__Wide, n::__Int) = __whole_power(x, n)
^(x::__Wide, n::Union{Bool, __UInt, __Wide}) = __whole_power(x, n)
^(x::Union{__Bits, __UInt}, n::__Wide) = __whole_power(x, n)
^(x::T, n::__Wide) where T<:__Float = x^T(n)
function __whole_power(x, n)
    n < 0 || return __power(x, n)
    isone(x) && return x
    x == -1 && return iseven(n) ? one(x) : x
    throw(DomainError(x, "Cannot raise an integer x to a negative power.\nMake x a float by adding a zero decimal (e.g., 2.0^-n instead of 2^-n) or write 1/x^n or float(x)^-n."))
end
abs(x::UInt128) = x
signbit(x::__Wide) = __is_negative(x)
sign(x::__Wide) = iszero(x) ? x : __is_negative(x) ? -one(x) : one(x)
copysign(x::__Wide, y::Real) = signbit(x) == signbit(y) ? x : -x
flipsign(x::__Wide, y::Real) = signbit(y) ? -x : x
function gcd(x::T, y::T) where T<:__Wide
    while !iszero(y)
        x, y = y, rem(x, y)
    end
    return abs(x)
end
lcm(x::T, y::T) where T<:Union{__UInt, __Wide} = iszero(x) ? x : abs(x * div(y, gcd(x, y)))
# One step of Newton's method after the root of the float is at most 1 too large.
function isqrt(n::__Wide)
    iszero(n) && return n
    r = typeof(n)(floor(sqrt(Float64(n))))
    r = (r + div(n, r)) >> 1
    return r > div(n, r) ? r - one(r) : r
end
function factorial(n::T) where T<:__Wide
    n < 0 && throw(DomainError(n, "`n` must not be negative."))
    n > (T === Int128 ? 33 : 34) && throw(OverflowError(string(n, " is too large to look up in the table; consider using `factorial(big(", n, "))` instead")))
    return prod(one(T):n)
end

# --- bits -----------------------------------------------------------------------------------

&(x::T, y::T) where T<:__Wide = __new(T, arith.and(x.low, y.low), arith.and(x.high, y.high))
|(x::T, y::T) where T<:__Wide = __new(T, arith.or(x.low, y.low), arith.or(x.high, y.high))
xor(x::T, y::T) where T<:__Wide = __new(T, arith.xor(x.low, y.low), arith.xor(x.high, y.high))
~(x::__Wide) = __new(typeof(x), arith.not(x.low), arith.not(x.high))
__shift_count(n) = Int64(clamp(n, -128, 128))
<<(x::__Wide, n::Integer) = __shift(x, __shift_count(n))
>>(x::__Wide, n::Integer) = __shift(x, -__shift_count(n))
>>>(x::__Wide, n::Integer) = rem(unsigned(x) >> n, typeof(x))
__shift(x, n) = n < 0 ? __right(x, -n) : __new(typeof(x), arith.shl(x.low, n), arith.or(arith.shl(x.high, n), arith.shr(x.low, 64 - n)))
# The ops shift the other way for counts that are negative.
__right(x::Int128, n) = __Int128(arith.or(arith.shr(x.low, n), arith.shl(x.high, 64 - n)), arith.ashr(x.high, n))
__right(x::UInt128, n) = __UInt128(arith.or(arith.shr(x.low, n), arith.shr(x.high, n - 64)), arith.shr(x.high, n))
count_ones(x::__Wide) = count_ones(x.low) + count_ones(x.high)
count_zeros(x::__Wide) = 128 - count_ones(x)
leading_zeros(x::__Wide) = x.high == 0 ? 64 + leading_zeros(x.low) : leading_zeros(x.high)
trailing_zeros(x::__Wide) = x.low == 0 ? 64 + trailing_zeros(x.high) : trailing_zeros(x.low)
iseven(x::__Wide) = iseven(x.low)
isodd(x::__Wide) = isodd(x.low)

# --- comparison, by value -------------------------------------------------------------------

==(x::__Wide, y::__AnyInt) = __same_words(x, y)
==(x::__Narrow, y::__Wide) = __same_words(x, y)
<(x::__Wide, y::__AnyInt) = __less_words(x, y)
<(x::__Narrow, y::__Wide) = __less_words(x, y)
<=(x::__Wide, y::__AnyInt) = !__less_words(y, x)
<=(x::__Narrow, y::__Wide) = !__less_words(y, x)
isless(x::__Wide, y::__AnyInt) = __less_words(x, y)
isless(x::__Narrow, y::__Wide) = __less_words(x, y)
__same_words(x, y) = __low(x) == __low(y) && __high(x) == __high(y) && __is_negative(x) == __is_negative(y)
function __less_words(x, y)
    __is_negative(x) == __is_negative(y) || return __is_negative(x)
    return __high(x) == __high(y) ? __unsigned_less(__low(x), __low(y)) : __unsigned_less(__high(x), __high(y))
end
# Floats are compared exactly.
==(x::__Wide, y::__Float) = isinteger(y) && __beside(==, x, y)
==(x::__Float, y::__Wide) = y == x
<(x::__Wide, y::__Float) = __beside(<, x, ceil(y))
<(x::__Float, y::__Wide) = __beside(>, y, floor(x))
<=(x::__Wide, y::__Float) = __beside(<=, x, floor(y))
<=(x::__Float, y::__Wide) = __beside(>=, y, ceil(x))
isless(x::__Wide, y::__Float) = isnan(y) || x < y
isless(x::__Float, y::__Wide) = x < y
function __beside(op, x, y)
    isnan(y) && return false
    y >= 3.402823669209385e38 && return op(0, 1)
    y < -1.7014118346046923e38 && return op(0, -1)
    return y < 0 ? op(x, Int128(y)) : op(x, UInt128(y))
end
min(x::T, y::T) where T<:__Wide = y < x ? y : x
max(x::T, y::T) where T<:__Wide = y < x ? x : y
min(x::__Wide, y::Union{__Num, __UInt, __Wide}) = min(promote(x, y)...)
max(x::__Wide, y::Union{__Num, __UInt, __Wide}) = max(promote(x, y)...)
min(x::Union{__Num, __UInt}, y::__Wide) = min(promote(x, y)...)
max(x::Union{__Num, __UInt}, y::__Wide) = max(promote(x, y)...)

# Equal numbers have equal hashes, whatever their types.
hash(x::Union{__UInt, __Wide}, h::UInt64) = __mix_hash(__number_hash(x), h)
__key_hash(x::Union{__UInt, __Wide}) = __number_hash(x)
__number_hash(x::__UInt) = __as_int(x) >= 0 ? core.hash(__as_int(x)) : __number_hash(UInt128(x))
function __number_hash(x::__Wide)
    __fits_word(x) && return core.hash(x.low)
    y = Float64(x)
    return x == y ? core.hash(y) : core.hash((x.low, x.high))
end

# --- text -----------------------------------------------------------------------------------

string(n::__Wide; base::Integer = 10, pad::Integer = 1) = base == 10 && pad == 1 ? core.string(n) : __in_base(n, base, pad)
bitstring(x::__Wide) = string(bitstring(x.high), bitstring(x.low))
tryparse(::Type{T}, s::String; base = 10) where T<:__Wide = __of_words(T, text.number(T === Int128 ? :int128 : :uint128, s, base))
__of_words(T, n) = n isa Tuple{Int64, Int64} ? __new(T, n[1], n[2]) : nothing
__format_one(spec, x::__Wide) = text.format(spec, endswith(spec, ('e', 'E', 'f', 'F', 'g', 'G')) ? Float64(x) : x)

# --- numbers without a limit, which are not there -------------------------------------------

abstract type BigInt <: Signed end
abstract type BigFloat <: AbstractFloat end
const __Big = Union{BigInt, BigFloat}
BigInt(x...) = __no_big("BigInt", "`Int128` holds integers up to 2^127 - 1, `Float64` larger ones approximately")
BigFloat(x...; kw...) = __no_big("BigFloat", "the most precise type of floats is `Float64`")
big(x) = __no_big("big", "the widest types are `Int128`, `UInt128` and `Float64`")
tryparse(::Type{T}, s::String; base = 10) where T<:__Big = T(s)
@noinline __no_big(name, instead) = throw(ErrorException(string("`", name, "` is not supported: ", instead)))
