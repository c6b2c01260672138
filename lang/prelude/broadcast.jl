# Broadcasting: `f.(a, b)` and `x .= f.(a, b)`, each one loop.
#
# Numbers, refs, symbols, functions and whatever is no collection stand for themselves at every
# element. If all arrays have the shape of the result, the loop counts through them; otherwise it
# goes through rows and columns, and a dimension of length 1 stays at its only element.

# The rank of an argument: -1 for tuples, 0 for what stands for itself.
@inline __rank_of(x) = 0
@inline __rank_of(a::AbstractArray{T, N}) where {T, N} = N
@inline __rank_of(t::Tuple) = -1
@inline __rank_of(it::__Iterator) = 1
@inline __higher(r, x) = __higher_of(r, __rank_of(x))
@inline __higher_of(r, s) = r == 0 ? s : s == 0 ? r : r > s ? r : s

# What an argument is within the loop.
@inline __leaf(x) = x
@inline __leaf(r::Ref) = __Scalar(mem.ref_get(r))
@inline __leaf(a::AbstractArray{T, 0}) where T = __Scalar(a[])
@inline __leaf(it::__Iterator) = collect(it)
struct __Scalar{T}
    x::T
end
# The element at a count from 0, of what has the shape of the result.
@inline __pick(x, k) = x
@inline __pick(s::__Scalar, k) = s.x
@inline __pick(a::Array, k) = @inbounds mem.load(a, k + 1)
@inline __pick(a::AbstractArray, k) = __item(a, k)
@inline __pick(t::Tuple, k) = data.fieldcount(t) == 1 ? data.getfield(t, 1) : data.getfield(t, k + 1)
struct __PickAt
    k::Int64
end
@inline (p::__PickAt)(x) = __pick(x, p.k)

@inline function __broadcast(f, args...)
    rank = __unroll_fold(__higher, 0, args)
    if rank == 0
        return f(__unroll_map(__scalar, args)...)
    elseif rank == -1
        return __ntuple(__TupleAt(f, args), __val(__unroll_fold(__tuple_length, 1, args)))
    end
    return __broadcast_array(f, __unroll_map(__leaf, args))
end
@inline __scalar(x) = x
@inline __scalar(r::Ref) = mem.ref_get(r)
@inline __scalar(a::AbstractArray{T, 0}) where T = a[]
struct __TupleAt{F, A}
    f::F
    args::A
end
@inline (t::__TupleAt)(k) = t.f(__unroll_map(__PickOf(k), t.args)...)
struct __PickOf
    k::Int64
end
@inline (p::__PickOf)(x) = x
@inline (p::__PickOf)(r::Ref) = mem.ref_get(r)
@inline (p::__PickOf)(t::Tuple) = data.fieldcount(t) == 1 ? data.getfield(t, 1) : data.getfield(t, p.k)
@inline __tuple_length(n, x) = n
@inline __tuple_length(n, t::Tuple) = data.fieldcount(t) == 1 ? n : data.fieldcount(t)

function __broadcast_array(f, args)
    dims = __unroll_fold(__join_dims, (), args)
    T = __return_type(f, __unroll_map(__leaf_type, args)...)
    if T === Any
        out = __alloc(Any, dims)
        __broadcast_into!(f, out, args)
        return __narrow(out)
    end
    out = __alloc(T, dims)
    __broadcast_into!(f, out, args)
    return out
end
@inline __leaf_type(x) = typeof(x)
@inline __leaf_type(a::AbstractArray) = eltype(a)
@inline __leaf_type(s::__Scalar) = typeof(s.x)
@inline __leaf_type(t::Tuple) = eltype(t)

@inline __dims_of(x) = ()
@inline __dims_of(a::AbstractArray) = size(a)
@inline __dims_of(t::Tuple) = (data.fieldcount(t),)
@inline __join_dims(dims, x) = __join_two(dims, __dims_of(x))
@inline __join_two(s::Tuple{}, t::Tuple{}) = ()
@inline __join_two(s::Tuple{}, t::Tuple) = t
@inline __join_two(s::Tuple, t::Tuple{}) = s
@inline __join_two(s::Tuple, t::Tuple) = (__join_dim(s[1], t[1]), __join_two(tail(s), tail(t))...)
@inline function __join_dim(m, n)
    (m == n) | (m == 1) | (n == 1) || __no_common_size(m, n)
    return ifelse(m == 1, n, m)
end
__no_common_size(m, n) = throw(DimensionMismatch(string("arrays could not be broadcast to a common size; got a dimension with lengths ", m, " and ", n)))

# What `x[i] .= …` writes to: a part of an array, or an element that is an array itself.
@inline __dotview(x, is...) = getindex(x, is...)
@inline __dotview(a::AbstractArray, is...) = view(a, is...)
@inline __dotview(a::AbstractArray, is::Number...) = getindex(a, is...)
@inline function __broadcast!(f, dest, args...)
    __broadcast_into!(f, dest, __unroll_map(__Source(dest), args))
    return dest
end
struct __Source{D}
    dest::D
end
@inline (s::__Source)(x) = __unalias(s.dest, __leaf(x))
function __broadcast!(f, dest::Ref, args...)
    mem.ref_set(dest, f(__unroll_map(__scalar, args)...))
    return dest
end
function __broadcast!(f, dest::AbstractArray{T, 0}, args...) where T
    __unroll_fold(__check_fit, (), args)
    dest[] = f(__unroll_map(__scalar, args)...)
    return dest
end
# One loop over all of it if every argument has the shape of the destination.
function __broadcast_into!(f, dest::Array{T, N}, args) where {T, N}
    if __unroll_fold(__SameShape(size(dest)), true, args)
        n = mem.length(dest)
        k = 0
        while k < n
            item = convert(T, f(__unroll_map(__PickAt(k), args)...))
            @inbounds mem.store(dest, item, k + 1)
            k += 1
        end
        return dest
    end
    return __broadcast_expanded!(f, dest, args)
end
__broadcast_into!(f, dest, args) = __broadcast_expanded!(f, dest, args)
struct __SameShape{D}
    dims::D
end
@inline (s::__SameShape)(all, x) = all
@inline (s::__SameShape)(all, t::Tuple) = all & ((data.fieldcount(t),) === s.dims)
@inline (s::__SameShape)(all, a::AbstractArray) = all & __linear_like(a) & (size(a) === s.dims)
# Whether a count finds elements as fast as rows and columns do.
__linear_like(a::AbstractArray) = false
__linear_like(a::AbstractVector) = true
__linear_like(a::Array) = true
__linear_like(a::Array{T, 1}) where T = true
__linear_like(a::ReshapedArray{T, 2}) where T = true

@inline function __check_fit(dims, x)
    __fits(dims, __dims_of(x)) || __does_not_fit(dims, __dims_of(x))
    return dims
end
@inline __fits(dims::Tuple, of::Tuple{}) = true
@inline __fits(dims::Tuple{}, of::Tuple{}) = true
@inline __fits(dims::Tuple{}, of::Tuple) = false
@inline __fits(dims::Tuple, of::Tuple) = ((dims[1] == of[1]) | (of[1] == 1)) & __fits(tail(dims), tail(of))
function __does_not_fit(dims, of)
    __join_two(dims, of)
    throw(DimensionMismatch(string("cannot broadcast array to have fewer dimensions or elements: the destination has size ", dims, ", an argument ", of)))
end
# The element at row `i` and column `j` (from 1).
@inline __pick2(x, i, j) = x
@inline __pick2(s::__Scalar, i, j) = s.x
@inline __pick2(t::Tuple, i, j) = data.fieldcount(t) == 1 ? data.getfield(t, 1) : data.getfield(t, i)
@inline __pick2(a::AbstractVector, i, j) = a[ifelse(length(a) == 1, 1, i)]
@inline __pick2(a::AbstractMatrix, i, j) = a[ifelse(size(a, 1) == 1, 1, i), ifelse(size(a, 2) == 1, 1, j)]
struct __Pick2At
    i::Int64
    j::Int64
end
@inline (p::__Pick2At)(x) = __pick2(x, p.i, p.j)
function __broadcast_expanded!(f, dest::AbstractVector, args)
    __unroll_fold(__check_fit, size(dest), args)
    for i in 1:length(dest)
        dest[i] = f(__unroll_map(__Pick2At(i, 1), args)...)
    end
    return dest
end
function __broadcast_expanded!(f, dest::AbstractMatrix, args)
    __unroll_fold(__check_fit, size(dest), args)
    for j in 1:size(dest, 2)
        for i in 1:size(dest, 1)
            dest[i, j] = f(__unroll_map(__Pick2At(i, j), args)...)
        end
    end
    return dest
end

broadcast(f, args...) = __broadcast(f, args...)
broadcast!(f, dest, args...) = __broadcast!(f, dest, args...)
# Ranges stay ranges when a number is added.
__broadcast(::typeof(+), r::AbstractUnitRange{Int64}, n::Int64) = r + n
__broadcast(::typeof(+), n::Int64, r::AbstractUnitRange{Int64}) = r + n
__broadcast(::typeof(-), r::AbstractUnitRange{Int64}, n::Int64) = r + (-n)
__broadcast(::typeof(*), r::AbstractUnitRange{Int64}, n::Int64) = first(r)*n:n:last(r)*n
__broadcast(::typeof(*), n::Int64, r::AbstractUnitRange{Int64}) = first(r)*n:n:last(r)*n
# What dots stand for in Julia, for those who name it: nothing is put off here.
broadcasted(f, args...) = broadcast(f, args...)
materialize(x) = x
