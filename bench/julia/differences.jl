# What the tests of ForwardDiff take from ForwardDiff and from packages outside Base: derivatives are
# taken in forward mode, `Calculus` is central differences, and configurations are accepted and ignored.
# Run with: cat DiffTests.jl/src/DiffTests.jl bench/julia/differences.jl > SETUP
#           sed -E -f bench/julia/forwarddiff.sed FILE > COPY
#           regraft-bench julia COPY --setup SETUP

using LinearAlgebra, Random, Statistics, SparseArrays, Test

# --- differences ------------------------------------------------------------------------------

module Calculus
_step(x) = cbrt(eps()) * max(1.0, abs(x))
function derivative(f, x::Real)
    h = _step(x)
    return (f(x + h) - f(x - h)) / 2h
end
_with(x, i, value) = (y = float(copy(x)); y[i] = value; y)
_along(f, x, i) = derivative(value -> f(_with(x, i, value)), float(x[i]))
gradient(f, x::Real) = derivative(f, x)
gradient(f, x::AbstractArray) = reshape([_along(f, x, i) for i in 1:length(x)], size(x))
jacobian(f, x, kind...) = reduce(hcat, [vec(_along(f, x, i)) for i in 1:length(x)])
finite_difference_jacobian(f, x) = jacobian(f, x)
function hessian(f, x)
    n, h = length(x), 1e-4
    at(i, s, j, t) = (y = float(copy(x)); y[i] += s; y[j] += t; f(y))
    return [(at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / 4h^2 for i in 1:n, j in 1:n]
end
end

# --- ForwardDiff ------------------------------------------------------------------------------

module DiffResults
mutable struct DiffResult
    value
    first
    second
end
DiffResult(value, first) = DiffResult(value, first, nothing)
GradientResult(x) = DiffResult(nothing, nothing)
JacobianResult(args...) = DiffResult(nothing, nothing)
HessianResult(x) = DiffResult(nothing, nothing)
value(r) = r.value
derivative(r) = r.first
gradient(r) = r.first
jacobian(r) = r.first
hessian(r) = r.second
end

module ForwardDiff
# A tangent of zero is left out.
const NANSAFE_MODE_ENABLED = true
const DEFAULT_CHUNK_THRESHOLD = 12
# A configuration: none is needed.
struct Config end
struct Chunk{N} end
Chunk(x) = Config()
Tag(args...) = Config()
DerivativeConfig(args...) = Config()
GradientConfig(args...) = Config()
JacobianConfig(args...) = Config()
HessianConfig(args...) = Config()

const Ignored = Union{Config, Val{false}}
const Result = Main.DiffResults.DiffResult
_float(x::Number) = float(x)
_float(x::AbstractArray) = float(x)
_dense(x) = Array(float(x))

derivative(f, x) = throw(DimensionMismatch("a derivative is by a number"))
derivative(f, x::Real, ::Ignored...) = Base.derivative(f, float(x))
function derivative(f!::Function, y::AbstractArray, x::Real, ::Ignored...)
    f!(y, float(x))
    return Base.derivative(z -> (t = similar(y, typeof(z)); f!(t, z); t), float(x))
end

gradient(f, x) = throw(DimensionMismatch("a gradient is by an array"))
gradient(f, x::AbstractArray, ::Ignored...) = _gradient(f, _float(x))
function _gradient(f, x)
    y = f(x)
    y isa Number || throw(DimensionMismatch("a gradient is of a number"))
    return length(x) == 0 ? similar(x) : _like(x, Base.jacobian(z -> [f(_like(x, z))], _dense(x)))
end
_like(x::AbstractArray, z) = collect(reshape(z, size(x)))
_like(x::Diagonal, z) = Diagonal(_like(x.diag, diag(reshape(z, size(x)))))
_like(x::LowerTriangular, z) = LowerTriangular(collect(reshape(z, size(x))))
_like(x::UpperTriangular, z) = UpperTriangular(collect(reshape(z, size(x))))

jacobian(f, x) = throw(DimensionMismatch("a Jacobian is by an array"))
function jacobian(f, x::AbstractArray, ::Ignored...)
    f(_float(x)) isa AbstractArray || throw(DimensionMismatch("a Jacobian is of an array"))
    return Base.jacobian(f, _dense(x))
end
function jacobian(f!::Function, y::AbstractArray, x::AbstractArray, ::Ignored...)
    start = copy(y)
    f!(y, _float(x))
    return Base.jacobian(z -> (t = similar(start, eltype(z)); t .= start; f!(t, z); t), _dense(x))
end

hessian(f, x::AbstractArray, ::Ignored...) = Base.hessian(f, _dense(x))

derivative!(out::AbstractArray, args...) = copyto!(out, derivative(args...))
gradient!(out::AbstractArray, args...) = copyto!(out, gradient(args...))
jacobian!(out::AbstractArray, args...) = copyto!(out, jacobian(args...))
hessian!(out::AbstractArray, args...) = copyto!(out, hessian(args...))
derivative!(r::Result, f, x, ::Ignored...) = (r.value = f(x); r.first = derivative(f, x); r)
derivative!(r::Result, f!, y, x, ::Ignored...) = (r.first = derivative(f!, y, x); r.value = y; r)
gradient!(r::Result, f, x, ::Ignored...) = (r.value = f(x); r.first = gradient(f, x); r)
jacobian!(r::Result, f, x::AbstractArray, ::Ignored...) = (r.value = f(x); r.first = jacobian(f, x); r)
jacobian!(r::Result, f!, y::AbstractArray, x::AbstractArray, ::Ignored...) = (r.first = jacobian(f!, y, x); r.value = y; r)
hessian!(r::Result, f, x, ::Ignored...) = (r.value = f(x); r.first = gradient(f, x); r.second = hessian(f, x); r)
end
using .ForwardDiff: Tag, JacobianConfig

module NaNMath
pow(x::Real, y::Real) = x < 0 && !isinteger(y) ? oftype(x, NaN) : x^y
end

const XLEN, YLEN = 13, 7
Random.seed!(1)
const X, Y = rand(XLEN), rand(YLEN)
const CHUNK_SIZES = (1, 13)
const HESSIAN_CHUNK_SIZES = (1,)
const FINITEDIFF_ERROR = 3e-5

using .DiffTests
