# Tuples and named tuples. What has a known length is written out, without loops.

tuple(xs...) = xs
@inline length(t::Tuple) = data.fieldcount(t)
@inline length(t::NamedTuple) = data.fieldcount(t)
size(t::Tuple, d::Int64) = d == 1 ? length(t) : throw(ArgumentError(string("invalid tuple dimension ", d)))
@inline firstindex(t::Tuple) = 1
@inline lastindex(t::Tuple) = data.fieldcount(t)
eachindex(t::Tuple) = OneTo(data.fieldcount(t))
keys(t::Tuple) = OneTo(data.fieldcount(t))
isempty(t::Tuple) = data.fieldcount(t) == 0
isempty(t::NamedTuple) = data.fieldcount(t) == 0
ndims(t::Tuple) = 1
eltype(x) = eltype(typeof(x))
eltype(::Type{T}) where T = Any
eltype(::Tuple{}) = Union{}
eltype(t::Tuple) = __unroll_fold(__common_type, nothing, t)
eltype(t::NamedTuple) = eltype(values(t))
# The type of both of these, or `Any`.
__common_type(::Nothing, x) = typeof(x)
__common_type(::Type{T}, x::T) where T = T
__common_type(::Type{T}, x) where T = Any

@inline getindex(t::Tuple, i::Int64) = data.getfield(t, i)
@inline getindex(t::Tuple, i::Integer) = data.getfield(t, Int64(i))
@inline getindex(t::Tuple, r::UnitRange{Int64}) = ntuple(__Offset(t, r.start - 1), r.stop - r.start + 1)
@inline getindex(t::Tuple, ::Colon) = t
getindex(t::Tuple, is::Tuple) = __unroll_map(__ElementOf(t), is)
getindex(t::Tuple, is::AbstractVector) = Tuple([t[i] for i in is])
struct __ElementOf{T}
    t::T
end
@inline (e::__ElementOf)(i) = data.getfield(e.t, i)
struct __Offset{T}
    t::T
    by::Int64
end
@inline (o::__Offset)(i) = data.getfield(o.t, i + o.by)
@inline first(t::Tuple) = data.getfield(t, 1)
@inline last(t::Tuple) = data.getfield(t, data.fieldcount(t))
# By types alone: in a context that changes arithmetic, what arithmetic gives is not known.
@inline tail(t::Tuple) = __behind_first(t...)
@inline __behind_first(x, xs...) = xs
__behind_first() = throw(ArgumentError("Cannot call tail on an empty tuple."))
@inline front(t::Tuple) = __ntuple(__ElementOf(t), __val(data.fieldcount(t) - 1))
@inline reverse(t::Tuple) = __ntuple(__FromEnd(t), __val(data.fieldcount(t)))
struct __FromEnd{T}
    t::T
end
@inline (e::__FromEnd)(i) = data.getfield(e.t, data.fieldcount(e.t) + 1 - i)
@inline setindex(t::Tuple, v, i::Int64) = __ntuple(k -> k == i ? v : data.getfield(t, k), __val(data.fieldcount(t)))

@inline function ntuple(f, n::Int64)
    if __known(n)
        return __ntuple(f, __val(n))
    end
    return __to_tuple([f(k) for k in 1:n])
end
@inline ntuple(f, v::Val) = __ntuple(f, v)
convert(::Type{T}, t::T) where T<:Tuple = t
convert(::Type{T}, t::Tuple) where T<:Tuple = __unroll_map(convert, fieldtypes(T), t)
Tuple(t::Tuple) = t
Tuple(t::NamedTuple) = values(t)
Tuple(x) = __to_tuple(collect(x))
__to_tuple(a::Array) = core.splat(tuple, a)

# The elements of v, one of the collections whose elements are the arguments of a call of f: all its
# methods take so many that v gives n of them.
@inline function __arguments(n, f, v, collections...)
    length(v) == n || __no_such_call(f, collections...)
    return __ntuple(i -> @inbounds(v[i]), __val(n))
end
@noinline __no_such_call(f, collections...) =
    (f(__concat(collections...)...); throw(ArgumentError("it takes another number of arguments")))

@inline map(f, t::Tuple) = __unroll_map(f, t)
@inline map(f, s::Tuple, t::Tuple, more::Tuple...) = __unroll_map(f, __as_long_as_all(s, t, more...)...)
@inline function __as_long_as_all(s, more...)
    n = __val(__unroll_fold(__shorter, data.fieldcount(s), more))
    return __unroll_map(t -> __ntuple(__ElementOf(t), n), (s, more...))
end
@inline __shorter(n, t) = data.fieldcount(t) < n ? data.fieldcount(t) : n
foreach(f, t::Tuple) = (__unroll_map(f, t); nothing)

# Tuples of one type of elements are folded by a loop if they are long.
@inline function __fold_tuple(op, t)
    n = data.fieldcount(t)
    if n <= 16
        return __unroll_fold(op, data.getfield(t, 1), __ntuple(__Offset(t, 1), __val(n - 1)))
    end
    return __fold_long(op, t)
end
function __fold_long(op, t)
    acc = t[1]
    for k in 2:length(t)
        acc = op(acc, t[k])
    end
    return acc
end
sum(t::Tuple) = __fold_tuple(+, t)
sum(::Tuple{}) = 0
prod(t::Tuple) = __fold_tuple(*, t)
prod(::Tuple{}) = 1
sum(f, t::Tuple) = sum(__unroll_map(f, t))
prod(f, t::Tuple) = prod(__unroll_map(f, t))
maximum(t::Tuple) = __fold_tuple(max, t)
minimum(t::Tuple) = __fold_tuple(min, t)
maximum(f, t::Tuple) = maximum(__unroll_map(f, t))
minimum(f, t::Tuple) = minimum(__unroll_map(f, t))
maximum(::Tuple{}) = __empty_collection()
minimum(::Tuple{}) = __empty_collection()
foldl(op, t::Tuple) = __fold_tuple(op, t)
reduce(op, t::Tuple) = __fold_tuple(op, t)
foldl(op, t::Tuple{}) = __empty_collection()
reduce(op, t::Tuple{}) = __empty_collection()
mapreduce(f, op, t::Tuple) = reduce(op, __unroll_map(f, t))
mapfoldl(f, op, t::Tuple) = foldl(op, __unroll_map(f, t))
foldr(op, t::Tuple) = __fold_tuple((x, y) -> op(y, x), reverse(t))

==(s::Tuple, t::Tuple) = data.fieldcount(s) == data.fieldcount(t) && __all_equal(s, t)
__all_equal(s, t) = __unroll_fold(&, true, __unroll_map(==, s, t))
isequal(s::Tuple, t::Tuple) = data.fieldcount(s) == data.fieldcount(t) && __unroll_fold(&, true, __unroll_map(isequal, s, t))
<(s::Tuple, t::Tuple) = __tuple_less(__Order(<, ==), s, t)
isless(s::Tuple, t::Tuple) = __tuple_less(__Order(isless, isequal), s, t)
@inline function __tuple_less(order, s, t)
    if data.fieldcount(s) == data.fieldcount(t)
        return __unroll_fold(order, 0, __unroll_map(tuple, s, t)) == 1
    end
    return __less_by_elements(order, s, t)
end
function __less_by_elements(order, s, t)
    for k in 1:min(length(s), length(t))
        found = order(0, (s[k], t[k]))
        found == 0 || return found == 1
    end
    return length(s) < length(t)
end
# The order of the first two elements that are not the same: 1 if the first is less, otherwise 2; 0 as long as all are the same.
struct __Order{L,S}
    less::L
    same::S
end
@inline (o::__Order)(found, pair) = found != 0 ? found : o.less(pair[1], pair[2]) ? 1 : o.same(pair[1], pair[2]) ? 0 : 2
@inline in(x, t::Tuple) = __unroll_fold(__EqualTo(x), false, t)
struct __EqualTo{T}
    x::T
end
@inline (e::__EqualTo)(found, y) = found | (y == e.x)
issubset(s::Tuple, t) = __unroll_fold(__InAll(t), true, s)
struct __InAll{T}
    t::T
end
@inline (e::__InAll)(all, x) = all & in(x, e.t)
issubset(s, t) = all(x -> in(x, t), s)
⊆(s, t) = issubset(s, t)

# By `iterate` if there is one: what has it need not have indices.
@inline __destructure(t, k::Int64) = __has_method(iterate, Tuple{typeof(t)}) ? __kth(t, k) : t[k]
function __kth(t, k)
    rest = __rest_behind(t, k - 1)
    return isempty(rest) ? throw(BoundsError(t, k)) : first(rest)
end
@inline __destructure(a::AbstractArray, k::Int64) = a[k]
@inline __destructure(t::Tuple, k::Int64) = data.getfield(t, k)
@inline __destructure(t::NamedTuple, k::Int64) = data.getfield(t, k)
@inline __destructure(x::Number, k::Int64) = getindex(x, k)
@inline __destructure(t::__Iterator, k::Int64) = collect(t)[k]
@inline __destructure_rest(t, k::Int64) = collect(t)[k:end]
@inline __destructure_rest(t::Union{AbstractArray, String}, k::Int64) = t[__number_at(t, k):end]
@inline __destructure_rest(t, k::Int64, after::Int64) = t[k:end - after]
@inline __destructure_rest(t::Tuple, k::Int64, after::Int64) =
    __ntuple(__Offset(t, k - 1), __val(max(data.fieldcount(t) - k + 1 - after, 0)))
# The `k`th element from the end.
@inline __destructure_last(t, k::Int64) = t[end - k + 1]
@inline __destructure_last(t::Tuple, k::Int64) = data.getfield(t, data.fieldcount(t) - k + 1)
@inline __destructure_rest(t::Tuple, k::Int64) = __ntuple(__Offset(t, k - 1), __val(max(data.fieldcount(t) - k + 1, 0)))

# --- named tuples ---------------------------------------------------------------------------

@inline getindex(t::NamedTuple, k::Symbol) = data.getfield(t, k)
@inline getindex(t::NamedTuple, k::Int64) = data.getfield(t, k)
@inline getindex(t::NamedTuple, ks::Tuple) = __named_of(ks, __unroll_map(__ElementOf(t), ks))
first(t::NamedTuple) = data.getfield(t, 1)
last(t::NamedTuple) = data.getfield(t, data.fieldcount(t))
firstindex(t::NamedTuple) = 1
lastindex(t::NamedTuple) = data.fieldcount(t)
@inline keys(t::NamedTuple) = __fieldnames(typeof(t))
@inline values(t::NamedTuple) = __ntuple(__ElementOf(t), __val(data.fieldcount(t)))
values(t::Tuple) = t
pairs(t::NamedTuple) = __unroll_map(=>, keys(t), values(t))
haskey(t::NamedTuple, k::Symbol) = data.hasfield(t, k)
haskey(t::Tuple, k::Int64) = 1 <= k <= length(t)
get(t::NamedTuple, k::Symbol, default) = data.hasfield(t, k) ? data.getfield(t, k) : default
@inline map(f, t::NamedTuple) = __named_of(keys(t), __unroll_map(f, values(t)))
@inline map(f, s::NamedTuple{K}, t::NamedTuple{K}) where K = __named_of(K, __unroll_map(f, values(s), values(t)))
@inline map(f, s::NamedTuple{K}, t::NamedTuple{K}, more::NamedTuple{K}...) where K =
    __named_of(K, __unroll_map(f, values(s), values(t), map(values, more)...))
map(f, s::NamedTuple, t::NamedTuple, more::NamedTuple...) = throw(ArgumentError("Named tuple names do not match."))
NamedTuple() = (;)
@inline (::Type{NamedTuple{K}})(t::Tuple) where K = __named_of(K, t)
@inline (::Type{NamedTuple{K}})(t::NamedTuple) where K = __named_of(K, __unroll_map(__ElementOf(t), K))
merge(t::NamedTuple) = t
@inline function merge(s::NamedTuple, t::NamedTuple)
    names = __merged_names(keys(s), keys(t))
    return __named_of(names, __unroll_map(__OneOf(t, s), names))
end
merge(s::NamedTuple, t::NamedTuple, more...) = merge(merge(s, t), more...)
@inline __merged_names(s, t) = __unroll_fold(__add_name, s, t)
@inline __add_name(names, name) = in(name, names) ? names : (names..., name)
struct __OneOf{T, S}
    t::T
    s::S
end
@inline (e::__OneOf)(k) = data.hasfield(e.t, k) ? data.getfield(e.t, k) : data.getfield(e.s, k)
==(s::NamedTuple{K}, t::NamedTuple{K}) where K = values(s) == values(t)
==(s::NamedTuple, t::NamedTuple) = false
sum(t::NamedTuple) = sum(values(t))
foreach(f, t::NamedTuple) = foreach(f, values(t))

struct Pair{A, B}
    first::A
    second::B
end
=>(a, b) = Pair(a, b)
convert(::Type{Pair{A, B}}, p::Pair{A, B}) where {A, B} = p
convert(::Type{Pair{A, B}}, p::Pair) where {A, B} = Pair{A, B}(p.first, p.second)
first(p::Pair) = p.first
last(p::Pair) = p.second
getindex(p::Pair, i::Int64) = data.getfield(p, i)
@inline __destructure(p::Pair, k::Int64) = data.getfield(p, k)
