# Searches: by position, in sorted arrays, for the largest and smallest; parts of a sorted array; lists that begin
# later, end earlier or go on for ever.

# --- positions ------------------------------------------------------------------------------

# The number of an element as its key: by indices in what has more than one dimension.
@inline __key_at(a, k) = k
@inline __key_at(a::AbstractVector, k) = k
@inline __key_at(a::AbstractArray, k) = CartesianIndices(a)[k]
@inline __key_at(a, k::Nothing) = nothing
@inline __key_at(a::AbstractVector, k::Nothing) = nothing
@inline __key_at(a::AbstractArray, k::Nothing) = nothing
@inline __number_of(a, k::Integer) = k
function __number_of(a, c::CartesianIndex)
    k = 1
    step = 1
    for d in 1:length(c)
        k += (c[d] - 1) * step
        step *= size(a, d)
    end
    return k
end
findfirst(a) = findfirst(identity, a)
findlast(a) = findlast(identity, a)
findall(a) = findall(identity, a)
findfirst(f, a) = __key_at(a, __find_up(f, a, 1))
findlast(f, a) = __key_at(a, __find_down(f, a, length(a)))
findnext(f, a, k) = __key_at(a, __find_up(f, a, __number_of(a, k)))
findprev(f, a, k) = __key_at(a, __find_down(f, a, __number_of(a, k)))
findnext(a, k) = findnext(identity, a, k)
findprev(a, k) = findprev(identity, a, k)
function __find_up(f, a, from)
    for k in from:length(a)
        f(a[k]) && return k
    end
    return nothing
end
function __find_down(f, a, from)
    for k in from:-1:1
        f(a[k]) && return k
    end
    return nothing
end
findall(f, a) = __all_numbers(f, a)
findall(f, a::AbstractArray) = map(k -> CartesianIndices(a)[k], __all_numbers(f, a))
findall(f, a::AbstractVector) = __all_numbers(f, a)
function __all_numbers(f, a)
    out = mem.alloc(Array{Int64, 1}, 0)
    for k in 1:length(a)
        if f(a[k])
            mem.push(out, k)
        end
    end
    return out
end

indexin(a, b) = map(x -> findfirst(y -> isequal(x, y), b), a)

# --- extremes -------------------------------------------------------------------------------

findmax(a; dims) = __best_along(isless, a, dims)
findmin(a; dims) = __best_along((x, y) -> isless(y, x), a, dims)
argmax(a; dims) = findmax(a; dims)[2]
argmin(a; dims) = findmin(a; dims)[2]
argmax(a) = __key_at(a, __best(isless, a))
argmin(a) = __key_at(a, __best((x, y) -> isless(y, x), a))
findmax(a) = __value_and_key(a, __best(isless, a))
findmin(a) = __value_and_key(a, __best((x, y) -> isless(y, x), a))
__value_and_key(a, k) = (a[k], __key_at(a, k))
findmax(f, a) = findmax(__values_of(f, a))
findmin(f, a) = findmin(__values_of(f, a))
argmax(f, a) = __list_of(a)[__best(isless, __values_of(f, a))]
argmin(f, a) = __list_of(a)[__best((x, y) -> isless(y, x), __values_of(f, a))]
__values_of(f, a) = map(f, __list_of(a))
__list_of(a) = collect(a)
__list_of(a::AbstractArray) = a
extrema(f, a) = (minimum(f, a), maximum(f, a))
function __best_along(less, a, d::Integer)
    sizes = size(a)
    before, after = __around(sizes, d)
    n = sizes[d]
    dims = __ntuple(k -> k == d ? 1 : sizes[k], __val(data.fieldcount(sizes)))
    values = __alloc(eltype(a), dims)
    keys = __alloc(typeof(CartesianIndices(a)[1]), dims)
    for q in 0:after-1
        for p in 1:before
            at = p + before * n * q
            line = [a[at + before * j] for j in 0:n-1]
            best = __best(less, line)
            values[p + before * q] = line[best]
            keys[p + before * q] = CartesianIndices(a)[at + before * (best - 1)]
        end
    end
    return (values, keys)
end

# --- sorted arrays --------------------------------------------------------------------------

searchsorted(a::AbstractVector, x; by = identity, rev::Bool = false, lt = isless) =
    searchsortedfirst(a, x; by, rev, lt):searchsortedlast(a, x; by, rev, lt)
searchsorted(a::AbstractVector, x) = searchsortedfirst(a, x):searchsortedlast(a, x)
insorted(x, a::AbstractVector; by = identity, rev::Bool = false, lt = isless) = !isempty(searchsorted(a, x; by, rev, lt))
partialsort(a::AbstractVector, k; by = identity, rev::Bool = false, lt = isless) = sort(a; by, rev, lt)[k]
partialsort!(a::AbstractVector, k; by = identity, rev::Bool = false, lt = isless) = sort!(a; by, rev, lt)[k]
partialsortperm(a::AbstractVector, k; by = identity, rev::Bool = false, lt = isless) = sortperm(a; by, rev, lt)[k]
sortperm!(out::AbstractVector, a::AbstractVector; by = identity, rev::Bool = false, lt = isless) = copyto!(out, sortperm(a; by, rev, lt))
function sortslices(a::AbstractMatrix; dims::Int64, by = identity, rev::Bool = false, lt = isless)
    dims == 1 && return a[sortperm([a[k, :] for k in 1:size(a, 1)]; by, rev, lt), :]
    return a[:, sortperm([a[:, k] for k in 1:size(a, 2)]; by, rev, lt)]
end
function invperm(p::AbstractVector)
    out = zeros(Int64, length(p))
    for k in 1:length(p)
        1 <= p[k] <= length(p) && out[p[k]] == 0 || throw(ArgumentError("argument is not a permutation"))
        out[p[k]] = k
    end
    return out
end
invperm(p::Tuple) = Tuple(invperm(collect(p)))
isperm(p) = sort(collect(p)) == 1:length(p)
function allequal(a)
    return all(x -> isequal(x, first(a)), a)
end

# --- lazy lists -----------------------------------------------------------------------------

struct Cycle{I} <: __Iterator
    xs::I
end
# Again and again; of none, none.
cycle(xs) = Cycle(xs)
cycle(xs, n::Integer) = reduce(vcat, fill(collect(xs), n))
__start(c::Cycle) = __start(c.xs)
__done(c::Cycle, s) = __done(c.xs, __start(c.xs))
__item(c::Cycle, s) = __item(c.xs, s)
function __next(c::Cycle, s)
    t = __next(c.xs, s)
    return __done(c.xs, t) ? __start(c.xs) : t
end
struct Repeated{T} <: __Iterator
    x::T
end
repeated(x) = Repeated(x)
repeated(x, n::Integer) = fill(x, n)
__start(r::Repeated) = 0
__done(r::Repeated, s) = false
__item(r::Repeated, s) = r.x
__next(r::Repeated, s) = 0
struct Count{T} <: __Iterator
    start::T
    step::T
end
countfrom() = Count(1, 1)
countfrom(x) = Count(x, one(x))
countfrom(x, step) = Count(promote(x, step)...)
__start(c::Count) = c.start
__done(c::Count, s) = false
__item(c::Count, s) = s
__next(c::Count, s) = s + c.step
struct TakeWhile{F, I} <: __Iterator
    pred::F
    xs::I
end
takewhile(f, xs) = TakeWhile(f, xs)
__start(t::TakeWhile) = __start(t.xs)
__done(t::TakeWhile, s) = __done(t.xs, s) || !t.pred(__item(t.xs, s))
__item(t::TakeWhile, s) = __item(t.xs, s)
__next(t::TakeWhile, s) = __next(t.xs, s)
struct DropWhile{F, I} <: __Iterator
    pred::F
    xs::I
end
dropwhile(f, xs) = DropWhile(f, xs)
function __start(d::DropWhile)
    s = __start(d.xs)
    while !__done(d.xs, s) && d.pred(__item(d.xs, s))
        s = __next(d.xs, s)
    end
    return s
end
__done(d::DropWhile, s) = __done(d.xs, s)
__item(d::DropWhile, s) = __item(d.xs, s)
__next(d::DropWhile, s) = __next(d.xs, s)
struct Rest{I, S} <: __Iterator
    itr::I
    st::S
end
rest(it, s) = Rest(it, s)
rest(it) = it
# The states of arrays are counts from 0 here, and what `iterate` gives for them the next one.
__start(r::Rest) = r.st
__done(r::Rest, s) = __done(r.itr, s)
__item(r::Rest, s) = __item(r.itr, s)
__next(r::Rest, s) = __next(r.itr, s)
# The first element, and what is left.
function peel(it)
    s = __start(it)
    __done(it, s) && return nothing
    return (__item(it, s), Rest(it, __next(it, s)))
end
struct Take{I} <: __Iterator
    xs::I
    n::Int64
end
__start(t::Take) = (0, __start(t.xs))
__done(t::Take, s) = s[1] >= t.n || __done(t.xs, s[2])
__item(t::Take, s) = __item(t.xs, s[2])
__next(t::Take, s) = (s[1] + 1, __next(t.xs, s[2]))
function __rest_behind(it, n)
    s = __start(it)
    for k in 1:n
        __done(it, s) && break
        s = __next(it, s)
    end
    return Rest(it, s)
end
# It goes on where it was left.
mutable struct Stateful{I}
    itr::I
    next
end
Stateful(itr) = Stateful(itr, iterate(itr))
isempty(s::Stateful) = s.next === nothing
peek(s::Stateful) = isempty(s) ? nothing : s.next[1]
function popfirst!(s::Stateful)
    isempty(s) && throw(EOFError())
    x, state = s.next
    s.next = iterate(s.itr, state)
    return x
end
iterate(s::Stateful, state = nothing) = isempty(s) ? nothing : (popfirst!(s), nothing)
# Parts of n elements; the last one may be shorter.
partition(it, n::Integer) = __parts_of(collect(it), Int64(n))
partition(a::AbstractVector, n::Integer) = __parts_of(a, Int64(n))
__parts_of(a, n) = n < 1 ? throw(ArgumentError(string("cannot create partitions of length ", n))) : [a[k:min(k + n - 1, length(a))] for k in 1:n:length(a)]
flatmap(f, its...) = flatten(map(f, its...))
