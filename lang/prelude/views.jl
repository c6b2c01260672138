# Arrays that show the elements of others: slices, transposes, triangles. Writing to one writes to
# the array behind it.

struct SubArray{T, N, P, I} <: AbstractArray{T, N}
    parent::P
    indices::I
end
view(a::AbstractArray, i::__Index) = __view(vec(a), (__view_index(i, length(a)),))
view(a::AbstractMatrix, i::__Index, j::__Index) = __view(a, (__view_index(i, size(a, 1)), __view_index(j, size(a, 2))))
@inline __view(a, is) = SubArray{eltype(a), __unroll_fold(__add_rank, 0, is), typeof(a), typeof(is)}(a, is)
@inline __add_rank(n, i::Integer) = n
@inline __add_rank(n, i) = n + 1
function __view_index(i::AbstractArray, n)
    r = __indices(i, n)
    for k in r
        1 <= k <= n || __out_of_bounds(1:n, k)
    end
    return r
end
function __view_index(r::AbstractRange, n)
    if !isempty(r) && !(1 <= first(r) <= n && 1 <= last(r) <= n)
        __out_of_bounds(1:n, r)
    end
    return r
end
__view_index(i::Integer, n) = 1 <= i <= n ? Int64(i) : __out_of_bounds(1:n, i)
__view_index(::Colon, n) = OneTo{Int64}(n)

parent(v::SubArray) = v.parent
SubArray(a::AbstractArray, indices::Tuple) = view(a, indices...)
@inline size(v::SubArray) = __view_size(v.indices)
__view_size(is::Tuple{AbstractArray}) = (length(is[1]),)
__view_size(is::Tuple{Int64}) = ()
__view_size(is::Tuple{AbstractArray, Int64}) = (length(is[1]),)
__view_size(is::Tuple{Int64, AbstractArray}) = (length(is[2]),)
__view_size(is::Tuple{AbstractArray, AbstractArray}) = (length(is[1]), length(is[2]))
__view_size(is::Tuple{Int64, Int64}) = ()
@inline length(v::SubArray{T, 1}) where T = size(v)[1]
# Where the elements are in the array behind it; `k` counts from 0 and is not checked.
@inline __into(is::Tuple{AbstractArray}, k) = (__at(is[1], k),)
@inline __into(is::Tuple{AbstractArray, Int64}, k) = (__at(is[1], k), is[2])
@inline __into(is::Tuple{Int64, AbstractArray}, k) = (is[1], __at(is[2], k))
@inline __into(is::Tuple{AbstractArray, AbstractArray}, k, l) = (__at(is[1], k), __at(is[2], l))
@inline __at(a::AbstractArray, k) = a[k + 1]
@inline function getindex(v::SubArray{T, 1}, i::Int64) where T
    __check_index(v, i, length(v))
    return v.parent[__into(v.indices, i - 1)...]
end
@inline function getindex(v::SubArray{T, 2, P, Tuple{I, J}}, i::Int64, j::Int64) where {T, P, I, J}
    __check_index(v, i, length(v.indices[1]))
    __check_index(v, j, length(v.indices[2]))
    return v.parent[__into(v.indices, i - 1, j - 1)...]
end
@inline getindex(v::SubArray{T, 0}) where T = v.parent[v.indices...]
@inline function setindex!(v::SubArray{T, 1}, x, i::Int64) where T
    __check_index(v, i, length(v))
    setindex!(v.parent, x, __into(v.indices, i - 1)...)
    return v
end
@inline function setindex!(v::SubArray{T, 2, P, Tuple{I, J}}, x, i::Int64, j::Int64) where {T, P, I, J}
    __check_index(v, i, length(v.indices[1]))
    __check_index(v, j, length(v.indices[2]))
    setindex!(v.parent, x, __into(v.indices, i - 1, j - 1)...)
    return v
end
@inline function setindex!(v::SubArray{T, 0}, x) where T
    setindex!(v.parent, x, v.indices...)
    return v
end

# --- transposes -----------------------------------------------------------------------------

struct Adjoint{T, P} <: AbstractMatrix{T}
    parent::P
end
struct Transpose{T, P} <: AbstractMatrix{T}
    parent::P
end
const __Turned = Union{Adjoint, Transpose}
# The conjugate is a copy.
adjoint(a::AbstractArray) = eltype(a) <: Complex ? transpose(conj(a)) : Adjoint{eltype(a), typeof(a)}(a)
transpose(a::AbstractArray) = Transpose{eltype(a), typeof(a)}(a)
adjoint(a::__Turned) = eltype(a) <: Complex ? conj(a.parent) : a.parent
transpose(a::__Turned) = a.parent
parent(a::__Turned) = a.parent
@inline size(a::__Turned) = __turned_size(a.parent)
__turned_size(a::AbstractVector) = (1, length(a))
__turned_size(a::AbstractMatrix) = (size(a, 2), size(a, 1))
@inline length(a::__Turned) = length(a.parent)
@inline getindex(a::__Turned, i::Int64, j::Int64) = __turned_get(a.parent, i, j)
@inline setindex!(a::__Turned, x, i::Int64, j::Int64) = (__turned_set(a.parent, x, i, j); a)
@inline __turned_get(a::AbstractMatrix, i, j) = a[j, i]
@inline __turned_set(a::AbstractMatrix, x, i, j) = setindex!(a, x, j, i)
@inline function __turned_get(a::AbstractVector, i, j)
    __check_index(a, i, 1)
    return a[j]
end
@inline function __turned_set(a::AbstractVector, x, i, j)
    __check_index(a, i, 1)
    setindex!(a, x, j)
end
@inline getindex(a::__Turned, i::Int64) = __turned_linear(a, a.parent, i)
__turned_linear(a, p::AbstractVector, i) = p[i]
__turned_linear(a, p, i) = a[mod1(i, size(a, 1)), fld1(i, size(a, 1))]

# --- triangles and other parts of a matrix ---------------------------------------------------

struct UpperTriangular{T, P} <: AbstractMatrix{T}
    data::P
end
struct LowerTriangular{T, P} <: AbstractMatrix{T}
    data::P
end
struct Diagonal{T, V} <: AbstractMatrix{T}
    diag::V
end
UpperTriangular(a::AbstractMatrix) = UpperTriangular{eltype(a), typeof(a)}(a)
LowerTriangular(a::AbstractMatrix) = LowerTriangular{eltype(a), typeof(a)}(a)
Diagonal(v::AbstractVector) = Diagonal{eltype(v), typeof(v)}(v)
Diagonal(a::AbstractMatrix) = Diagonal(diag(a))
size(a::Union{UpperTriangular, LowerTriangular}) = size(a.data)
size(a::Diagonal) = (length(a.diag), length(a.diag))
getindex(a::UpperTriangular{T}, i::Int64, j::Int64) where T = i <= j ? a.data[i, j] : zero(T)
getindex(a::LowerTriangular{T}, i::Int64, j::Int64) where T = i >= j ? a.data[i, j] : zero(T)
function getindex(a::Diagonal{T}, i::Int64, j::Int64) where T
    __check_index(a, j, length(a.diag))
    return i == j ? a.diag[i] : zero(T)
end
function setindex!(a::UpperTriangular, x, i::Int64, j::Int64)
    i <= j || iszero(x) || throw(ArgumentError(string("cannot set index in the lower triangular part (", i, ", ", j, ") of an UpperTriangular matrix to a nonzero value (", x, ")")))
    i <= j && setindex!(a.data, x, i, j)
    return a
end
function setindex!(a::LowerTriangular, x, i::Int64, j::Int64)
    i >= j || iszero(x) || throw(ArgumentError(string("cannot set index in the upper triangular part (", i, ", ", j, ") of a LowerTriangular matrix to a nonzero value (", x, ")")))
    i >= j && setindex!(a.data, x, i, j)
    return a
end
adjoint(a::UpperTriangular) = LowerTriangular(adjoint(a.data))
adjoint(a::LowerTriangular) = UpperTriangular(adjoint(a.data))
adjoint(a::Diagonal) = Diagonal(conj(a.diag))
transpose(a::UpperTriangular) = LowerTriangular(transpose(a.data))
transpose(a::LowerTriangular) = UpperTriangular(transpose(a.data))
transpose(a::Diagonal) = a
conj(a::Diagonal{<:Complex}) = Diagonal(conj(a.diag))

# A matrix that is no array by one index: columns first.
@inline getindex(a::AbstractMatrix, i::Int64) = a[mod1(i, size(a, 1)), fld1(i, size(a, 1))]
@inline setindex!(a::AbstractMatrix, x, i::Int64) = setindex!(a, x, mod1(i, size(a, 1)), fld1(i, size(a, 1)))

# What a destination may share elements with is copied before it is written to.
const __Window = Union{SubArray, Adjoint, Transpose, ReshapedArray}
__unalias(dest, x::__Window) = __root(dest) === __root(x) ? collect(x) : x
__unalias(dest::__Window, x::Array) = __root(dest) === x ? copy(x) : x
__root(a) = a
__root(a::__Window) = __root(a.parent)

