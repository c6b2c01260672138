# What Mooncake's test functions take from Mooncake, and the check that each of its cases becomes:
# `gradient` against central differences.
# Run with: sed -E -n -f bench/julia/mooncake.sed FILE > COPY
#           regraft-bench julia COPY --setup bench/julia/mooncake.jl

using LinearAlgebra, Random, Test

# --- Mooncake ---------------------------------------------------------------------------------

module Mooncake
struct CoDual{X, D}
    x::X
    dx::D
end
struct Dual{X, D}
    x::X
    dx::D
end
struct Tangent end
struct MutableTangent end
struct NoTangent end
struct NoRData end
struct PossiblyUninitTangent end
struct MinimalCtx end
function frule!! end
function rrule!! end
function zero_fcodual end
function ircode end
function val end
function primal end
function tangent end
# Rules of the tests themselves are not taken over: the functions are differentiated.
macro is_primitive(args...) end
end
using .Mooncake: CoDual, Dual, MutableTangent, MinimalCtx, primal, tangent, @is_primitive

StableRNG(seed) = Xoshiro(seed)

# --- the floats of a value --------------------------------------------------------------------

@eval _made(::Type{T}, fields) where T = $(Expr(:splatnew, :T, :fields))
_is_leaf(x) = x isa Union{Integer, AbstractString, Symbol, Type, Module, Function, AbstractRange} && fieldcount(typeof(x)) == 0 ||
    x isa Union{Integer, AbstractString, Symbol, Type, Module, AbstractRange, AbstractRNG, IO}
_fields(x) = filter(i -> isdefined(x, i), 1:fieldcount(typeof(x)))

# Appends the floats of a value to `out`.
_flat!(out, x::AbstractFloat) = (push!(out, Float64(x)); out)
_flat!(out, x::Array) = (foreach(i -> isassigned(x, i) && _flat!(out, x[i]), eachindex(x)); out)
_flat!(out, x::Dict) = (foreach(k -> _flat!(out, x[k]), keys(x)); out)
_flat!(out, x) = (_is_leaf(x) || foreach(i -> _flat!(out, getfield(x, i)), _fields(x)); out)
_flat(x) = _flat!(Float64[], x)

# A new value with the floats that `next` gives in the places of its own.
_with(next, x::AbstractFloat) = oftype(x, next())
function _with(next, x::Array)
    y = similar(x)
    foreach(i -> isassigned(x, i) && (y[i] = _with(next, x[i])), eachindex(x))
    return y
end
_with(next, x::Base.RefValue{T}) where T = Ref{T}(_with(next, x[]))
_with(next, x::Dict) = typeof(x)(k => _with(next, x[k]) for k in keys(x))
_with(next, x::Tuple) = map(y -> _with(next, y), x)
_with(next, x::NamedTuple) = map(y -> _with(next, y), x)
function _with(next, x)
    _is_leaf(x) && return x
    fieldcount(typeof(x)) == 0 && return x
    return _made(typeof(x), Tuple(Any[_with(next, getfield(x, i)) for i in _fields(x)]))
end
function _rebuilt(x, floats)
    at = 0
    return _with(() -> floats[at += 1], x)
end

# Appends the derivatives by the floats of `x`, of a gradient that has its shape or is `nothing`.
_grad!(out, x, ::Nothing) = (append!(out, zeros(length(_flat(x)))); out)
_grad!(out, x::AbstractFloat, g::Number) = (push!(out, real(g)); out)
_grad!(out, x::AbstractFloat, ::Nothing) = (push!(out, 0.0); out)
_grad!(out, x::Array, ::Nothing) = (append!(out, zeros(length(_flat(x)))); out)
_grad!(out, x::Array, g) = (foreach(i -> isassigned(x, i) && _grad!(out, x[i], g[i]), eachindex(x)); out)
_grad!(out, x::Dict, g) = (foreach(k -> _grad!(out, x[k], g[k]), keys(x)); out)
_grad!(out, x::Complex, g::Complex) = (push!(out, real(g), imag(g)); out)
function _grad!(out, x, g)
    _is_leaf(x) && return out
    for i in _fields(x)
        name = fieldname(typeof(x), i)
        part = g isa Tuple ? g[i] : hasproperty(g, name) ? getproperty(g, name) : nothing
        _grad!(out, getfield(x, i), part)
    end
    return out
end
_grad(x, g) = _grad!(Float64[], x, g)

# --- one number of a value --------------------------------------------------------------------

_weight(k) = 0.5 + mod(k * 0.6180339887498949, 1.0)

# Returns a weighted sum of the floats of a value, the first one the `k`-th, and the next `k`.
_total(k, x::AbstractFloat) = (_weight(k) * x, k + 1)
_total(k, x::Union{Integer, Nothing, Symbol, AbstractString, Type, Module}) = (0.0, k)
function _total(k, x::Array)
    s = 0.0
    for i in eachindex(x)
        isassigned(x, i) || continue
        t, k = _total(k, x[i])
        s += t
    end
    return (s, k)
end
function _total(k, x::Dict)
    s = 0.0
    for key in keys(x)
        t, k = _total(k, x[key])
        s += t
    end
    return (s, k)
end
function _total(k, x::Tuple)
    s = 0.0
    for y in x
        t, k = _total(k, y)
        s += t
    end
    return (s, k)
end
_total(k, x::NamedTuple) = _total(k, values(x))
_total(k, x::AbstractArray) = _total(k, collect(x))
function _total(k, x)
    _is_leaf(x) && return (0.0, k)
    s = 0.0
    for i in _fields(x)
        t, k = _total(k, getfield(x, i))
        s += t
    end
    return (s, k)
end

# --- the check --------------------------------------------------------------------------------

# What a function returns and leaves in its arguments, as one number.
function _outcome(f, args...)
    y = f(args...)
    s, k = _total(1, y)
    return s + _total(k, args)[1]
end

# Compares along some axes and along two directions in which every float changes.
function _agrees(f, args, gradient)
    at = _flat(args)
    n = length(at)
    value(point) = _outcome(f, _rebuilt(args, point)...)
    axes = n <= 32 ? (1:n) : range(1, n, 16) .|> x -> round(Int, x)
    directions = Any[[Float64(i == axis) for i in 1:n] for axis in axes]
    n > 1 && push!(directions, [_weight(3i) for i in 1:n], [_weight(7i) - 1 for i in 1:n])
    for d in directions
        h = 1e-5 / max(1.0, norm(d) / 10)
        difference = (value(at .+ h .* d) - value(at .- h .* d)) / 2h
        isapprox(difference, dot(gradient, d); rtol = 1e-4, atol = 1e-5) || return false
    end
    return true
end

# A case: whether it is only to run, what is said of its speed, the function and its arguments.
function _case(runs_only, f, args)
    fresh = _rebuilt(args, _flat(args))
    if isempty(_flat(args))
        f(fresh...)
        return true
    end
    gradients = gradient((xs...) -> _outcome(f, xs...), fresh...)
    runs_only && return true
    return _agrees(f, args, _grad(args, gradients))
end
case(runs_only, speed, f, args...) = _case(runs_only, f, args)
case(runs_only, speed::Symbol, ::Union{Nothing, NamedTuple}, f, args...) = _case(runs_only, f, args)
