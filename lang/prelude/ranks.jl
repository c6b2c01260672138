# Arrays of any rank: indices of several numbers, slices, permutations, repetition, joining.

# The numbers from 1 of the element at a count from 0, of an array with these dimensions.
@inline __cartesian(dims, p) = __unroll_fold(__add_index, ((), p), dims)[1]
@inline __add_index(state, n) = ((state[1]..., rem(state[2], n) + 1), div(state[2], n))
# The count from 0 of the element with these numbers.
@inline __position(dims, at) = __unroll_fold(__add_place, (0, 1), __unroll_map(tuple, dims, at))[1]
@inline __add_place(state, entry) = (state[1] + (entry[2] - 1) * state[2], state[2] * entry[1])
__check_all(dims, at, a) = __unroll_fold(__and_within, true, __unroll_map(tuple, dims, at)) ? nothing : __out_of_bounds(a, at)
@inline __and_within(all, entry) = all & (1 <= entry[2] <= entry[1])

# --- indices --------------------------------------------------------------------------------

struct CartesianIndex{N}
    I::NTuple{N, Int64}
end
CartesianIndex(is::Integer...) = CartesianIndex{length(is)}(__unroll_map(Int64, is))
CartesianIndex(is::Tuple) = CartesianIndex{length(is)}(__unroll_map(Int64, is))
Tuple(c::CartesianIndex) = c.I
length(c::CartesianIndex) = length(c.I)
getindex(c::CartesianIndex, k::Int64) = c.I[k]
+(c::CartesianIndex, d::CartesianIndex) = CartesianIndex(c.I .+ d.I)
-(c::CartesianIndex, d::CartesianIndex) = CartesianIndex(c.I .- d.I)
*(n::Integer, c::CartesianIndex) = CartesianIndex(n .* c.I)
isless(c::CartesianIndex, d::CartesianIndex) = isless(reverse(c.I), reverse(d.I))
@inline getindex(a::AbstractArray, c::CartesianIndex) = a[c.I...]
@inline setindex!(a::AbstractArray, x, c::CartesianIndex) = (setindex!(a, x, c.I...); a)
@inline setindex!(a::AbstractArray, x, c::CartesianIndex, i::Int64, more::Int64...) = (setindex!(a, x, c.I..., i, more...); a)
@inline getindex(a::AbstractArray, c::CartesianIndex, i::Int64, more::Int64...) = a[c.I..., i, more...]
@inline getindex(a::AbstractArray, i::Int64, c::CartesianIndex) = a[i, c.I...]
struct CartesianIndices{N, R} <: AbstractArray{CartesianIndex{N}, N}
    indices::R
end
CartesianIndices(a::AbstractArray) = CartesianIndices(axes(a))
CartesianIndices(dims::Tuple) = __cartesian_indices(__unroll_map(__as_range, dims))
__cartesian_indices(ranges) = CartesianIndices{length(ranges), typeof(ranges)}(ranges)
__as_range(n::Integer) = OneTo{Int64}(n)
__as_range(r) = r
size(c::CartesianIndices) = __unroll_map(length, c.indices)
@inline getindex(c::CartesianIndices, i::Int64) = __index_number(c, i)
@inline getindex(c::CartesianIndices{2}, i::Int64) = __index_number(c, i)
@inline __index_number(c, i) = CartesianIndex(__unroll_map(getindex, c.indices, __cartesian(size(c), i - 1)))
@inline getindex(c::CartesianIndices{2}, i::Int64, j::Int64) = CartesianIndex(__unroll_map(getindex, c.indices, (i, j)))
@inline getindex(c::CartesianIndices, is::Int64...) = CartesianIndex(__unroll_map(getindex, c.indices, is))

# --- what is there -----------------------------------------------------------------------

checkbounds(::Type{Bool}, a, i::Int64, j::Int64, more::Int64...) = __is_inside(a, (i, j, more...))
checkbounds(::Type{Bool}, a, i::CartesianIndex) = __is_inside(a, i.I)
checkbounds(a, i::Int64, j::Int64, more::Int64...) = __is_inside(a, (i, j, more...)) ? nothing : __out_of_bounds(a, (i, j, more...))
__is_inside(a, is) = ndims(a) == length(is) && all(map((i, n) -> 1 <= i <= n, is, size(a)))
isassigned(a::AbstractArray, is::Integer...) = checkbounds(Bool, a, is...)
isassigned(a::AbstractArray, i::CartesianIndex) = isassigned(a, Tuple(i)...)
isassigned(a::Array{T, N}, is::Integer...) where {T, N} =
    checkbounds(Bool, a, is...) && (T <: __Num || __has_element(a, is))
function __has_element(a, is)
    try
        a[is...]
        return true
    catch e
        e isa UndefRefError || rethrow()
        return false
    end
end

# --- elements of views ----------------------------------------------------------------------

view(a::AbstractArray, i::__Index, j::__Index, k::__Index, more::__Index...) = __view_all(a, (i, j, k, more...))
function __view_all(a, is)
    data.fieldcount(is) == ndims(a) || __out_of_bounds(a, is)
    return __view(a, __unroll_map(__view_index, is, size(a)))
end
__view_size(is::Tuple) = __unroll_fold(__add_length_of, (), is)
@inline __into(is::Tuple, ks...) = __into_all(is, ks)
@inline __into_all(is::Tuple{}, ks) = ()
@inline __into_all(is::Tuple, ks) = __into_next(is[1], tail(is), ks)
@inline __into_next(i::Integer, rest, ks) = (i, __into_all(rest, ks)...)
@inline __into_next(list, rest, ks) = (__at(list, ks[1]), __into_all(rest, tail(ks))...)
@inline getindex(v::SubArray{T, 2}, i::Int64) where T = v.parent[__place_in_view(v, (i,))...]
@inline getindex(v::SubArray{T, 2}, i::Int64, j::Int64) where T = v.parent[__place_in_view(v, (i, j))...]
@inline getindex(v::SubArray{T, N}, is::Vararg{Int64}) where {T, N} = v.parent[__place_in_view(v, is)...]
@inline setindex!(v::SubArray{T, 2}, x, i::Int64, j::Int64) where T = (setindex!(v.parent, x, __place_in_view(v, (i, j))...); v)
@inline setindex!(v::SubArray{T, N}, x, is::Vararg{Int64}) where {T, N} = (setindex!(v.parent, x, __place_in_view(v, is)...); v)
@inline function __place_in_view(v, is)
    dims = size(v)
    data.fieldcount(is) == 1 && return __into_all(v.indices, __cartesian(dims, is[1] - 1) .- 1)
    __check_all(dims, is, v)
    return __into_all(v.indices, is .- 1)
end
@inline function getindex(a::ReshapedArray{T, N}, is::Vararg{Int64}) where {T, N}
    __check_all(a.dims, is, a)
    return a.parent[__position(a.dims, is) + 1]
end
@inline function setindex!(a::ReshapedArray{T, N}, x, is::Vararg{Int64}) where {T, N}
    __check_all(a.dims, is, a)
    setindex!(a.parent, x, __position(a.dims, is) + 1)
    return a
end
getindex(a::ReshapedArray{T, 0}) where T = a.parent[1]
setindex!(a::ReshapedArray{T, 0}, x) where T = (setindex!(a.parent, x, 1); a)
fill(x) = reshape([x], ())
only(x::Number) = x
function only(it)
    n = 0
    for x in it
        n += 1
        n > 1 && break
    end
    n == 1 || throw(ArgumentError(n == 0 ? "Collection is empty, must contain exactly 1 element" : "Collection has multiple elements, must contain exactly 1 element"))
    return first(it)
end
function diagind(a::AbstractMatrix, k::Integer = 0)
    m, n = size(a)
    count = k >= 0 ? min(m, n - k) : min(m + k, n)
    first = k >= 0 ? 1 + k * m : 1 - k
    return first:m + 1:first + (count - 1) * (m + 1)
end

# --- slices ---------------------------------------------------------------------------------

eachslice(a::AbstractArray; dims) = __each_slice(a, __val(__only_dim(dims)))
__only_dim(d::Integer) = d
__only_dim(d::Tuple{Integer}) = d[1]
__each_slice(a, d) = Generator(i -> __slice(a, d, i), OneTo{Int64}(__length_of(a, d)))
__length_of(a, ::Val{D}) where D = size(a, D)
__slice(a::AbstractArray{T, N}, ::Val{D}, i) where {T, N, D} = view(a, __ntuple(k -> k == D ? i : (:), __val(N))...)
selectdim(a::AbstractArray, d::Integer, i) = __slice(a, __val(d), i)
# The results of the slices along a dimension, in their places.
mapslices(f, a::AbstractArray; dims) = __map_slices(f, a, __val(__only_dim(dims)))
function __map_slices(f, a::AbstractArray{T, N}, ::Val{D}) where {T, N, D}
    sizes = size(a)
    before, after = __around(sizes, D)
    n = sizes[D]
    column = (p, q) -> [a[p + before * (j + n * q)] for j in 0:n-1]
    parts = [__as_vector(f(column(p, q))) for p in 1:before, q in 0:after-1]
    m = length(parts[1])
    dims = __ntuple(k -> k == D ? m : sizes[k], __val(N))
    out = __alloc(eltype(parts[1]), dims)
    for q in 0:after-1, p in 1:before, j in 0:m-1
        out[p + before * (j + m * q)] = parts[p, q + 1][j + 1]
    end
    return out
end
__as_vector(x) = [x]
__as_vector(v::AbstractArray) = vec(v)
# Arrays of one size beside each other, along a new dimension.
stack(it; dims = :) = __stacked(collect(it), dims)
stack(f, it; dims = :) = __stacked(map(f, it), dims)
function __stacked(xs, ::Colon)
    sizes = size(xs[1])
    n = length(xs[1])
    out = __alloc(eltype(xs[1]), (sizes..., length(xs)))
    for k in 1:length(xs)
        size(xs[k]) == sizes || throw(DimensionMismatch("all slices must have the same size"))
        for j in 1:n
            out[j + (k - 1) * n] = xs[k][j]
        end
    end
    return out
end
__stacked(xs, d::Integer) = d == ndims(xs[1]) + 1 ? __stacked(xs, :) : permutedims(__stacked(xs, :), __with_last_at(ndims(xs[1]) + 1, d))
__with_last_at(n, d) = [k < d ? k : k == d ? n : k - 1 for k in 1:n]

# --- permutations, shifts, repetition -------------------------------------------------------

permutedims(a::AbstractArray, p::AbstractVector) = __permuted(a, p)
permutedims(a::AbstractArray, p::Tuple) = __permuted(a, p)
function __check_permutation(p, n)
    length(p) == n && all(k -> k in p, 1:n) || throw(ArgumentError("no valid permutation of dimensions"))
    return nothing
end
function __permuted(a::AbstractArray{T, N}, p) where {T, N}
    __check_permutation(p, N)
    sizes = size(a)
    dims = __ntuple(k -> sizes[p[k]], __val(N))
    steps = __permuted_steps(sizes, p, __val(N))
    out = __alloc(T, dims)
    for k in 0:length(a)-1
        out[k + 1] = a[__permuted_position(k, dims, steps) + 1]
    end
    return out
end
# How far apart neighbours along each dimension of the result are in the array.
__permuted_steps(sizes, p, n) = __ntuple(k -> __step_of(sizes, p[k]), n)
function __step_of(sizes, d)
    step = 1
    for k in 1:d-1
        step *= sizes[k]
    end
    return step
end
@inline __permuted_position(k, dims, steps) = __unroll_fold(__add_step, (0, k), __unroll_map(tuple, dims, steps))[1]
@inline __add_step(state, entry) = (state[1] + rem(state[2], entry[1]) * entry[2], div(state[2], entry[1]))
struct PermutedDimsArray{T, N, P, D} <: AbstractArray{T, N}
    parent::P
    dims::D
    steps::D
end
function PermutedDimsArray(a::AbstractArray{T, N}, p) where {T, N}
    __check_permutation(p, N)
    sizes = size(a)
    dims = __ntuple(k -> sizes[p[k]], __val(N))
    return PermutedDimsArray{T, N, typeof(a), typeof(dims)}(a, dims, __permuted_steps(sizes, p, __val(N)))
end
parent(a::PermutedDimsArray) = a.parent
size(a::PermutedDimsArray) = a.dims
@inline getindex(a::PermutedDimsArray, i::Int64) = a.parent[__permuted_position(i - 1, a.dims, a.steps) + 1]
@inline getindex(a::PermutedDimsArray{T, 2}, i::Int64) where T = a.parent[__permuted_position(i - 1, a.dims, a.steps) + 1]
@inline getindex(a::PermutedDimsArray{T, 2}, i::Int64, j::Int64) where T = a.parent[__place_permuted(a, (i, j))]
@inline getindex(a::PermutedDimsArray, is::Int64...) = a.parent[__place_permuted(a, is)]
@inline function __place_permuted(a, is)
    __check_all(a.dims, is, a)
    return __permuted_position(__position(a.dims, is), a.dims, a.steps) + 1
end
@inline setindex!(a::PermutedDimsArray, x, i::Int64) = (setindex!(a.parent, x, __permuted_position(i - 1, a.dims, a.steps) + 1); a)
@inline setindex!(a::PermutedDimsArray{T, 2}, x, i::Int64) where T = (setindex!(a.parent, x, __permuted_position(i - 1, a.dims, a.steps) + 1); a)
@inline setindex!(a::PermutedDimsArray{T, 2}, x, i::Int64, j::Int64) where T = (setindex!(a.parent, x, __place_permuted(a, (i, j))); a)
@inline setindex!(a::PermutedDimsArray, x, is::Int64...) = (setindex!(a.parent, x, __place_permuted(a, is)); a)
__shown(c::CartesianIndices) = string("CartesianIndices(", __unroll_map(r -> r isa OneTo ? r.stop : r, c.indices), ")")
circshift(a::AbstractVector, by::Tuple) = circshift(a, by[1])
circshift(a::AbstractArray, by::Integer; dims::Integer = 1) = __shift_along(a, by, dims)
function circshift(a::AbstractArray, by::Union{Tuple, AbstractVector})
    out = collect(a)
    for d in 1:length(by)
        out = __shift_along(out, by[d], d)
    end
    return out
end
function __shift_along(a, by, d)
    sizes = size(a)
    n = sizes[d]
    before, after = __around(sizes, d)
    out = __alloc(eltype(a), sizes)
    for q in 0:after-1, j in 0:n-1, p in 1:before
        out[p + before * (mod(j + by, n) + n * q)] = a[p + before * (j + n * q)]
    end
    return out
end
function reverse(a::AbstractVector, start::Integer, stop::Integer = length(a))
    out = collect(a)
    for k in start:stop
        out[k] = a[start + stop - k]
    end
    return out
end
repeat(a::AbstractArray; inner = 1, outer = 1) = __repeated(a, __counts(inner), __counts(outer))
repeat(a::AbstractArray, counts::Integer...) = __repeated(a, (1,), counts)
__counts(n::Integer) = (n,)
__counts(n) = Tuple(n)
function __repeated(a::AbstractArray{T, N}, inner, outer) where {T, N}
    rank = __val(__most(N, __most(length(inner), length(outer))))
    sizes = __ntuple(k -> size(a, k), rank)
    each = __ntuple(k -> k <= length(inner) ? inner[k] : 1, rank)
    dims = __ntuple(k -> sizes[k] * each[k] * (k <= length(outer) ? outer[k] : 1), rank)
    out = __alloc(T, dims)
    for p in 0:length(out)-1
        at = __cartesian(dims, p)
        from = __ntuple(k -> mod1(cld(at[k], each[k]), sizes[k]), rank)
        out[p + 1] = a[__position(sizes, from) + 1]
    end
    return out
end

# --- joining --------------------------------------------------------------------------------

cat(xs...; dims) = __cat_along(__as_val(dims), xs)
# Along several dimensions: the arrays stand on the diagonal of the result, which is zero elsewhere.
function __cat_along(dims::Tuple, xs)
    rank = __val(__unroll_fold(__most, max(dims...), __unroll_map(__rank, xs)))
    T = __unroll_fold(__join_eltypes, nothing, xs)
    sizes = __ntuple(k -> k in dims ? __unroll_fold(__LengthAlong(k), 0, xs) : __size_of(xs[1], k), rank)
    out = zeros(T, sizes)
    from = __ntuple(k -> 0, rank)
    for x in xs
        at = __ntuple(k -> from[k]+1:from[k]+__size_of(x, k), rank)
        out[at...] = x isa AbstractArray ? x : fill(x, __ntuple(k -> 1, rank))
        from = __ntuple(k -> k in dims ? from[k] + __size_of(x, k) : from[k], rank)
    end
    return out
end
@inline __ncat(dim, xs...) = __cat_along(__val(dim), xs)
__as_val(d::Integer) = __val(d)
__as_val(v::Val) = v
__as_val(dims::Tuple{Integer}) = __val(dims[1])
__as_val(dims::Tuple) = dims
function __cat_along(::Val{D}, xs) where D
    rank = __val(__unroll_fold(__most, D, __unroll_map(__rank, xs)))
    T = __unroll_fold(__join_eltypes, nothing, xs)
    n = __unroll_fold(__LengthAlong(D), 0, xs)
    dims = __ntuple(k -> k == D ? n : __size_of(xs[1], k), rank)
    out = __alloc(T, dims)
    __unroll_fold(__PutAlong(out, D, n), 0, xs)
    return out
end
@inline __size_of(x, k) = 1
@inline __size_of(a::AbstractArray, k) = size(a, k)
struct __LengthAlong
    d::Int64
end
(l::__LengthAlong)(n, x) = n + __size_of(x, l.d)
struct __PutAlong{A}
    out::A
    d::Int64
    n::Int64
end
function (p::__PutAlong)(at, x)
    before, after = __around(size(p.out), p.d)
    m = __size_of(x, p.d)
    __elements_of(x) == before * m * after || throw(DimensionMismatch("the sizes of what is joined do not match"))
    for r in 0:after-1, j in 0:m-1, q in 1:before
        p.out[q + before * (at + j + p.n * r)] = __nth(x, q + before * (j + m * r))
    end
    return at + m
end
__elements_of(x) = 1
__elements_of(a::AbstractArray) = length(a)
__nth(x, i) = x
__nth(a::AbstractArray, i) = a[i]
kron(a::AbstractArray, b::AbstractArray, c::AbstractArray, more...) = kron(kron(a, b), c, more...)

# --- broadcasting ---------------------------------------------------------------------------

struct __PickAll{I}
    at::I
end
@inline (p::__PickAll)(x) = __pick_all(x, p.at)
@inline __pick_all(x, at) = __pick2(x, at[1], 1)
@inline __pick_all(a::AbstractArray{T, N}, at) where {T, N} = a[__position(size(a), __ntuple(k -> size(a, k) == 1 ? 1 : at[k], __val(N))) + 1]
function __broadcast_expanded!(f, dest::AbstractArray, args)
    dims = size(dest)
    __unroll_fold(__check_fit, dims, args)
    for p in 0:length(dest)-1
        dest[p + 1] = f(__unroll_map(__PickAll(__cartesian(dims, p)), args)...)
    end
    return dest
end

# --- turned and replaced --------------------------------------------------------------------

replace(a::AbstractArray, pairs::Pair...) = map(x -> __replaced(x, pairs...), a)
replace!(a::AbstractArray, pairs::Pair...) = copyto!(a, replace(a, pairs...))
__replaced(x) = x
__replaced(x, p::Pair, more...) = isequal(x, p.first) ? p.second : __replaced(x, more...)
strides(a::Array) = cumprod((1, size(a)...))[1:end-1]
stride(a::Array, k) = k > ndims(a) ? length(a) : strides(a)[k]
rotl90(a::AbstractMatrix) = permutedims(a)[end:-1:1, :]
rotr90(a::AbstractMatrix) = permutedims(a)[:, end:-1:1]
rot180(a::AbstractMatrix) = a[end:-1:1, end:-1:1]

# --- facts of arrays --------------------------------------------------------------------------

get(a::AbstractArray, i::Integer, default) = 1 <= i <= length(a) ? a[i] : default
get(f::Function, a::AbstractArray, i::Integer) = 1 <= i <= length(a) ? a[i] : f()
keytype(a::AbstractVector) = Int64
keytype(a::AbstractArray{T, N}) where {T, N} = CartesianIndex{N}
valtype(a::AbstractArray) = eltype(a)
sizeof(a::Array) = length(a) * sizeof(eltype(a))
parent(a::Array) = a
parentindices(a::AbstractArray) = axes(a)
nextind(a::AbstractArray, i::Int64) = i + 1
prevind(a::AbstractArray, i::Int64) = i - 1
nextind(a::AbstractArray, c::CartesianIndex) = __moved_index(a, c, 1)
prevind(a::AbstractArray, c::CartesianIndex) = __moved_index(a, c, -1)
__moved_index(a, c, by) = CartesianIndex(__cartesian(size(a), __position(size(a), c.I) + by))
reverseind(a::AbstractVector, i::Integer) = length(a) + 1 - i
pairs(a::AbstractArray) = Generator(i -> i => a[i], CartesianIndices(a))
function promote_shape(a::AbstractArray, b::AbstractArray)
    n = max(ndims(a), ndims(b))
    all(k -> size(a, k) == size(b, k), 1:n) ||
        throw(DimensionMismatch(string("a has size ", size(a), ", b has size ", size(b), ", mismatch")))
    return ndims(a) >= ndims(b) ? axes(a) : axes(b)
end
abstract type IndexStyle end
struct IndexLinear <: IndexStyle end
struct IndexCartesian <: IndexStyle end
(::Type{IndexStyle})(a::AbstractArray) = IndexCartesian()
(::Type{IndexStyle})(a::Union{Array, AbstractRange}) = IndexLinear()
(::Type{IndexStyle})(a::AbstractArray, b::AbstractArray, more::AbstractArray...) =
    IndexStyle(a) === IndexLinear() ? IndexStyle(b, more...) : IndexCartesian()
