# Unsigned integers: the bits of a signed one in a struct.

struct UInt8 <: Unsigned
    bits::Int8
    UInt8(x::__Num) = __to_unsigned(UInt8, x)
end
struct UInt16 <: Unsigned
    bits::Int16
    UInt16(x::__Num) = __to_unsigned(UInt16, x)
end
struct UInt32 <: Unsigned
    bits::Int32
    UInt32(x::__Num) = __to_unsigned(UInt32, x)
end
struct UInt64 <: Unsigned
    bits::Int64
    UInt64(x::__Num) = __to_unsigned(UInt64, x)
end
const UInt = Union{UInt64}
const __UInt = Union{UInt8, UInt16, UInt32, UInt64}
const __Integers = Union{Int64, Int32, Int16, Int8, UInt8, UInt16, UInt32, UInt64}
__UInt8(x) = __new(UInt8, arith.wrap(Int8, x))
__UInt16(x) = __new(UInt16, arith.wrap(Int16, x))
__UInt32(x) = __new(UInt32, arith.wrap(Int32, x))
__UInt64(x) = __new(UInt64, x)

# --- conversion -----------------------------------------------------------------------------

signed(::Type{UInt8}) = Int8
signed(::Type{UInt16}) = Int16
signed(::Type{UInt32}) = Int32
signed(::Type{UInt64}) = Int64
signed(::Type{T}) where T<:__Int = T
unsigned(::Type{Int8}) = UInt8
unsigned(::Type{Int16}) = UInt16
unsigned(::Type{Int32}) = UInt32
unsigned(::Type{Int64}) = UInt64
unsigned(::Type{T}) where T<:__UInt = T
signed(x::__UInt) = x.bits
signed(x::__Int) = x
unsigned(x::__UInt) = x
unsigned(x::__Int) = __new(unsigned(typeof(x)), x)
# The bits as an Int64: less than 0 only for an UInt64.
__as_int(x::UInt8) = arith.and(arith.sext(Int64, x.bits), 255)
__as_int(x::UInt16) = arith.and(arith.sext(Int64, x.bits), 65535)
__as_int(x::UInt32) = arith.and(arith.sext(Int64, x.bits), 4294967295)
__as_int(x::UInt64) = x.bits
__as_int(x::__Int) = Int64(x)
__as_int(x::Bool) = arith.zext(Int64, x)
__of_int(::Type{UInt8}, n) = __UInt8(n)
__of_int(::Type{UInt16}, n) = __UInt16(n)
__of_int(::Type{UInt32}, n) = __UInt32(n)
__of_int(::Type{UInt64}, n) = __UInt64(n)
__of_int(::Type{T}, n) where T<:__Bits = arith.wrap(T, n)
__of_int(::Type{Int64}, n) = n
(::Type{T})(x::T) where T<:__UInt = x
(::Type{T})(x::__UInt) where T<:__UInt = __to_unsigned(T, x)
function __to_unsigned(::Type{T}, x::Union{__Integers, Bool}) where T
    n = __as_int(x)
    y = __of_int(T, n)
    (n < 0) == (T === UInt64 && x isa UInt64 && n < 0) && __as_int(y) == n || throw(InexactError(:convert, T, x))
    return y
end
function __to_unsigned(::Type{T}, x::AbstractFloat) where T
    isinteger(x) && 0 <= x && x < 18446744073709551616.0 || throw(InexactError(nameof(T), T, x))
    x < 9223372036854775808.0 && return __to_unsigned(T, Int64(x))
    return __to_unsigned(T, UInt64(Int64(x / 2)) << 1)
end
function convert(::Type{T}, x::__UInt) where T<:__Int
    n = __as_int(x)
    (n < 0 || n > __as_int(typemax(T))) && throw(InexactError(:convert, T, x))
    return __of_int(T, n)
end
function convert(::Type{T}, x::__UInt) where T<:__Float
    n = __as_int(x)
    return n < 0 ? 2 * core.convert(T, arith.or(arith.shr(n, 1), arith.and(n, 1))) : core.convert(T, n)
end
convert(::Type{Bool}, x::__UInt) = convert(Bool, Int64(x))
(::Type{T})(x::__UInt) where T<:__Num = convert(T, x)
float(x::__UInt) = Float64(x)
float(::Type{T}) where T<:__UInt = Float64
rem(x::__UInt, ::Type{T}) where T<:__Integers = __of_int(T, __as_int(x))
rem(x::__Num, ::Type{T}) where T<:__UInt = __of_int(T, __as_int(x))
rem(x::T, ::Type{T}) where T<:__UInt = x
rem(x::Int64, ::Type{Int64}) = x
reinterpret(::Type{T}, x::T) where T<:__UInt = x
reinterpret(::Type{T}, x::__Int) where T<:__UInt = __new(T, x)
reinterpret(::Type{T}, x::__Float) where T<:__UInt = __new(T, arith.bitcast(signed(T), x))
reinterpret(::Type{T}, x::__UInt) where T<:__Arith = arith.bitcast(T, x.bits)
promote_rule(::Type{T}, ::Type{Bool}) where T<:__UInt = T
promote_rule(::Type{T}, ::Type{UInt8}) where T<:Union{UInt16, UInt32, UInt64} = T
promote_rule(::Type{T}, ::Type{UInt16}) where T<:Union{UInt32, UInt64} = T
promote_rule(::Type{UInt64}, ::Type{UInt32}) = UInt64
# With a signed integer, the wider type; the unsigned one where they are as wide.
promote_rule(::Type{T}, ::Type{S}) where {T<:__UInt, S<:__Int} = sizeof(S) > sizeof(T) ? S : T
promote_rule(::Type{S}, ::Type{T}) where {S<:__Float, T<:__UInt} = S
sizeof(::Type{T}) where T<:__UInt = sizeof(signed(T))
zero(::Type{T}) where T<:__UInt = __of_int(T, 0)
one(::Type{T}) where T<:__UInt = __of_int(T, 1)
typemin(::Type{T}) where T<:__UInt = zero(T)
typemax(::Type{T}) where T<:__UInt = __of_int(T, -1)

# --- arithmetic, which wraps ----------------------------------------------------------------

+(x::T, y::T) where T<:__UInt = __new(T, arith.add(x.bits, y.bits))
-(x::T, y::T) where T<:__UInt = __new(T, arith.sub(x.bits, y.bits))
*(x::T, y::T) where T<:__UInt = __new(T, arith.mul(x.bits, y.bits))
-(x::__UInt) = __new(typeof(x), arith.neg(x.bits))
/(x::__UInt, y::__UInt) = Float64(x) / Float64(y)
inv(x::__UInt) = inv(Float64(x))
div(x::T, y::T) where T<:__UInt = __of_int(T, __unsigned_div(__as_int(x), __as_int(y)))
rem(x::T, y::T) where T<:__UInt = x - div(x, y) * y
mod(x::T, y::T) where T<:__UInt = rem(x, y)
fld(x::T, y::T) where T<:__UInt = div(x, y)
cld(x::T, y::T) where T<:__UInt = iszero(rem(x, y)) ? div(x, y) : div(x, y) + one(x)
function __unsigned_div(a, b)
    a >= 0 && b >= 0 && return arith.div(a, b)
    b < 0 && return Int64(__unsigned_less_or_equal(b, a))
    b == 0 && throw(DivideError())
    q = arith.shl(arith.div(arith.shr(a, 1), b), 1)
    return __unsigned_less_or_equal(b, a - q * b) ? q + 1 : q
end
__unsigned_less(a, b) = arith.lt(arith.xor(a, typemin(Int64)), arith.xor(b, typemin(Int64)))
__unsigned_less_or_equal(a, b) = arith.le(arith.xor(a, typemin(Int64)), arith.xor(b, typemin(Int64)))
gcd(x::T, y::T) where T<:__UInt = iszero(y) ? x : gcd(y, rem(x, y))
^(x::__UInt, n::__Int) = __power(x, n)
abs(x::__UInt) = x
sign(x::__UInt) = iszero(x) ? x : one(x)
signbit(x::__UInt) = false
isinteger(x::__UInt) = true
iseven(x::__UInt) = iseven(x.bits)
isodd(x::__UInt) = isodd(x.bits)
&(x::T, y::T) where T<:__UInt = __new(T, arith.and(x.bits, y.bits))
|(x::T, y::T) where T<:__UInt = __new(T, arith.or(x.bits, y.bits))
xor(x::T, y::T) where T<:__UInt = __new(T, arith.xor(x.bits, y.bits))
~(x::__UInt) = __new(typeof(x), arith.not(x.bits))
<<(x::__UInt, n::Integer) = __new(typeof(x), arith.shl(x.bits, Int64(n)))
>>(x::__UInt, n::Integer) = __new(typeof(x), arith.shr(x.bits, Int64(n)))
>>>(x::__UInt, n::Integer) = x >> n
<<(x::__Int, n::__UInt) = x << Int64(n)
count_ones(x::__UInt) = count_ones(x.bits)
count_zeros(x::__UInt) = count_zeros(x.bits)
leading_zeros(x::__UInt) = leading_zeros(x.bits)
trailing_zeros(x::__UInt) = trailing_zeros(x.bits)

# --- comparison, by value -------------------------------------------------------------------

==(x::T, y::T) where T<:__UInt = arith.eq(x.bits, y.bits)
<(x::T, y::T) where T<:__UInt = __unsigned_less(__as_int(x), __as_int(y))
<=(x::T, y::T) where T<:__UInt = __unsigned_less_or_equal(__as_int(x), __as_int(y))
isless(x::T, y::T) where T<:__UInt = x < y
isless(x::__UInt, y::__Int) = x < y
isless(x::__Int, y::__UInt) = x < y
isequal(x::__UInt, y::__Num) = x == y
isequal(x::__Num, y::__UInt) = x == y
==(x::__UInt, y::__Int) = __as_int(x) >= 0 && y >= 0 && __as_int(x) == __as_int(y)
==(x::__Int, y::__UInt) = y == x
<(x::__UInt, y::__Int) = y >= 0 && __unsigned_less(__as_int(x), __as_int(y))
<(x::__Int, y::__UInt) = x < 0 || __unsigned_less(__as_int(x), __as_int(y))
<=(x::__UInt, y::__Int) = !(y < x)
<=(x::__Int, y::__UInt) = !(y < x)

__widen(x::Union{UInt8, UInt16, UInt32}) = UInt64(x)
__add(x, y::Union{UInt8, UInt16, UInt32}) = __widen(x) + __widen(y)

# --- hashes ---------------------------------------------------------------------------------
# A program's own types define `hash(x::T, h::UInt)`.

hash(x) = hash(x, zero(UInt64))
hash(x, h::UInt64) = __mix_hash(core.hash(x), h)
hash(x::Union{AbstractArray, Tuple}, h::UInt64) = __hash_all(x, h)
function __hash_all(xs, h)
    h = __mix_hash(length(xs), h)
    for x in xs
        h = hash(x, h)
    end
    return h
end
__mix_hash(n, h) = __UInt64(core.hash((n, h.bits)))
objectid(x) = __UInt64(core.hash(x))
# The hash of a key of a dictionary: a number from 0 on.
@inline __key_hash(x) = arith.and(hash(x).bits, 9223372036854775807)
@inline __key_hash(x::Union{__Num, String, Symbol, Type, Nothing}) = core.hash(x)
