# Characters, by their code points.

struct Char <: AbstractChar
    code::Int32
    Char(x) = __to_char(x)
end
__Char(x) = __new(Char, arith.wrap(Int32, x))
__to_char(x::Char) = x
function __to_char(x::Integer)
    n = Int64(x)
    (0 <= n < 55296) || (57344 <= n < 1114112) ||
        throw(ArgumentError(string("the code ", n, " is that of no character")))
    return __Char(n)
end
convert(::Type{Char}, x::Integer) = Char(x)
codepoint(c::Char) = __new(UInt32, c.code)
(::Type{T})(c::Char) where T<:Union{__Integers, __Wide} = convert(T, Int64(c))
Int64(c::Char) = arith.sext(Int64, c.code)
convert(::Type{T}, c::Char) where T<:Union{__Integers, __Wide} = T(c)
==(a::Char, b::Char) = arith.eq(a.code, b.code)
<(a::Char, b::Char) = arith.lt(a.code, b.code)
<=(a::Char, b::Char) = arith.le(a.code, b.code)
isless(a::Char, b::Char) = a < b
isequal(a::Char, b::Char) = a == b
-(a::Char, b::Char) = Int64(a) - Int64(b)
-(c::Char, n::Integer) = Char(Int64(c) - Int64(n))
+(c::Char, n::Integer) = Char(Int64(c) + Int64(n))
+(n::Integer, c::Char) = c + n
hash(c::Char, h::UInt64) = __mix_hash(core.hash(c), h)
__key_hash(c::Char) = core.hash(c)
one(::Type{Char}) = 1
# The range counts in whole numbers.
struct __CharRange <: AbstractRange{Char}
    first::Char
    step::Int64
    last::Char
end
(:)(a::Char, b::Char) = __CharRange(a, 1, b)
(:)(a::Char, s::Integer, b::Char) = __CharRange(a, s, b)
length(r::__CharRange) = max(0, div(r.last - r.first + r.step, r.step))
size(r::__CharRange) = (length(r),)
first(r::__CharRange) = r.first
last(r::__CharRange) = __at(r, length(r) - 1)
step(r::__CharRange) = r.step
__at(r::__CharRange, s) = __Char(Int64(r.first) + s * r.step)
getindex(r::__CharRange, i::Int64) = 1 <= i <= length(r) ? __at(r, i - 1) : __out_of_bounds(r, i)
in(c::Char, r::__CharRange) = !isempty(r) && min(r.first, last(r)) <= c <= max(r.first, last(r)) && mod(c - r.first, r.step) == 0

__class(c) = text.class(c.code)
isletter(c::Char) = __class(c) & 1 != 0
isdigit(c::Char) = __class(c) & 2 != 0
isspace(c::Char) = __class(c) & 4 != 0
isuppercase(c::Char) = __class(c) & 8 != 0
islowercase(c::Char) = __class(c) & 16 != 0
ispunct(c::Char) = __class(c) & 32 != 0
iscntrl(c::Char) = __class(c) & 64 != 0
isnumeric(c::Char) = __class(c) & 128 != 0
isprint(c::Char) = !iscntrl(c)
isascii(c::Char) = c < '\u80'
isxdigit(c::Char) = '0' <= c <= '9' || 'a' <= c <= 'f' || 'A' <= c <= 'F'
isvalid(c::Char) = true
uppercase(c::Char) = __one_char(text.change(:upper, text.of_char(c.code)), c)
lowercase(c::Char) = __one_char(text.change(:lower, text.of_char(c.code)), c)
titlecase(c::Char) = uppercase(c)
# A character whose other form is several ones stays.
__one_char(s, c) = text.length(s) == __width(text.char(s, 1)) ? __Char(text.char(s, 1)) : c
# The bytes of a character by its code.
@inline __width(code::Int32) = code < Int32(128) ? 1 : code < Int32(2048) ? 2 : code < Int32(65536) ? 3 : 4
ncodeunits(c::Char) = __width(c.code)
*(a::Union{Char, String}, b::Union{Char, String}) = core.string(a, b)
*(a::Union{Char, String}, b::Union{Char, String}, c::Union{Char, String}, more::Union{Char, String}...) = core.string(a, b, c, string(more...))
^(c::Char, n::Integer) = repeat(c, n)
repeat(c::Char, n::Integer) = text.of_char(c.code)^n
length(c::Char) = 1
iterate(c::Char) = (c, nothing)
iterate(c::Char, ::Nothing) = nothing
getindex(c::Char) = c
in(a::Char, b::Char) = a == b
parse(::Type{T}, c::Char; base = 10) where T<:Integer = parse(T, string(c); base)
