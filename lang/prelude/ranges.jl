# Ranges. A range of whole numbers knows its first and last element; one of floats its first
# element, step and length, each element being computed in one rounding from a step that is exact
# as a fraction where there is one.

struct OneTo{T} <: AbstractUnitRange{T}
    stop::T
end
OneTo(n::Int64) = OneTo{Int64}(max(n, 0))
struct UnitRange{T} <: AbstractUnitRange{T}
    start::T
    stop::T
end
struct StepRange{T, S} <: AbstractRange{T}
    start::T
    step::S
    stop::T
end
struct StepRangeLen{T} <: AbstractRange{T}
    ref::T
    step::T
    len::Int64
    # The elements are `(first + k * by) / over` if `over` is not 0.
    first::T
    by::T
    over::T
end
struct LinRange{T} <: AbstractRange{T}
    start::T
    stop::T
    len::Int64
end

@inline (:)(a::T, b::T) where T<:__Int = UnitRange{T}(a, arith.max(b, arith.sub(a, one(a))))
@inline (:)(a::Integer, b::Integer) = __promoted(:, a, b)
(:)(a::Real, b::Real) = a:oneunit(a):b
@inline (:)(a::T, s::T, b::T) where T<:__Int = StepRange{T, T}(a, s, __last_of(a, s, b))
(:)(a::T, b::T) where T<:Union{__UInt, __Wide} = UnitRange{T}(a, b < a ? a - one(a) : b)
(:)(a::T, s::T, b::T) where T<:Union{__UInt, __Wide} = StepRange{T, T}(a, s, __last_of(a, s, b))
(:)(a::Integer, s::Integer, b::Integer) = (:)(promote(a, s, b)...)
(:)(a::Real, s::Real, b::Real) = __float_range(promote(float(a), float(s), float(b))...)
function __last_of(a, s, b)
    s == 0 && throw(ArgumentError("step cannot be zero"))
    if s > 0
        return b < a ? a - one(a) : b - mod(b - a, s)
    end
    return b > a ? a + one(a) : b + mod(a - b, -s)
end
UnitRange(a::Int64, b::Int64) = a:b

# `a:s:b` of floats. If all three are fractions with a common small denominator, elements are
# computed from those, so that `0:0.1:1` is exact in each. The denominator and the length are
# constant for derivatives; the numerators are as differentiable as what they are made of.
function __float_range(a, s, b)
    s == 0 && throw(ArgumentError("step cannot be zero"))
    isnan(a + s + b) && throw(ArgumentError("the start, step and stop of a range are numbers"))
    over = ad.ignore(__common_denominator(s, a))
    if over != 0 && over < 1.0e7
        p, q, r = __nearest_whole(a * over), __nearest_whole(s * over), round(b * over)
        if p / over == a && q / over == s && abs(p) + abs(q) < 1.0e15
            n = r / over == b ? div(r - p, q) : floor((b - a) / s)
            return StepRangeLen(a, s, __range_length(n), p, q, over)
        end
    end
    n = round((b - a) / s)
    n = a + n * s == b || (s > 0) == (a + n * s < b) ? n : n - 1
    return StepRangeLen(a, s, __range_length(n), a, s, zero(a))
end
# The whole number next to `x`, with the derivative of `x`. The difference of two numbers so close
# is exact, and so is what it gives back; a zero keeps its sign.
__nearest_whole(x) = x - ad.ignore(x - round(x))
# A common denominator of two fractions, 0 if one of them is none.
function __common_denominator(x, y)
    over = __denominator(x)
    over == 0 && return over
    other = __denominator(y)
    return other == 0 ? zero(over) : over * other / __float_gcd(over, other)
end
__range_length(n) = n < 0 ? 0 : Int64(n) + 1
__float_gcd(x, y) = y == 0 ? x : __float_gcd(y, rem(x, y))
# The least whole number up to a million whose product with `x` is whole, in the sense that the
# quotient rounds to `x` (by continued fractions); 0 if there is none.
function __denominator(x)
    h, k, h1, k1 = one(x), zero(x), floor(x), one(x)
    rest = x - h1
    while h1 / k1 != x
        rest == 0 && return zero(x)
        rest = inv(rest)
        n = floor(rest)
        rest = rest - n
        h, h1 = h1, n * h1 + h
        k, k1 = k1, n * k1 + k
        k1 > 1.0e6 && return zero(x)
    end
    return k1
end
LinRange(a::T, b::T, n::Int64) where T<:Real = __linrange(float(a), float(b), n)
LinRange(a::Real, b::Real, n::Int64) = __linrange(promote(float(a), float(b))..., n)
function __linrange(a, b, n)
    __check_range(a, b, n)
    return LinRange{typeof(a)}(a, b, n)
end
function __check_range(a, b, n)
    n < 0 && throw(ArgumentError(string("range(", a, ", stop=", b, ", length=", n, "): negative length")))
    n == 1 && a != b && throw(ArgumentError(string("range(", a, ", stop=", b, ", length=", n, "): endpoints differ")))
end
function range(start; stop = nothing, length = nothing, step = nothing)
    if stop === nothing
        length === nothing && throw(ArgumentError("`range` needs `stop` or `length`"))
        step === nothing && return start:start + length - 1
        return start:step:start + step * (length - 1)
    end
    return range(start, stop; length, step)
end
function range(start, stop; length = nothing, step = nothing)
    length === nothing || step === nothing || throw(ArgumentError("`range` takes `length` or `step`, not both"))
    length === nothing || return range(start, stop, length)
    return step === nothing ? (start:stop) : (start:step:stop)
end
range(; start, stop = nothing, length = nothing, step = nothing) = range(start; stop, length, step)
range(a::Integer, b::Integer) = a:b
range(a::Real, b::Real, n::Int64) = __range_of(promote(float(a), float(b))..., n)
function __range_of(a, b, n)
    if n <= 1
        # By the step `a - b`, one of no elements begins at `a` and ends at `b`.
        __check_range(a, b, n)
        return StepRangeLen(a, a - b, n, a, a - b, zero(a))
    end
    over = ad.ignore(__common_denominator(a, b)) * (n - 1)
    if over != 0 && over < 1.0e12
        return StepRangeLen(a, (b - a) / (n - 1), n, a * over, (b * over - a * over) / (n - 1), over)
    end
    return StepRangeLen(a, (b - a) / (n - 1), n, a, (b - a) / (n - 1), zero(a))
end

@inline length(r::OneTo) = r.stop
@inline length(r::UnitRange) = r.stop < r.start ? 0 : Int64(r.stop - r.start) + 1
@inline function length(r::UnitRange{Int64})
    if __known(r.start) && r.start == 1
        return r.stop
    end
    return r.stop - r.start + 1
end
length(r::StepRange) = Int64(div(r.stop - r.start + r.step, r.step))
length(r::StepRangeLen) = r.len
length(r::LinRange) = r.len
# The k-th element, counted from 0, without a check.
@inline __at(r::OneTo, k) = k + 1
@inline __at(r::UnitRange{Int64}, k) = k + r.start
@inline __at(r::UnitRange{T}, k) where T = r.start + convert(T, k)
@inline __at(r::StepRange{Int64, Int64}, k) = r.start + k * r.step
@inline __at(r::StepRange{T, S}, k) where {T, S} = r.start + convert(T, k) * r.step
function __at(r::StepRangeLen{T}, k) where T
    x = r.first + convert(T, k) * r.by
    return r.over == 0 ? x : x / r.over
end
function __at(r::LinRange{T}, k) where T
    r.len == 1 && return r.start
    t = convert(T, k) / convert(T, r.len - 1)
    return (one(T) - t) * r.start + t * r.stop
end

size(r::AbstractRange) = (length(r),)
first(r::OneTo) = 1
first(r::AbstractUnitRange) = r.start
first(r::StepRange) = r.start
first(r::Union{StepRangeLen, LinRange}) = __at(r, 0)
last(r::AbstractUnitRange) = r.stop
last(r::StepRange) = r.stop
last(r::Union{StepRangeLen, LinRange}) = __at(r, r.len - 1)
step(r::AbstractUnitRange) = 1
step(r::StepRange) = r.step
step(r::StepRangeLen) = r.step
step(r::LinRange) = (r.stop - r.start) / max(r.len - 1, 1)
isempty(r::AbstractRange) = length(r) == 0
@inline function getindex(r::AbstractRange, i::Int64)
    __check_index(r, i, length(r))
    return __at(r, i - 1)
end
getindex(r::AbstractUnitRange, s::AbstractUnitRange{Int64}) = __subrange(r, s, UnitRange(__at(r, first(s) - 1), __at(r, last(s) - 1)))
getindex(r::UnitRange{Int64}, s::StepRange{Int64, Int64}) = __subrange(r, s, __at(r, first(s) - 1):step(s):__at(r, last(s) - 1))
getindex(r::StepRange{Int64, Int64}, s::AbstractRange{Int64}) = __subrange(r, s, __at(r, first(s) - 1):step(r)*step(s):__at(r, last(s) - 1))
function __subrange(r, s, found)
    if !isempty(s) && !(1 <= first(s) <= length(r) && 1 <= last(s) <= length(r))
        __out_of_bounds(r, s)
    end
    return found
end
getindex(r::AbstractRange, ::Colon) = r
reverse(r::AbstractUnitRange) = last(r):-1:first(r)
reverse(r::StepRange) = r.stop:-r.step:r.start
reverse(r::StepRangeLen) = reverse(collect(r))
sum(r::AbstractUnitRange{Int64}) = __sum_of(first(r), 1, length(r))
sum(r::StepRange{Int64, Int64}) = __sum_of(r.start, r.step, length(r))
__sum_of(a, s, n) = n * a + s * (iseven(n) ? div(n, 2) * (n - 1) : n * div(n - 1, 2))
minimum(r::AbstractUnitRange) = isempty(r) ? __empty_collection() : first(r)
maximum(r::AbstractUnitRange) = isempty(r) ? __empty_collection() : last(r)
in(x::Integer, r::AbstractUnitRange{Int64}) = first(r) <= x <= last(r)
in(x::Integer, r::StepRange{Int64, Int64}) = !isempty(r) && min(r.start, r.stop) <= x <= max(r.start, r.stop) && mod(x - r.start, r.step) == 0
in(x::Real, r::UnitRange{T}) where T<:__Wide = isinteger(x) && r.start <= x <= r.stop
in(x::Real, r::AbstractUnitRange{Int64}) = isinteger(x) && first(r) <= x <= last(r)
==(r::AbstractUnitRange, s::AbstractUnitRange) = length(r) == length(s) && (isempty(r) || first(r) == first(s))
issorted(r::AbstractRange) = length(r) <= 1 || step(r) >= 0
+(r::AbstractUnitRange{Int64}, n::Int64) = first(r)+n:last(r)+n
-(r::AbstractRange) = collect(r) .* -1

__shown(r::AbstractUnitRange) = string(first(r), ":", last(r))
__shown(r::OneTo) = string("Base.OneTo(", r.stop, ")")
__shown(r::StepRange) = string(r.start, ":", r.step, ":", r.stop)
__shown(r::StepRangeLen) = string(first(r), ":", r.step, ":", last(r))
__shown(r::LinRange) = string("LinRange{", eltype(r), "}(", r.start, ", ", r.stop, ", ", r.len, ")")
