# Derivatives.
#
# `lang/src/infer/derivative.rs` lists what inference provides: __gradient, __pushforward, __pushforward_many,
# __zero_tangent, __pullback, __back, __dynamic_reverse, __dynamic_pushforward.

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

# --- arguments ------------------------------------------------------------------------------

# What a function is differentiated by in the place of an argument: an irrational number counts as
# its float, a range of floats as the vector of its elements.
@inline __variables(args) = __unroll_map(__variable, args)
@inline __variable(x) = x
__variable(x::AbstractIrrational) = Float64(x)
__variable(r::Union{StepRangeLen, LinRange}) = collect(r)

# A function whose derivatives are made for arguments of certain lengths, `2x3, _`.
struct __WithLengths{F, L} <: Function
    f::F
    lengths::Val{L}
end
__with_lengths(f, lengths::Symbol) = __WithLengths(f, Val(lengths))
(w::__WithLengths)(a) = w.f(a)
(w::__WithLengths)(a, b) = w.f(a, b)
(w::__WithLengths)(a, b, c) = w.f(a, b, c)
(w::__WithLengths)(a, b, c, d) = w.f(a, b, c, d)
(w::__WithLengths)(a, b, c, d, e) = w.f(a, b, c, d, e)
(w::__WithLengths)(a, b, c, d, e, g) = w.f(a, b, c, d, e, g)
(w::__WithLengths)(args...) = w.f(args...)

# Value and gradient; arguments of which none has a derivative are a mistake.
function __value_and_gradient(f, args)
    __check_variables(args)
    vars = __variables(args)
    r = __gradient(f, vars)
    return (r[1], __natural(__unroll_map(__template, vars), r[2]))
end
@inline function __check_variables(args)
    if data.fieldcount(args) > 0 && __unroll_fold(__and_constant, true, __unroll_map(__variable, args))
        __no_variables(args)
    end
    return nothing
end
@inline __and_constant(all, x) = all & (__return_type(__zero_of_value, typeof(x)) === Nothing)
__zero_of_value(x) = __zero_tangent(x)
@noinline __no_variables(args) = throw(ArgumentError(string(
    "no argument has a derivative: ", join(map(__no_variable, args), ", "))))
__no_variable(x) = string("one is of type ", typeof(x))
__no_variable(x::Integer) = string("write ", float(x), " instead of ", x, ", which is an integer")
__no_variable(x::AbstractArray{T}) where T<:Integer =
    string("write float.(x) instead of x, whose elements are integers (", T, ")")

# An array of floats, for what differentiates by its elements.
__floats(name, x::AbstractArray) = __floats_of(name, __variable(x))
__floats_of(name, x::AbstractArray{T}) where T<:AbstractFloat = x
__floats_of(name, x::AbstractArray{T}) where T = throw(ArgumentError(string(
    name, " takes a vector of floats, found elements of type ", T, ": write float.(x) instead of x")))

# Whether a tangent has the shape of what it belongs to, as far as that shows without it.
__check_tangent(x, t) = nothing
function __check_tangent(x::Array, t::AbstractArray)
    size(x) == size(t) || throw(DimensionMismatch(string(
        "a tangent has the size of its argument, ", size(x), ", found one of size ", size(t))))
    return nothing
end
function __check_tangent(x::Tuple, t::Tuple)
    length(x) == length(t) || throw(DimensionMismatch(string(
        "a tangent has one part for each of the ", length(x), " in its argument, found ", length(t))))
    __unroll_map(__check_tangent, x, t)
    return nothing
end
__check_tangent(x::NamedTuple{K}, t::NamedTuple{K}) where K = __check_tangent(values(x), values(t))

# --- reverse mode ---------------------------------------------------------------------------

gradient(f, args...) = __gradient_alone(f, args)
# The value is computed only as far as the gradient needs it.
function __gradient_alone(f, args)
    __check_variables(args)
    vars = __variables(args)
    return __natural(__unroll_map(__template, vars), __only_gradient(f, vars))
end

function withgradient(f, args...)
    r = __value_and_gradient(f, args)
    return (val = r[1], grad = r[2])
end

# A pullback holds the reverse part itself, so that definitions that come later do not change it,
# and the world in which it was made, so that what it calls stays as long as it does.
struct __Pullback{Y, A, B, S, W} <: Function
    value::Y
    args::A
    back::B
    state::S
    world::W
end
(b::__Pullback)(dy) = __natural(b.args, __back(b.back, b.state, __structural(b.value, dy)))
pullback(f, args...) = __pullback_of(f, __variables(args))
function __pullback_of(f, args)
    r = __pullback(f, args)
    return (r[1], __Pullback(__form(r[1]), __unroll_map(__template, args), r[3], r[2], __world))
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
function (p::__Pushforward)(tangents...)
    if data.fieldcount(tangents) == data.fieldcount(p.args)
        __check_tangent(p.args, tangents)
    end
    y, dy = __pushforward(p.f, p.args, (nothing, __structural(typeof(p.args), tangents)...))
    return __natural(y, dy)
end
pushforward(f, args...) = __Pushforward(f, __variables(args))

__or_zero(d, x) = d
__or_zero(d::Nothing, x) = zero(x)
function derivative(f, x::Real)
    at = float(x)
    y, dy = __pushforward(f, (at,), (nothing, one(at)))
    return __or_zero(__natural(y, dy), at)
end

# The gradient by forward mode: once for each number. The value is that of the first run, or of the
# function itself where no number is.
function __forward_gradient(f, args)
    __check_variables(args)
    return __gradient_along(f, __variables(args))
end
__forward_gradient_alone(f, args) = __forward_gradient(f, args)[2]
function __gradient_along(f, args)
    values = Any[]
    gradient = __ntuple(n -> __natural(args[n], __partial(args[n], __Along(f, args, n, values))), Val(length(args)))
    y = isempty(values) ? f(ad.copy(typeof(args), args)...) : values[1]
    return (y, gradient)
end

# The derivative of the value along a tangent of argument number n, and of those that are the same
# array.
struct __Along{F, A} <: Function
    f::F
    args::A
    n::Int
    values::Vector{Any}
end
function (g::__Along)(t)
    x = g.args[g.n]
    at = k -> k == g.n ? t : __same_tangent(x, g.args[k], t)
    tangents = __ntuple(at, Val(length(g.args)))
    y, d = __pushforward(g.f, ad.copy(typeof(g.args), g.args), (nothing, tangents...))
    isempty(g.values) && push!(g.values, y)
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
        r = __pushforward_many(f, (copy(x),), (nothing, d))
        r === nothing && break
        dy = r[2]
        for k in 1:length(y)
            J[k, i] = dy[1][k]
            J[k, i + 1] = dy[2][k]
            J[k, i + 2] = dy[3][k]
            J[k, i + 3] = dy[4][k]
        end
        i += 4
    end
    while i <= n
        dy = __pushforward(f, (copy(x),), (nothing, __direction(x, i)))[2]
        for k in 1:length(y)
            J[k, i] = dy[k]
        end
        i += 1
    end
    return J
end

# Rows for all arguments; a number among them has none.
function __rows(xs, y, back)
    Js = __unroll_map(__RoomForRows(y), xs)
    for k in 1:length(y)
        __unroll_map(__PutRow(k), Js, back(__direction(y, k)))
    end
    return Js
end
struct __RoomForRows{Y} <: Function
    y::Y
end
(r::__RoomForRows)(x) = zeros(eltype(r.y), length(r.y), length(x))
(r::__RoomForRows)(x::Real) = nothing
struct __PutRow <: Function
    k::Int64
end
function (p::__PutRow)(J, d)
    for i in 1:size(J, 2)
        J[p.k, i] = d[i]
    end
    return nothing
end
(p::__PutRow)(J::Nothing, d) = nothing
(p::__PutRow)(J, d::Nothing) = nothing

# Forward mode goes once over the function for four columns of one argument, reverse mode once forth, and
# back for each row, which all arguments share. There is one matrix for each argument.
jacobian(f, x::Union{AbstractArray, Tuple}) = __jacobians(f, (x,))[1]
jacobian(f, x::Real) = derivative(f, x)
jacobian(f, x, y, more...) = __jacobians(f, (x, y, more...))
__jacobians(f, xs::Tuple{Vararg{Real}}) = __each_argument(k -> derivative(__OfArgument(f, xs, k), xs[k]), xs)
function __jacobians(f, xs)
    g = __of_points(f, __unroll_map(__as_tuple, xs))
    at = __unroll_map(__point_of_jacobian, xs)
    Js = __jacobians_at(g, at)
    return __each_argument(k -> __or_derivative(data.getfield(Js, k), g, at, k), at)
end
__each_argument(f, xs) = __ntuple(f, __val(data.fieldcount(xs)))
__or_derivative(J, f, xs, k) = J
__or_derivative(J::Nothing, f, xs, k) = derivative(__OfArgument(f, xs, k), data.getfield(xs, k))
__point_of_jacobian(x::AbstractVector) = copy(__floats("jacobian", x))
__point_of_jacobian(x::AbstractArray) = __floats("jacobian", collect(x))
__point_of_jacobian(x::Tuple) = __floats("jacobian", vect(x...))
__point_of_jacobian(x::Real) = x
# The mode depends on the length of the value, and the value comes with the pullback. Without a pullback forward
# mode may still have the rules that it needs.
__jacobians_at(f, xs) = __jacobians_as(f, xs, __return_type(__Splat(f), typeof(xs)))
function __jacobians_as(f, xs, ::Type{T}) where T<:Array
    if __count_of_numbers(xs) <= 4 || __return_type(__pullback_of, typeof(f), typeof(xs)) === Any
        return __jacobians_of(f, xs, f(__copies(xs)...))
    end
    y, back = __pullback_of(f, __copies(xs))
    return __by_columns(xs, y) ? __columns_of_each(f, xs, y) : __rows(xs, y, back)
end
__jacobians_as(f, xs, ::Type{T}) where T<:Union{AbstractArray, Number, Tuple} = __jacobians_at(__InVector(f), xs)
__jacobians_as(f, xs, T) = __jacobians_of(f, xs, f(__copies(xs)...))
__jacobians_of(f, xs, y::Array) =
    __by_columns(xs, y) ? __columns_of_each(f, xs, y) : __rows(xs, __pullback_of(f, __copies(xs))...)
__jacobians_of(f, xs, y::Union{AbstractArray, Number, Tuple}) = __jacobians_of(__InVector(f), xs, __in_vector(y))
__copies(xs) = ad.copy(typeof(xs), xs)
__by_columns(xs, y) = __count_of_numbers(xs) <= 4 * length(y)
__count_of_numbers(xs) = __unroll_fold((n, x) -> n + length(x), 0, xs)
__columns_of_each(f, xs, y) = __each_argument(k -> __columns_of(f, xs, k, data.getfield(xs, k), y), xs)
__columns_of(f, xs, k, x, y) = __columns(__OfArgument(f, xs, k), x, y)
__columns_of(f, xs::Tuple{Any}, k, x, y) = __columns(f, x, y)
__columns_of(f, xs, k, x::Real, y) = nothing

struct __OfArgument{F, A} <: Function
    f::F
    args::A
    k::Int64
end
(g::__OfArgument)(x) = g.f(setindex(g.args, x, g.k)...)
# A function of tuples as one of vectors, and one whose value is an array in place of a number, a
# tuple, or what wraps an array.
struct __OfPoints{F, L} <: Function
    f::F
    lengths::L
end
(g::__OfPoints)(xs...) = g.f(__unroll_map(__from_point, g.lengths, xs)...)
__of_points(f, lengths) = __OfPoints(f, lengths)
__of_points(f, ::Tuple{Vararg{Nothing}}) = f
__as_tuple(x) = nothing
__as_tuple(x::Tuple) = Val(length(x))
__from_point(::Nothing, x) = x
__from_point(n::Val, x) = __ntuple(k -> x[k], n)
struct __InVector{F} <: Function
    f::F
end
(g::__InVector)(xs...) = __in_vector(g.f(xs...))
__in_vector(y) = [y]
__in_vector(y::Tuple) = vect(y...)
__in_vector(y::AbstractArray) = collect(y)

function hvp(f, x, v)
    at = __point(x)
    __check_tangent(at, v)
    return __pushforward(__Gradient(f), (at,), (nothing, v))[2]
end
__point(x) = __variable(x)
__point(x::Real) = float(x)
__point(x::AbstractVector) = __floats("hvp", x)
hessian(f, x::AbstractVector) = __hessian(f, __floats("hessian", x))
hessian(f, x::AbstractArray) = __hessian(f, __floats("hessian", collect(x)))
hessian(f, x::Real) = derivative(__Derivative(f), x)
__hessian(f, x) = __columns(__Gradient(f), x, x)

# --- for functions that Rust calls ----------------------------------------------------------
# Derivatives are written to vectors, one for each argument; `nothing` stands where there is none.

__gradient_to(f, args, places) = __gradient_at(f, args, places)
__gradient_alone_to(f, args, places) = (__gradient_at(f, args, places); nothing)
function __gradient_at(f, args, places)
    __unroll_map(__check_tangent, args, places)
    g = __with_constants(f, __unroll_map(__constant, args, places))
    r = __value_and_gradient(g, __placed(args, places))
    __unroll_map(__put, __placed(places, places), r[2])
    return r[1]
end

# What has no place is a constant: a part of the function.
struct __Variable end
__constant(x, place) = __Variable()
__constant(x, ::Nothing) = x
__placed(xs::Tuple{}, places) = ()
__placed(xs::Tuple, places) = __placed_of(xs[1], places[1], tail(xs), tail(places))
__placed_of(x, place, xs, places) = (x, __placed(xs, places)...)
__placed_of(x, ::Nothing, xs, places) = __placed(xs, places)
struct __WithConstants{F, C} <: Function
    f::F
    constants::C
end
__with_constants(f, constants) = __WithConstants(f, constants)
__with_constants(w::__WithLengths, constants) = __WithLengths(__WithConstants(w.f, constants), w.lengths)
(g::__WithConstants)(variables...) = g.f(__filled_in(g.constants, variables)...)
__filled_in(cs::Tuple{}, variables) = ()
__filled_in(cs::Tuple, variables) = __filled_in_of(cs[1], tail(cs), variables)
__filled_in_of(c, cs, variables) = (c, __filled_in(cs, variables)...)
__filled_in_of(::__Variable, cs, variables) = (variables[1], __filled_in(cs, tail(variables))...)

@inline __put(place, d) = nothing
__put(place::Array, d::AbstractArray) = (copyto!(place, d); nothing)
__put(place::Array, d::Real) = (place[1] = d; nothing)
__put(place::Array, d::Nothing) = (fill!(place, zero(eltype(place))); nothing)

function __jvp_along(f, args, directions)
    __unroll_map(__check_tangent, args, directions)
    y, dy = __pushforward(f, args, (nothing, directions...))
    return (y, __or_zero(dy, y))
end

struct __Gradients{F} <: Function
    f::F
end
(g::__Gradients)(args...) = __gradient_alone(g.f, args)
function __hvp_to(f, args, directions, places)
    __unroll_map(__check_tangent, args, directions)
    __unroll_map(__check_tangent, args, places)
    y, d = __pushforward(__Gradients(f), args, (nothing, directions...))
    __unroll_map(__put, places, d)
    return nothing
end

# --- dynamic calls in code that is differentiated -------------------------------------------

__dynamic_forward(f, tangents, args...) = __dynamic_pushforward(f, args, tangents)

# --- what rules give ------------------------------------------------------------------------
# A rule is called with a check of what it returns. `before` holds the function and its first
# arguments, `rest` those that the function takes as one tuple.

@inline __checked_rrule(name, r, before, rest) =
    __rrule_pair(Val(name), r, (__unroll_map(__shape_of, tail(before))..., __unroll_map(__shape_of, rest)...))
@inline __rrule_pair(name, r::Tuple{Any, Any}, shapes) = (r[1], __Checked(name, r[2], shapes))
__rrule_pair(name, r, shapes) = __no_rrule(name, r)
@noinline __no_rrule(::Val{name}, r) where name = __throw_late(ArgumentError(string(
    "the rrule of ", name, " returned a value of type ", typeof(r),
    "; a rule returns a tuple of the value and a pullback")))
# Throws in a way that does not show before the program runs: a rule returns something.
function __throw_late(e)
    given = Ref{Any}(nothing)
    given[] === nothing && throw(e)
    return given[]
end
# What is known of the tangent of an argument: `()` for a number, the size of an array.
@inline __shape_of(x) = nothing
@inline __shape_of(x::AbstractFloat) = ()
@inline __shape_of(x::Array) = size(x)

struct __Checked{N, P, S}
    name::N
    pullback::P
    shapes::S
end
@inline (c::__Checked)(dy) = __checked_tangents(c.name, c.shapes, c.pullback(dy))
@inline function __checked_tangents(name, shapes, tangents::Tuple)
    data.fieldcount(tangents) == data.fieldcount(shapes) + 1 || __wrong_count(name, shapes, tangents)
    __unroll_map(__CheckShape(name), shapes, tail(tangents))
    return tangents
end
__checked_tangents(name, shapes, tangents) = __wrong_count(name, shapes, tangents)
@noinline __wrong_count(::Val{name}, shapes, tangents) where name = throw(ArgumentError(string(
    "the pullback in the rrule of ", name, " returned ", __how_many(tangents), "; it returns a tuple of ",
    length(shapes) + 1, " tangents, one of the function and one of each argument")))
__how_many(tangents) = string("a value of type ", typeof(tangents))
__how_many(tangents::Tuple) = string(length(tangents), length(tangents) == 1 ? " tangent" : " tangents")
struct __CheckShape{N}
    name::N
end
@inline (c::__CheckShape)(shape, t) = nothing
@inline (c::__CheckShape)(shape::Tuple{}, t) = t === nothing || t isa Number ? nothing : __wrong_shape(c.name, "a number", t)
@inline (c::__CheckShape)(shape::Tuple{Int64, Vararg{Int64}}, t) = __same_shape(c.name, shape, t)
@inline __same_shape(name, shape, t) = t === nothing ? nothing : __wrong_shape(name, string("an array of size ", shape), t)
@inline __same_shape(name, shape, t::AbstractArray) = size(t) == shape ? nothing : __wrong_shape(name, string("an array of size ", shape), t)
@noinline __wrong_shape(::Val{name}, wanted, t) where name = __throw_late(DimensionMismatch(string(
    "the rule for ", name, " returned ", __with_size(t), " as tangent of ", wanted)))
__with_size(t) = string("a value of type ", typeof(t))
__with_size(t::AbstractArray) = string("an array of size ", size(t))

@inline __checked_frule(name, r) = __frule_pair(Val(name), r)
@inline function __frule_pair(name, r::Tuple{Any, Any})
    __CheckShape(name)(__shape_of(r[1]), r[2])
    return r
end
__frule_pair(name, r) = __no_frule(name, r)
@noinline __no_frule(::Val{name}, r) where name = __throw_late(ArgumentError(string(
    "the frule of ", name, " returned a value of type ", typeof(r),
    "; a rule returns a tuple of the value and its tangent")))

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

# --- rules of the library -------------------------------------------------------------------

frule(tangents, ::typeof(__det), a::Array{T, 2}) where T<:__Float = (__det(a), dot(__cofactors(a), tangents[2]))
rrule(::typeof(__det), a::Array{T, 2}) where T<:__Float = (__det(a), dy -> (nothing, dy * __cofactors(a)))

# --- calls whose number of arguments is known late ------------------------------------------
# f(xs...) is a call with the tuples of what is in the collections, whose types tell how many there are when
# the program runs. Elements are read one by one, so that objects among them stay the ones that they are.

@noinline __tuple_of(c) = __tuple_of_elements(collect(c))
@noinline __tuple_of(c::AbstractArray) = __tuple_of_elements(c)
__tuple_of(c::Tuple) = c
__tuple_of(c::NamedTuple) = values(c)
__tuple_of_elements(c) = __ntuple(k -> c[k], __val(length(c)))
@noinline __call_tuple(f, ts...) = f(__concat(ts...)...)
__concat() = ()
__concat(t, rest...) = (t..., __concat(rest...)...)

# Of a vector of floats, the length is enough.
struct __SplitFloats{T}
    length::Int64
end
(s::__SplitFloats{T})(dy) where T = (nothing, __gather_floats(T, s.length, dy))
__gather_floats(T, n, dy::Nothing) = nothing
function __gather_floats(T, n, dy)
    d = zeros(T, n)
    for i in 1:n
        dy[i] === nothing || (d[i] = dy[i])
    end
    return d
end
rrule(::typeof(__tuple_of), c::Array{T, 1}) where T<:__Float = (__tuple_of(c), __SplitFloats{T}(length(c)))
frule(tangents, ::typeof(__tuple_of), c::Array{T, 1}) where T<:__Float =
    (__tuple_of(c), tangents[2] === nothing ? map(zero, __tuple_of(c)) : __tuple_of(tangents[2]))

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
