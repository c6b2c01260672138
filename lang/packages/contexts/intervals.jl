# Computes with intervals: encloses the results of a program for all arguments within some bounds.
#
#     r = bound_values((x, y) -> x * y - x, Interval(1.0, 2.0), 3.0)
#     r.value                         # [0.9999999999999994, 5.000000000000002]
#
# An `Interval` is a `Real`: the functions of the program have to take such numbers. Arguments that are floats, also in arrays, become intervals
# of one point. Bounds are rounded outwards, by one step of Float64 for arithmetic and by two for elementary functions. A comparison of
# intervals that overlap is undecided: the program then goes the way of their midpoints, the comparison is noted, and the result holds for
# the arguments that go that way. What is computed of constants alone (`1 / 3`) is rounded as ever. Each occurrence of a variable varies by
# itself: `x - x` of [0, 1] is [-1, 1]. Takes a few operations for each.

Cassette.@context IntervalContext

struct Interval <: Real
    lo::Float64
    hi::Float64
    Interval(lo::Real, hi::Real) = lo <= hi ? new(lo, hi) : throw(ArgumentError("the bounds $lo, $hi are not in order"))
end
Interval(x::Real) = Interval(x, x)
Interval(x::Interval) = x
midpoint(x::Interval) = x.lo + (x.hi - x.lo) / 2
radius(x::Interval) = (x.hi - x.lo) / 2
Base.in(x::Real, i::Interval) = i.lo <= x <= i.hi
Base.show(io::IO, x::Interval) = print(io, "[", x.lo, ", ", x.hi, "]")

# `value` is that of the program, with intervals; `undecided` are the comparisons that were undecided, as texts.
mutable struct Enclosure
    value::Any
    undecided::Vector{String}
end

_outwards(lo, hi) = Interval(prevfloat(lo), nextfloat(hi))
_outwards(lo, hi, steps) = steps == 0 ? Interval(lo, hi) : _outwards(prevfloat(lo), nextfloat(hi), steps - 1)

Base.convert(::Type{Interval}, x::Real) = Interval(x)
Base.convert(::Type{Interval}, x::Interval) = x
Base.promote_rule(::Type{Interval}, ::Type{T}) where {T<:Real} = Interval
Base.zero(::Type{Interval}) = Interval(0.0, 0.0)
Base.one(::Type{Interval}) = Interval(1.0, 1.0)
Base.zero(x::Interval) = zero(Interval)
Base.one(x::Interval) = one(Interval)
Base.float(x::Interval) = x
Base.isfinite(x::Interval) = isfinite(x.lo) && isfinite(x.hi)
Base.isnan(x::Interval) = isnan(x.lo) || isnan(x.hi)

Base.:+(x::Interval) = x
Base.:-(x::Interval) = Interval(-x.hi, -x.lo)
Base.:+(x::Interval, y::Interval) = _outwards(x.lo + y.lo, x.hi + y.hi)
Base.:-(x::Interval, y::Interval) = _outwards(x.lo - y.hi, x.hi - y.lo)
function Base.:*(x::Interval, y::Interval)
    a, b, c, d = _product(x.lo, y.lo), _product(x.lo, y.hi), _product(x.hi, y.lo), _product(x.hi, y.hi)
    return _outwards(min(a, b, c, d), max(a, b, c, d))
end
# A bound that is 0 makes 0 of one that is infinite.
_product(a, b) = a == 0 || b == 0 ? 0.0 : a * b
function Base.:/(x::Interval, y::Interval)
    y.lo <= 0 <= y.hi && return Interval(-Inf, Inf)
    a, b, c, d = x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi
    return _outwards(min(a, b, c, d), max(a, b, c, d))
end
Base.inv(x::Interval) = one(x) / x
function Base.:^(x::Interval, n::Int)
    n < 0 && return inv(x^(-n))
    n == 0 && return one(x)
    isodd(n) && return _outwards(x.lo^n, x.hi^n, 2)
    a = abs(x)
    return Interval(max(0.0, prevfloat(prevfloat(a.lo^n))), nextfloat(nextfloat(a.hi^n)))
end
Base.abs2(x::Interval) = x^2
Base.abs(x::Interval) = x.lo >= 0 ? x : x.hi <= 0 ? -x : Interval(0.0, max(-x.lo, x.hi))
Base.min(x::Interval, y::Interval) = Interval(min(x.lo, y.lo), min(x.hi, y.hi))
Base.max(x::Interval, y::Interval) = Interval(max(x.lo, y.lo), max(x.hi, y.hi))

# Functions that grow.
import Base: exp, exp2, expm1, log, log2, log10, log1p, cbrt, sinh, asinh, tanh, atan
for f in (:exp, :exp2, :expm1, :log, :log2, :log10, :log1p, :cbrt, :sinh, :asinh, :tanh, :atan)
    @eval $f(x::Interval) = _outwards($f(x.lo), $f(x.hi), 2)
end
Base.sqrt(x::Interval) = Interval(max(0.0, prevfloat(sqrt(x.lo))), nextfloat(sqrt(x.hi)))
Base.cosh(x::Interval) = (a = abs(x); _outwards(cosh(a.lo), cosh(a.hi), 2))
Base.sin(x::Interval) = _wave(sin, x, 0.5)
Base.cos(x::Interval) = _wave(cos, x, 0.0)
# A wave of height 1 that is largest at `top * π + 2k * π`.
function _wave(f, x, top)
    x.hi - x.lo >= 6.3 && return Interval(-1.0, 1.0)
    bounds = _outwards(min(f(x.lo), f(x.hi)), max(f(x.lo), f(x.hi)), 2)
    # Too many extrema only make the result wider.
    reaches(phase) = floor((x.hi + 1.0e-12) / (2π) - phase) > floor((x.lo - 1.0e-12) / (2π) - phase)
    return Interval(reaches(top / 2 + 0.5) ? -1.0 : max(-1.0, bounds.lo), reaches(top / 2) ? 1.0 : min(1.0, bounds.hi))
end

# Comparisons that hold for all values, or for none; `nothing` if they are undecided.
_decided(::typeof(<), x, y) = x.hi < y.lo ? true : x.lo >= y.hi ? false : nothing
_decided(::typeof(<=), x, y) = x.hi <= y.lo ? true : x.lo > y.hi ? false : nothing
_decided(::typeof(==), x, y) = x.lo == x.hi == y.lo == y.hi ? true : x.hi < y.lo || y.hi < x.lo ? false : nothing
function _compared(f, x, y)
    decided = _decided(f, x, y)
    decided === nothing && throw(ArgumentError("it is undecided whether $(call_text(f, x, y)) holds"))
    return decided
end
Base.:<(x::Interval, y::Interval) = _compared(<, x, y)
Base.:<=(x::Interval, y::Interval) = _compared(<=, x, y)
Base.:(==)(x::Interval, y::Interval) = _compared(==, x, y)
Base.isless(x::Interval, y::Interval) = _compared(<, x, y)

Cassette.linehook(ctx::IntervalContext, file, line) = move!(ctx.metadata, file, line)
Cassette.overdub(ctx::IntervalContext, f, args...) = descend(ctx, f, args...)
function Cassette.overdub(ctx::IntervalContext, f::Union{typeof(<), typeof(<=), typeof(==)}, x::Interval, y::Interval)
    decided = _decided(f, x, y)
    decided === nothing || return decided
    frame = ctx.metadata
    push!(frame.run.undecided, string(call_text(f, x, y), place_text(frame.file, frame.line)))
    return f(midpoint(x), midpoint(y))
end

_as_intervals(x) = x
_as_intervals(x::AbstractFloat) = Interval(x)
_as_intervals(x::Union{AbstractArray{<:AbstractFloat}, Tuple, NamedTuple}) = map(_as_intervals, x)

function bound_values(f, args...)
    r = Enclosure(nothing, String[])
    r.value = overdub(IntervalContext(metadata = Frame(r)), f, map(_as_intervals, args)...)
    return r
end

function Base.show(io::IO, r::Enclosure)
    print(io, repr(r.value))
    isempty(r.undecided) && return
    print(io, "\n", length(r.undecided), " comparisons were undecided, the first is ", r.undecided[1])
end
