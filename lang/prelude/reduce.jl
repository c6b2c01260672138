# Folds, maps and searches over collections.
#
# `sum` and its like add from left to right, in one plain loop. Julia adds blocks of 1024 elements
# pairwise, so that a sum of many floats may differ from Julia's in its last bits.

@noinline __empty_collection() = throw(ArgumentError("reducing over an empty collection is not allowed"))

# What an empty sum or product is, for elements of a type.
__zero_of(::Type{T}) where T<:__Num = zero(T)
__zero_of(::Type{Bool}) = 0
__zero_of(::Type{T}) where T<:Union{Int32, Int16, Int8} = 0
__zero_of(::Type{T}) where T<:Number = zero(T)
__zero_of(::Type{T}) where T = __empty_collection()
__one_of(::Type{T}) where T<:__Num = one(T)
__one_of(::Type{T}) where T<:Union{Bool, Int32, Int16, Int8} = 1
__one_of(::Type{T}) where T<:Number = one(T)
__one_of(::Type{T}) where T = __empty_collection()
# Small integers are added as Int64.
@inline __widen(x) = x
@inline __widen(x::Union{Bool, Int32, Int16, Int8}) = core.convert(Int64, x)
@inline __add(x, y) = x + y
@inline __multiply(x, y) = x * y
@inline __add(x, y::Union{Bool, Int32, Int16, Int8}) = __widen(x) + __widen(y)
@inline __multiply(x, y::Union{Bool, Int32, Int16, Int8}) = __widen(x) * __widen(y)
# The same of an operation along a dimension.
__empty_along(::typeof(__add), T) = __zero_of(T)
__empty_along(::typeof(__multiply), T) = __one_of(T)
__empty_along(::typeof(|), T) = false
__empty_along(::typeof(&), T) = true
__empty_along(op, T) = __empty_collection()

sum(it) = sum(identity, it)
prod(it) = prod(identity, it)
@inline __value_type(f, it) = __return_type(f, __item_type(it))
function sum(f, it)
    T = __value_type(f, it)
    T <: __Num || return __fold(f, __add, it, __zero_of)
    # Adding to -0.0 changes no float; but there must be one.
    T <: __Float && __done(it, __start(it)) && return zero(T)
    acc = __no_sum(T)
    for x in it
        acc = __add(acc, f(x))
    end
    return acc
end
@inline __no_sum(::Type{T}) where T<:__Float = arith.neg(zero(T))
@inline __no_sum(::Type{T}) where T = 0
function prod(f, it)
    T = __value_type(f, it)
    T <: __Num || return __fold(f, __multiply, it, __one_of)
    acc = __one_of(T)
    for x in it
        acc = __multiply(acc, f(x))
    end
    return acc
end
# The fold that all others are: from the first element on.
function __fold(f, op, it, empty)
    s = __start(it)
    __done(it, s) && return empty(__value_type(f, it))
    acc = __widen_for(op, f(__item(it, s)))
    s = __next(it, s)
    while !__done(it, s)
        acc = op(acc, f(__item(it, s)))
        s = __next(it, s)
    end
    return acc
end
@inline __widen_for(op, x) = x
@inline __widen_for(::typeof(__add), x) = __widen(x)
@inline __widen_for(::typeof(__multiply), x) = __widen(x)
function __fold_from(f, op, acc, it)
    for x in it
        acc = op(acc, f(x))
    end
    return acc
end
__empty_fold(T) = __empty_collection()
foldl(op, it) = __fold(identity, op, it, __empty_fold)
reduce(op, it) = __reduce(identity, op, it)
# Vectors side by side, and one behind the other, each put into its place.
function reduce(::typeof(hcat), xs::Vector{Vector{T}}) where T
    length(xs) == 0 && return __empty_collection()
    m = length(xs[1])
    out = mem.alloc(Array{T, 2}, m, length(xs))
    for j in 1:length(xs)
        x = xs[j]
        length(x) == m || __uneven((m, length(x)))
        for i in 1:m
            out[i, j] = x[i]
        end
    end
    return out
end
function reduce(::typeof(vcat), xs::Vector{Vector{T}}) where T
    n = 0
    for x in xs
        n += length(x)
    end
    out = mem.alloc(Array{T, 1}, n)
    at = 0
    for x in xs
        __place(out, x, at, 0)
        at += length(x)
    end
    return out
end
mapreduce(f, op, it) = __reduce(f, op, it)
mapreduce(f, op, a, b, more...) = __reduce(__Splat(f), op, zip(a, b, more...))
__reduce(f, op, it) = __fold(f, op, it, __empty_fold)
__reduce(f, ::typeof(+), it) = sum(f, it)
__reduce(f, ::typeof(*), it) = prod(f, it)
mapfoldl(f, op, it) = __fold(f, op, it, __empty_fold)
struct __Splat{F}
    f::F
end
@inline (s::__Splat)(t) = s.f(t...)
foldr(op, it) = __fold(identity, (x, y) -> op(y, x), reverse(collect(it)), __empty_fold)
maximum(it) = __fold(identity, max, it, __empty_fold)
minimum(it) = __fold(identity, min, it, __empty_fold)
maximum(f, it) = __fold(f, max, it, __empty_fold)
minimum(f, it) = __fold(f, min, it, __empty_fold)
extrema(it) = (minimum(it), maximum(it))

any(it) = any(identity, it)
all(it) = all(identity, it)
function any(f, it)
    for x in it
        f(x) && return true
    end
    return false
end
function all(f, it)
    for x in it
        f(x) || return false
    end
    return true
end
count(it) = count(identity, it)
function count(f, it)
    n = 0
    for x in it
        n += core.convert(Int64, f(x))
    end
    return n
end

# --- maps -----------------------------------------------------------------------------------

@inline map(f, it) = __collect(Generator(f, it))
@inline map(f, a, b, more...) = __collect(Generator(__Splat(f), zip(a, b, more...)))
@inline map(f, x::Number, more::Number...) = f(x, more...)
function map!(f, dest::AbstractArray, a)
    k = 1
    for x in a
        dest[k] = f(x)
        k += 1
    end
    return dest
end
map!(f, dest::AbstractArray, a, b, more...) = map!(__Splat(f), dest, zip(a, b, more...))
function foreach(f, it)
    for x in it
        f(x)
    end
    return nothing
end
foreach(f, a, b, more...) = foreach(__Splat(f), zip(a, b, more...))
function filter(f, it)
    out = mem.alloc(__array_type(__item_type(it), (1,)), 0)
    for x in it
        if f(x)
            mem.push(out, x)
        end
    end
    return out
end
filter(f, t::Tuple) = Tuple(filter(f, collect(t)))
function filter!(f, a::Array{T, 1}) where T
    n = 0
    for k in 1:length(a)
        x = a[k]
        if f(x)
            n += 1
            a[n] = x
        end
    end
    return resize!(a, n)
end
accumulate(op, a) = __accumulate(op, __list_of(a))
cumsum(a::AbstractVector) = __accumulate(__add, a)
cumprod(a::AbstractVector) = __accumulate(__multiply, a)
cumsum(t::Tuple) = Tuple(cumsum(collect(t)))
cumprod(t::Tuple) = Tuple(cumprod(collect(t)))
function __accumulate(op, a)
    n = length(a)
    out = mem.alloc(__array_type(__return_type(op, eltype(a), eltype(a)), (1,)), n)
    n == 0 && return out
    acc = __widen_for(op, a[1])
    mem.store(out, convert(eltype(out), acc), 1)
    for k in 2:n
        acc = op(acc, a[k])
        @inbounds mem.store(out, acc, k)
    end
    return __narrow(out)
end
function diff(a::AbstractVector)
    n = length(a)
    out = mem.alloc(__array_type(eltype(a), (1,)), max(n - 1, 0))
    for k in 1:n-1
        @inbounds mem.store(out, a[k + 1] - a[k], k)
    end
    return out
end

# --- searches -------------------------------------------------------------------------------

# The first one of those above which there is none; NaN is above and below all.
function __best(less, a)
    isempty(a) && __empty_collection()
    best = 1
    x = a[1]
    for k in 2:length(a)
        x != x && return best
        y = a[k]
        if less(x, y) || y != y
            best = k
            x = y
        end
    end
    return best
end

# --- statistics -----------------------------------------------------------------------------

mean(it) = mean(identity, it)
mean(f, a::AbstractArray) = sum(f, a) / length(a)
mean(f, t::Tuple) = sum(f, t) / length(t)
function mean(f, it)
    n = 0
    s = __start(it)
    __done(it, s) && __empty_collection()
    acc = f(__item(it, s))
    n = 1
    s = __next(it, s)
    while !__done(it, s)
        acc = __add(acc, f(__item(it, s)))
        n += 1
        s = __next(it, s)
    end
    return acc / n
end
function var(a)
    n = length(a)
    m = mean(a)
    s = zero(m)
    for x in a
        s += abs2(x - m)
    end
    return s / (n - 1)
end
# Of equal numbers the derivative is 0.
std(a) = __std(var(a))
__std(v) = iszero(v) ? ad.ignore(sqrt(v)) : sqrt(v)
