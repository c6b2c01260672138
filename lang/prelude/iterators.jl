# Iteration: what `for` does with collections, and lazy collections.
#
# Where elements can be found by number, the state is a count from 0: ranges, arrays, tuples, and
# what is lazily made of them (`__counted`). A program's own `iterate` methods are used for all
# other types.

@inline __start(a::AbstractArray) = 0
@inline __start(t::Tuple) = 0
@inline __start(t::NamedTuple) = 0
@inline __start(x::Number) = 0
@inline __next(a::AbstractArray, s) = s + 1
@inline __next(t::Tuple, s) = s + 1
@inline __next(t::NamedTuple, s) = s + 1
@inline __next(x::Number, s) = s + 1
@inline __done(a::AbstractArray, s) = s >= length(a)
@inline __done(a::Array, s) = arith.ge(s, mem.length(a))
@inline __done(t::Tuple, s) = s >= data.fieldcount(t)
@inline __done(t::NamedTuple, s) = s >= data.fieldcount(t)
@inline __done(x::Number, s) = s >= 1
@inline __done(r::OneTo, s) = s >= r.stop
@inline function __done(r::UnitRange, s)
    if __known(r.start) && r.start == 1
        return s >= r.stop
    end
    return s > r.stop - r.start
end
@inline __item(a::AbstractArray, s) = a[s + 1]
@inline __item(a::Array, s) = mem.load(a, s + 1)
@inline __item(r::AbstractRange, s) = __at(r, s)
@inline __item(v::SubArray{T, 1}, s) where T = v.parent[__into(v.indices, s)...]
@inline __item(t::Tuple, s) = data.getfield(t, s + 1)
@inline __item(t::NamedTuple, s) = data.getfield(t, s + 1)
@inline __item(x::Number, s) = x
# Ranges whose numbers are not Int64 still count in Int64.
@inline __done(r::UnitRange{T}, s) where T<:__SmallInt = s >= length(r)

# A program's own iterators: the state is what `iterate` gave.
__start(x) = iterate(x)
__done(x, s) = s === nothing
__item(x, s) = s[1]
__next(x, s) = iterate(x, s[2])
const __Native = Union{AbstractArray, Tuple, NamedTuple, Number, __Iterator}
iterate(x::__Native) = iterate(x, __start(x))
iterate(x::__Native, s) = __done(x, s) ? nothing : (__item(x, s), __next(x, s))

# Whether the state is a count, and then, how many elements there are.
@inline __counted(x) = false
@inline __counted(x::Union{AbstractArray, Tuple, NamedTuple, Number}) = true
@inline __all_counted(xs) = __unroll_fold(__and_counted, true, xs)
@inline __and_counted(all, x) = all ? __counted(x) : false

# --- several at once ------------------------------------------------------------------------

struct Zip{T} <: __Iterator
    is::T
end
@inline zip(xs...) = Zip(xs)
@inline __counted(z::Zip) = __all_counted(z.is)
@inline __start(z::Zip) = __counted(z) ? 0 : __unroll_map(__start, z.is)
@inline __done(z::Zip, s::Int64) = __unroll_fold(__or_done(s), false, z.is)
struct __OrDone
    s::Int64
end
@inline __or_done(s) = __OrDone(s)
@inline (d::__OrDone)(any, x) = any | __done(x, d.s)
@inline __done(z::Zip, s::Tuple) = __unroll_fold(|, false, __unroll_map(__done, z.is, s))
@inline __item(z::Zip, s::Int64) = __unroll_map(__ItemAt(s), z.is)
struct __ItemAt
    s::Int64
end
@inline (at::__ItemAt)(x) = __item(x, at.s)
@inline __item(z::Zip, s::Tuple) = __unroll_map(__item, z.is, s)
@inline __next(z::Zip, s::Int64) = s + 1
@inline __next(z::Zip, s::Tuple) = __unroll_map(__next, z.is, s)
length(z::Zip) = __unroll_fold(__least, typemax(Int64), __unroll_map(length, z.is))
__least(m, n) = m < n ? m : n
@inline __shape(z::Zip) = __zip_shape(__unroll_map(__shape, z.is)...)
@inline __zip_shape(s) = s
@inline __zip_shape(s, t, more...) = __zip_shape(__common_shape(s, t), more...)
__common_shape(s, t) = (min(__product_of(s), __product_of(t)),)
__common_shape(s::NTuple{N, Int64}, t::NTuple{N, Int64}) where N =
    s == t ? s : throw(DimensionMismatch(string("dimensions must match: a has dims ", s, ", b has dims ", t)))
__common_shape(s::Tuple{Int64}, t::Tuple{Int64}) = (min(s[1], t[1]),)

struct Enumerate{I} <: __Iterator
    itr::I
end
@inline enumerate(x) = Enumerate(x)
@inline __counted(e::Enumerate) = __counted(e.itr)
@inline __start(e::Enumerate) = __counted(e.itr) ? 0 : (1, __start(e.itr))
@inline __done(e::Enumerate, s::Int64) = __done(e.itr, s)
@inline __done(e::Enumerate, s::Tuple) = __done(e.itr, s[2])
@inline __item(e::Enumerate, s::Int64) = (s + 1, __item(e.itr, s))
@inline __item(e::Enumerate, s::Tuple) = (s[1], __item(e.itr, s[2]))
@inline __next(e::Enumerate, s::Int64) = s + 1
@inline __next(e::Enumerate, s::Tuple) = (s[1] + 1, __next(e.itr, s[2]))
length(e::Enumerate) = length(e.itr)
__shape(e::Enumerate) = __shape(e.itr)
pairs(a::AbstractVector) = Generator(p -> Pair(p[1], p[2]), enumerate(a))
pairs(t::Tuple) = Generator(p -> Pair(p[1], p[2]), enumerate(t))

struct Generator{F, I} <: __Iterator
    f::F
    iter::I
end
@inline __generator(f, it) = Generator(f, it)
@inline __counted(g::Generator) = __counted(g.iter)
@inline __start(g::Generator) = __start(g.iter)
@inline __done(g::Generator, s) = __done(g.iter, s)
@inline __item(g::Generator, s) = g.f(__item(g.iter, s))
@inline __next(g::Generator, s) = __next(g.iter, s)
length(g::Generator) = length(g.iter)
__shape(g::Generator) = __shape(g.iter)

# All tuples of one element of each; the first one runs fastest.
struct ProductIterator{T} <: __Iterator
    is::T
end
product(x, xs...) = __product(x, xs...)
@inline __product(xs...) = ProductIterator(__unroll_map(__countable, xs))
__countable(x) = __counted(x) ? x : collect(x)
@inline __counted(p::ProductIterator) = true
@inline __start(p::ProductIterator) = 0
@inline __done(p::ProductIterator, s) = s >= length(p)
@inline __next(p::ProductIterator, s) = s + 1
@inline __item(p::ProductIterator, s) = __items_at(p.is, s)
@inline __items_at(is::Tuple{Any}, s) = (__item(is[1], s),)
@inline function __items_at(is::Tuple, s)
    n = length(is[1])
    return (__item(is[1], rem(s, n)), __items_at(tail(is), div(s, n))...)
end
length(p::ProductIterator) = __unroll_fold(*, 1, __unroll_map(length, p.is))
__shape(p::ProductIterator) = __unroll_fold(__append_shape, (), __unroll_map(__shape, p.is))
@inline __append_shape(s, t) = (s..., t...)

# --- parts ----------------------------------------------------------------------------------

struct Filter{F, I} <: __Iterator
    f::F
    itr::I
end
# Elements that must not be made twice are made first.
@inline __filter(f, it) = Filter(f, it)
__filter(f, it::Generator) = Filter(f, collect(it))
@inline __start(x::Filter) = __skip(x, __start(x.itr))
@inline __done(x::Filter, s) = __done(x.itr, s)
@inline __item(x::Filter, s) = __item(x.itr, s)
@inline __next(x::Filter, s) = __skip(x, __next(x.itr, s))
function __skip(x, s)
    while !__done(x.itr, s)
        x.f(__item(x.itr, s)) && return s
        s = __next(x.itr, s)
    end
    return s
end
# The elements of the elements, in a vector.
function __flatten(its)
    out = mem.alloc(Array{Any, 1}, 0)
    for it in its
        for x in it
            mem.push(out, x)
        end
    end
    return __narrow(out)
end
flatten(its) = __flatten(its)
# What starts later or ends earlier is a list here. Of lists that may go on for ever, only what is wanted is made.
take(it, n::Int64) = __counted(it) ? __take(collect(it), n) : Take(it, n)
drop(it, n::Int64) = __counted(it) ? __drop(collect(it), n) : __rest_behind(it, n)
__take(a, n) = a[1:min(n, length(a))]
__drop(a, n) = a[n+1:length(a)]
eachcol(a::AbstractMatrix) = Generator(j -> view(a, :, j), OneTo(size(a, 2)))
eachrow(a::AbstractMatrix) = Generator(i -> view(a, i, :), OneTo(size(a, 1)))
isempty(it) = __done(it, __start(it))
function first(it)
    s = __start(it)
    return __done(it, s) ? throw(ArgumentError("collection must be non-empty")) : __item(it, s)
end
first(it, n::Integer) = collect(take(it, n))
last(a) = a[lastindex(a)]
eltype(it::__Iterator) = __item_type(it)

# What a program may say of iterators of its own. Nothing here asks for it.
struct HasLength end
struct HasShape{N} end
struct IsInfinite end
struct SizeUnknown end
struct HasEltype end
struct EltypeUnknown end
IteratorSize(x) = IteratorSize(typeof(x))
IteratorSize(::Type) = HasLength()
IteratorEltype(x) = IteratorEltype(typeof(x))
IteratorEltype(::Type) = HasEltype()

# --- collecting -----------------------------------------------------------------------------

# That of any item: the first of a tuple need not be like the others.
@inline __item_type(it) = __return_type(__item, typeof(it), __return_type(__start, typeof(it)))
@inline __item_type(a::AbstractArray) = eltype(a)
@inline __shape(a::AbstractArray) = size(a)
@inline __shape(t::Union{Tuple, NamedTuple}) = (length(t),)
@inline __shape(x::Number) = ()

collect(a::Array) = mem.copy(a)
collect(x) = __collect(x)
collect(::Type{T}, x) where T = __converted(T, collect(x))
__collect(a::AbstractArray) = __collect_as(eltype(a), a, size(a))
@inline __collect(t::Tuple) = vect_any(t)
@inline __collect(x) = __counted(x) ? __collect_counted(__item_type(x), x, __shape(x)) : __collect_list(__item_type(x), x)
__collect(t::Tuple{}) = vect()
@inline vect_any(t) = __narrow_tuple(eltype(t), t)
@inline __narrow_tuple(::Type{T}, t) where T = __spread("mem.array", Array{T, 1}, t)
# `T[… for …]`
@inline __collect(::Type{T}, x) where T = __counted(x) ? __collect_as(T, x, __shape(x)) : __collect_list(T, x)
@inline __collect_counted(::Type{T}, x, dims) where T = __collect_as(T, x, dims)
# The type of the elements shows when they are there: it is that of all of them, or `Any`.
__collect_counted(::Type{Any}, x, dims) = __narrow(__collect_as(Any, x, dims))
function __collect_as(::Type{T}, x, dims::Tuple) where T
    out = __alloc(T, dims)
    n = mem.length(out)
    k = 0
    while k < n
        item = convert(T, __item(x, k))
        @inbounds mem.store(out, item, k + 1)
        k += 1
    end
    return out
end
function __collect_as(::Type{T}, x, dims::Tuple{}) where T
    return fill(convert(T, __item(x, 0)), 1)
end
function __collect_list(::Type{T}, x) where T
    out = mem.alloc(Array{T, 1}, 0)
    for y in x
        mem.push(out, convert(T, y))
    end
    return out
end
function __collect_list(::Type{Any}, x)
    out = mem.alloc(Array{Any, 1}, 0)
    for y in x
        mem.push(out, y)
    end
    return __narrow(out)
end
__narrow(a) = a
function __narrow(a::Array{Any, N}) where N
    n = mem.length(a)
    n == 0 && return a
    T = core.typeof(mem.load(a, 1))
    for k in 2:n
        core.typeof(mem.load(a, k)) === T || return a
    end
    return __narrow_to(T, a)
end
function __narrow_to(::Type{T}, a) where T
    out = __alloc(T, size(a))
    for k in 1:mem.length(a)
        mem.store(out, __typeassert(mem.load(a, k), T), k)
    end
    return out
end
