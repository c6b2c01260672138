# Derivatives.
#
# `lang/src/infer/derivative.rs` lists what inference provides: __gradient, __push, __push_many,
# __zero_tangent, __pullback, __back, __dynamic_reverse.

# --- rules ----------------------------------------------------------------------------------
# Programs add methods. Where there is no derivative, `nothing` stands in its place.

function rrule end
function frule end
function __non_differentiable end

NoTangent() = nothing
ZeroTangent() = nothing

@noinline __ignored(f) = f()
ignore_derivatives(x) = ad.ignore(x)
ignore_derivatives(f::Function) = __ignored(f)

@noinline checkpoint(f, args...) = f(args...)

not_implemented(what) = throw(ErrorException(string("the derivative is not implemented: ", what)))

# --- reverse mode ---------------------------------------------------------------------------

gradient(f, args...) = __gradient(f, args)[2]

function withgradient(f, args...)
    r = __gradient(f, args)
    return (val = r[1], grad = r[2])
end

# A pullback holds the reverse part itself, so that definitions that come later do not change it,
# and the world in which it was made, so that what it calls stays as long as it does.
struct __Pullback{B, S, W} <: Function
    back::B
    state::S
    world::W
end
(b::__Pullback)(dy) = __back(b.back, b.state, dy)
function pullback(f, args...)
    r = __pullback(f, args)
    return (r[1], __Pullback(r[3], r[2], __world))
end

# What the tangent of a value is that is known only now, for the gradient of it.
__seed(y::Float64) = 1.0
__seed(y::Float32) = 1.0f0
__seed(y::Integer) = nothing
__seed(y) = throw(ArgumentError(string(
    "a gradient is that of a real number; the function returned a value of type ", typeof(y))))

# --- forward mode ---------------------------------------------------------------------------

struct __Pushforward{F, A} <: Function
    f::F
    args::A
end
(p::__Pushforward)(tangents...) = __push(p.f, p.args, (nothing, tangents...))[2]
pushforward(f, args...) = __Pushforward(f, args)

__or_zero(d, x) = d
__or_zero(d::Nothing, x) = zero(x)
function derivative(f, x::Real)
    at = float(x)
    return __or_zero(__push(f, (at,), (nothing, one(at)))[2], at)
end

# The gradient by forward mode: once for each number.
function __forward_gradient(f, args)
    y = f(ad.copy(typeof(args), args)...)
    return (y, __ntuple(n -> __partial(args[n], __Along(f, args, n)), Val(length(args))))
end

# The derivative of the value along a tangent of argument number n, and of those that are the same
# array.
struct __Along{F, A} <: Function
    f::F
    args::A
    n::Int
end
function (g::__Along)(t)
    x = g.args[g.n]
    at = k -> k == g.n ? t : __same_tangent(x, g.args[k], t)
    tangents = __ntuple(at, Val(length(g.args)))
    d = __push(g.f, ad.copy(typeof(g.args), g.args), (nothing, tangents...))[2]
    return d === nothing ? 0.0 : d
end
__same_tangent(x, y, t) = __zero_tangent(y)
__same_tangent(x::Array{T}, y::Array{T}, t) where T = x === y ? t : zero(y)

# The partial derivatives by the numbers in a value, in its shape.
__partial(x::AbstractFloat, along) = convert(typeof(x), along(one(x)))
function __partial(x::Array{T}, along) where T<:AbstractFloat
    d = zero(x)
    for i in eachindex(x)
        d[i] = along(__direction(x, i))
    end
    return d
end
__partial(x::Tuple, along) =
    __ntuple(k -> __partial(x[k], t -> along(__only(x, k, t))), Val(length(x)))
__only(x::Tuple, k, t) = __ntuple(j -> j == k ? t : __zero_tangent(x[j]), Val(length(x)))
__partial(x::NamedTuple, along) = __partial_fields(x, along)
function __partial(x, along)
    __zero_tangent(x) === nothing && return nothing
    if __is_mutable(x)
        throw(ArgumentError(string("forward mode finds no gradient by a value of type ", typeof(x))))
    end
    return __partial_fields(x, along)
end
__partial_fields(x, along) =
    __like(x, __partial(__fields(x), t -> along(__like(x, t))))
__like(x, t) = __named_of(__fieldnames(typeof(x)), t)
__fields(x) = map(name -> getfield(x, name), __fieldnames(typeof(x)))
__is_mutable(x) = !(__zero_tangent(x) isa NamedTuple)

# --- several directions ---------------------------------------------------------------------

struct __Gradient{F} <: Function
    f::F
end
(g::__Gradient)(x) = gradient(g.f, x)[1]

struct __Derivative{F} <: Function
    f::F
end
(d::__Derivative)(x) = derivative(d.f, x)

function __direction(x, i)
    d = zero(x)
    d[i] = one(eltype(d))
    return d
end

function __columns(f, x, y)
    n = length(x)
    J = zeros(eltype(y), length(y), n)
    i = 1
    while i + 3 <= n
        d = (__direction(x, i), __direction(x, i + 1), __direction(x, i + 2), __direction(x, i + 3))
        dy = __push_many(f, (copy(x),), (nothing, d))[2]
        for k in 1:length(y)
            J[k, i] = dy[1][k]
            J[k, i + 1] = dy[2][k]
            J[k, i + 2] = dy[3][k]
            J[k, i + 3] = dy[4][k]
        end
        i += 4
    end
    while i <= n
        dy = __push(f, (copy(x),), (nothing, __direction(x, i)))[2]
        for k in 1:length(y)
            J[k, i] = dy[k]
        end
        i += 1
    end
    return J
end

function __rows(f, x)
    y, back = pullback(f, copy(x))
    J = zeros(eltype(y), length(y), length(x))
    for k in 1:length(y)
        dx = back(__direction(y, k))[1]
        for i in 1:length(x)
            J[k, i] = dx[i]
        end
    end
    return J
end

# Forward mode goes once over the function for four columns, reverse mode forth and back for
# each row.
function jacobian(f, x::AbstractVector)
    y = f(copy(x))
    return length(x) <= 4 * length(y) ? __columns(f, x, y) : __rows(f, x)
end
jacobian(f, x::Real) = derivative(f, x)

hvp(f, x, v) = __push(__Gradient(f), (x,), (nothing, v))[2]
hessian(f, x::AbstractVector) = __columns(__Gradient(f), x, x)
hessian(f, x::Real) = derivative(__Derivative(f), x)

# --- dynamic calls in code that is differentiated -------------------------------------------

__dynamic_forward(f, tangents, args...) = __push(f, args, tangents)

# --- rules for functions of any number of arguments -----------------------------------------
# Tangents of those arguments that the function takes as one tuple come as one.

struct __Packed{P, N}
    pullback::P
    fixed::N
end
@inline __packed_rrule(fixed, r) = (r[1], __Packed(r[2], Val(fixed)))
(p::__Packed{P, Val{N}})(dy) where {P, N} = __pack(Val(N + 1), (), p.pullback(dy)...)
__pack(n::Val{0}, done, rest...) = (done..., rest)
__pack(n::Val{N}, done, x, rest...) where N = __pack(Val(N - 1), (done..., x), rest...)
__unpacked(t) = __unpack((), t...)
__unpack(done, rest) = (done..., rest...)
__unpack(done, x, more...) = __unpack((done..., x), more...)

# --- calls whose number of arguments is known late ------------------------------------------
# f(xs...) is a tuple of what is in the collections, and a call with that tuple, whose type tells
# how many there are when the program runs.

@noinline __tuple_of(collections...) = __concat(collections...)
__concat() = ()
__concat(c, rest...) = (c..., __concat(rest...)...)
@noinline __tuple_of_one(c) = (c...,)
@noinline __call_tuple(f, t) = f(t...)

struct __Split{C}
    collections::C
end
(s::__Split)(dy) = (nothing, __gathered(dy, 0, s.collections...)...)
__gathered(dy, k) = ()
__gathered(dy, k, c, rest...) = (__gather(c, dy, k), __gathered(dy, k + length(c), rest...)...)
rrule(::typeof(__tuple_of), collections...) = (__tuple_of(collections...), __Split(collections))
struct __SplitOne{C}
    collection::C
end
(s::__SplitOne)(dy) = (nothing, __gather(s.collection, dy, 0))
rrule(::typeof(__tuple_of_one), c) = (__tuple_of_one(c), __SplitOne(c))

# The tangent of a collection from those of its elements, which come after k others.
__gather(c, dy::Nothing, k) = nothing
__gather(c::Tuple, dy, k) = __ntuple(i -> dy[k + i], Val(length(c)))
function __gather(c, dy, k)
    d = __zero_tangent(c)
    d === nothing && return nothing
    c isa Array || __no_collection(c)
    for i in 1:length(c)
        dy[k + i] === nothing || (d[i] = dy[k + i])
    end
    return d
end
__no_collection(c) =
    not_implemented(string("a value of type ", typeof(c), " as arguments of a call"))

function frule(tangents, ::typeof(__tuple_of), collections...)
    t = ()
    for i in 1:length(collections)
        t = (t..., __scatter(collections[i], tangents[i + 1])...)
    end
    return (__tuple_of(collections...), t)
end
frule(tangents, ::typeof(__tuple_of_one), c) = (__tuple_of_one(c), __scatter(c, tangents[2]))
__scatter(c::Tuple, d) = d
__scatter(c::Tuple, d::Nothing) = map(__zero_tangent, c)
function __scatter(c, d)
    __zero_tangent(c) === nothing && return map(x -> nothing, (c...,))
    c isa Array || __no_collection(c)
    return d === nothing ? map(__zero_tangent, (c...,)) : (d...,)
end

# --- sorting --------------------------------------------------------------------------------
# What is sorted is put in another order: comparisons and exchanges need not be gone back through.
# Elements with an identity go that way, so that they keep their shadows.

struct __Sorted{A}
    a::A
    order::Vector{Int}
end
function (s::__Sorted)(dy)
    d = __zero_tangent(s.a)
    for i in eachindex(s.order)
        d[s.order[i]] = dy[i]
    end
    return (nothing, d)
end
function rrule(::typeof(sort), a::Vector{T}) where T<:Union{AbstractFloat, Tuple{Vararg{Real}}}
    order = sortperm(a)
    return ([a[i] for i in order], __Sorted(a, order))
end
