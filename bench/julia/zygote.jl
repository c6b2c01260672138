# What Zygote's tests take from Zygote and from packages outside Base, on top of the library here.
# Run with: regraft-bench julia FOLDER --setup bench/julia/zygote.jl
# Integers have no tangent here: arguments of derivatives are made floats, and `nothing` is zero.

using LinearAlgebra, Random, Statistics, SparseArrays, Test, LogExpFunctions

const NoTangent = ChainRulesCore.NoTangent

# --- integers as floats -----------------------------------------------------------------------

_floats(x) = x
_floats(x::Bool) = x
_floats(x::Integer) = float(x)
_floats(x::Complex{<:Integer}) = float(x)
_floats(x::Tuple) = map(_floats, x)
_floats(x::NamedTuple) = map(_floats, x)
_floats(x::AbstractArray{Bool}) = x
_floats(x::AbstractArray{<:Integer}) = float(x)
_floats(x::AbstractArray{<:Complex{<:Integer}}) = float(x)
_floats(x::Array{<:Tuple}) = map(_floats, x)
_floats(x::Array{<:NamedTuple}) = map(_floats, x)
_floats(x::Array{<:Array}) = map(_floats, x)
_floats(x::Array{Any}) = map(_floats, x)
_floats(x::Base.RefValue) = Ref(_floats(x[]))
_floats(x::Array{<:Base.RefValue}) = map(_floats, x)
_floats(d::Dict) = Dict(k => _floats(v) for (k, v) in d)

# An argument that has to be an integer is left one.
function _with_floats(g, args)
    floats = map(_floats, args)
    all(map(===, floats, args)) && return g(args)
    try
        return g(floats)
    catch
        return g(args)
    end
end

gradient(f, args...) = _with_floats(a -> Base.gradient(f, a...), args)
withgradient(f, args...) = _with_floats(a -> Base.withgradient(f, a...), args)
function pullback(f, args...)
    y, back = _with_floats(a -> Base.pullback(f, a...), args)
    return y, dy -> back(_floats(dy))
end
Base.adjoint(f::Function) = x -> gradient(f, x)[1]
_pullback(f, args...) = begin
    y, back = pullback(f, args...)
    (y, dy -> (nothing, back(dy)...))
end

# --- `nothing` as zero ------------------------------------------------------------------------

Base.:(==)(x::Number, ::Nothing) = iszero(x)
Base.:(==)(::Nothing, x::Number) = iszero(x)
Base.:(==)(x::AbstractArray, ::Nothing) = all(y -> y == nothing, x)
Base.:(==)(::Nothing, x::AbstractArray) = all(y -> y == nothing, x)
Base.:(==)(x::Tuple, ::Nothing) = all(y -> y == nothing, x)
Base.:(==)(::Nothing, x::Tuple) = all(y -> y == nothing, x)
Base.:(==)(x::NamedTuple, ::Nothing) = all(y -> y == nothing, values(x))
Base.:(==)(::Nothing, x::NamedTuple) = all(y -> y == nothing, values(x))
Base.:(==)(x::Dict, ::Nothing) = all(y -> y == nothing, values(x))
Base.:(==)(x::Dict, y::Dict) =
    all(k -> get(x, k, nothing) == get(y, k, nothing), union(collect(keys(x)), collect(keys(y))))

# --- Zygote -----------------------------------------------------------------------------------

module Zygote
struct Context{I}
    cache
end
Context() = Context{false}(nothing)
abstract type AContext end
const gradient = Main.gradient
const withgradient = Main.withgradient
const pullback = Main.pullback
_pullback(::Context, f, args...) = Main._pullback(f, args...)
_pullback(f, args...) = Main._pullback(f, args...)
checkpointed(f, args...; kw...) = Base.checkpoint(f, args...)
forwarddiff(f, x; chunk_threshold = 1) = f(x)
hessian(f, x::AbstractArray) = Base.hessian(f, x)
hessian(f, x::Number) = Base.hessian(f, x)
jacobian(f, args...) = begin
    j = Main._with_floats(a -> Base.jacobian(f, a...), args)
    j isa Tuple ? j : (j,)
end
hook(f, x) = x
ChainRulesCore.rrule(::typeof(hook), f, x) = x, dy -> (Main.NoTangent(), Main.NoTangent(), f(dy))
refresh() = nothing
isderiving() = false
Buffer(x) = similar(x)
Buffer(x, dims...) = similar(x, dims...)
Buffer(x, ::Type{T}, dims...) where T = similar(x, T, dims...)
bufferfrom(x) = copy(x)
accum(x, ::Nothing) = x
accum(::Nothing, x) = x
accum(x, y) = x + y
accum(x::AbstractArray, y::AbstractArray) = x .+ y
accum(x::Tuple, y::Tuple) = map(accum, x, y)
function accum(x::NamedTuple{K}, y::NamedTuple{L}) where {K, L}
    all(k -> k in K, L) || throw(ArgumentError("names of the second are not in the first"))
    NamedTuple{K}(map(k -> k in L ? accum(x[k], y[k]) : x[k], K))
end
macro nograd(fs...)
    f = fs[1] isa Expr ? fs[1] : :($(fs[1])(args...))
    esc(:(ChainRulesCore.@non_differentiable $f))
end
macro adjoint(def)
    def.head === :function || (def = Expr(:function, def.args[1], def.args[2]))
    head, body = def.args
    wheres = Any[]
    while head.head === :where
        append!(wheres, head.args[2:end])
        head = head.args[1]
    end
    f = head.args[1]
    is_functor = f isa Expr && f.head === :(::)
    own = is_functor ? f : :(::typeof($f))
    args = head.args[2:end]
    keywords = Any[]
    if length(args) > 0 && args[1] isa Expr && args[1].head === :parameters
        push!(keywords, popfirst!(args))
    end
    rule = Expr(:call, :(ChainRulesCore.rrule), keywords..., own, args...)
    rule = isempty(wheres) ? rule : Expr(:where, rule, wheres...)
    functor = is_functor
    esc(quote
        function $rule
            y, back = (() -> $body)()
            whole(d) = $functor ? d : (nothing, d...)
            tangents(d) = map(t -> t === nothing ? ChainRulesCore.NoTangent() : t, whole(d))
            y, dy -> tangents(back(dy))
        end
    end)
end
end
using .Zygote: @adjoint, @nograd, Buffer, bufferfrom, hessian, jacobian, hook, forwarddiff,
    checkpointed, Context

# --- the tests' own helpers -------------------------------------------------------------------

broadcast_shape(a::Tuple, b::Tuple) = size(zeros(a...) .+ zeros(b...))

function ngradient(f, xs...)
    grads = map(x -> zero.(x), xs)
    h = sqrt(eps())
    for (x, grad) in zip(xs, grads), i in eachindex(x)
        at = x[i]
        x[i] = at - h / 2
        low = f(xs...)
        x[i] = at + h / 2
        high = f(xs...)
        x[i] = at
        grad[i] = (high - low) / h
    end
    return grads
end
gradcheck(f, xs...; rtol = 1e-5, atol = 1e-5) = all(map(
    (g, n) -> g === nothing ? all(abs.(n) .< atol) : isapprox(g, n; rtol, atol),
    gradient(f, xs...), ngradient(f, xs...)))
gradtest(f, xs::AbstractArray...; kw...) = gradcheck((ys...) -> sum(sin.(f(ys...))), xs...; kw...)
gradtest(f, dims...; kw...) = gradtest(f, map(d -> rand(Float64, d), dims)...; kw...)

_splitreim(A) = (real(A),)
_splitreim(A::AbstractArray{<:Complex}) = reim(A)
_joinreim(A, B) = complex.(A, B)
_joinreim(A) = A
_dropimaggrad(A) = Zygote.hook(d -> d === nothing ? nothing : real(d), A)

_randmatunitary(rng, T, n) = Matrix(qr(randn(rng, T, n, n)).Q)
realdomainrange(::Any) = (-Inf, Inf)
realdomainrange(::Union{typeof(acos), typeof(asin), typeof(atanh)}) = (-1, 1)
realdomainrange(::typeof(acosh)) = (1, Inf)
realdomainrange(::Union{typeof(log), typeof(sqrt), typeof(^)}) = (0, Inf)
function _randvectorin(rng, n, (low, high))
    isfinite(low) && isfinite(high) && return low .+ (high - low) .* rand(rng, n)
    isfinite(low) && return low .+ rand(rng, n)
    isfinite(high) && return high - 1 .+ rand(rng, n)
    return randn(rng, n)
end
function _randmatseries(rng, f, T, n, domain::Type{Real})
    U = _randmatunitary(rng, T, n)
    return U * Diagonal(_randvectorin(rng, n, realdomainrange(f))) * U'
end
function _randmatseries(rng, f, T, n, domain::Type{Complex})
    U = _randmatunitary(rng, T, n)
    range = realdomainrange(f)
    (range == (-Inf, Inf) || f === atanh) && return nothing
    values = _randvectorin(rng, n, range)
    values[end] -= 2
    return U * Diagonal(values) * U'
end
function cat_test(f, A...)
    @test gradtest(f, A...)
    Z, back = pullback(f, A...)
    @test all(map((a, d) -> d isa typeof(a), A, back(randn(size(Z)))))
end
function test_log1pexp(T, xs)
    y = T(4.3)
    for x in xs
        @test gradcheck(z -> y * LogExpFunctions.log1pexp(z[1]), [x])
    end
end

module FiniteDifferences
central_fdm(p, q) = (f, x) -> (h = cbrt(eps()); (f(x - 2h) - 8f(x - h) + 8f(x + h) - f(x + 2h)) / 12h)
end
