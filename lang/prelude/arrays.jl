# Arrays: making them, their shape, elements, growing and joining them.
#
# `Array` is the array of the ops, dense and column-major. Whatever else is an `AbstractArray`
# (ranges, views, transposes, those of a program) has `size` and `getindex`; if one index is
# enough for it, that is `getindex(a, i)`.

struct UndefInitializer end
const undef = __new(UndefInitializer)

(::Type{Array{T, 1}})(::UndefInitializer, n::Int64) where T = mem.alloc(Array{T, 1}, n)
(::Type{Array{T, 2}})(::UndefInitializer, m::Int64, n::Int64) where T = mem.alloc(Array{T, 2}, m, n)
(::Type{Array{T, 3}})(::UndefInitializer, l::Int64, m::Int64, n::Int64) where T = mem.alloc(Array{T, 3}, l, m, n)
(::Type{Array{T, N}})(::UndefInitializer, dims::Tuple) where {T, N} = __spread("mem.alloc", Array{T, N}, dims)
(::Type{Array{T}})(::UndefInitializer, n::Int64) where T = mem.alloc(Array{T, 1}, n)
(::Type{Array{T}})(::UndefInitializer, m::Int64, n::Int64) where T = mem.alloc(Array{T, 2}, m, n)
(::Type{Array{T}})(::UndefInitializer, l::Int64, m::Int64, n::Int64) where T = mem.alloc(Array{T, 3}, l, m, n)
(::Type{Array{T}})(::UndefInitializer, dims::Tuple) where T = __alloc(T, dims)
(::Type{Array{T, 1}})() where T = mem.alloc(Array{T, 1}, 0)
(::Type{Array{T, N}})(a::AbstractArray) where {T, N} = __converted(T, a)
(::Type{Array{T}})(a::AbstractArray) where T = __converted(T, a)
Array(a::AbstractArray) = collect(a)
Vector(a::AbstractVector) = collect(a)
Matrix(a::AbstractMatrix) = collect(a)
Vector(r) = collect(r)
convert(::Type{Array{T, N}}, a::Array{T, N}) where {T, N} = a
convert(::Type{Array{T, N}}, a::AbstractArray{S, N}) where {T, N, S} = __converted(T, a)
function __converted(::Type{T}, a) where T
    out = __alloc(T, size(a))
    for k in 1:length(a)
        @inbounds x = a[k]
        y = convert(T, x)
        @inbounds mem.store(out, y, k)
    end
    return out
end
@inline __alloc(::Type{T}, dims::Tuple) where T = __spread("mem.alloc", __array_type(T, dims), dims)
@inline __alloc(::Type{T}, dims::Tuple{}) where T = reshape(mem.alloc(Array{T, 1}, 1), ())
@inline __array_type(::Type{T}, dims::Tuple) where T = Array{T, data.fieldcount(dims)}
# A literal `[…]`: of the type that its elements promote to.
vect() = mem.alloc(Array{Any, 1}, 0)
@inline vect(xs...) = __vect(__unroll_fold(__join_types, nothing, xs), xs)
@inline __vect(::Type{T}, xs) where T = __spread("mem.array", Array{T, 1}, __unroll_map(__ConvertTo{T}(), xs))
@inline __join_types(::Nothing, x) = typeof(x)
@inline __join_types(T, x) = promote_type(T, typeof(x))
@inline getindex(::Type{T}, xs...) where T = __vect(T, xs)
getindex(::Type{T}) where T = mem.alloc(Array{T, 1}, 0)

zeros(n::Int64) = mem.alloc(Array{Float64, 1}, n)
zeros(m::Int64, n::Int64) = mem.alloc(Array{Float64, 2}, m, n)
zeros(dims::Int64...) = __alloc(Float64, dims)
zeros(dims::Tuple) = __alloc(Float64, dims)
zeros(::Type{T}, dims::Int64...) where T<:__Num = __alloc(T, dims)
zeros(::Type{T}, dims::Tuple) where T<:__Num = __alloc(T, dims)
zeros(::Type{T}, dims::Int64...) where T = fill(zero(T), dims)
zeros(::Type{T}, dims::Tuple) where T = fill(zero(T), dims)
ones(dims::Int64...) = fill(1.0, dims)
ones(dims::Tuple) = fill(1.0, dims)
ones(::Type{T}, dims::Int64...) where T = fill(one(T), dims)
ones(::Type{T}, dims::Tuple) where T = fill(one(T), dims)
trues(dims::Int64...) = fill(true, dims)
falses(dims::Int64...) = fill(false, dims)
fill(x, n::Int64) = __filled(x, n)
fill(x, dims::Int64...) = __filled(x, dims)
fill(x, dims::Tuple) = __filled(x, dims)
__filled(x, n::Int64) = mem.fill(x, n)
__filled(x, dims::Tuple) = __spread("mem.fill", x, dims)
__filled(x, dims::Tuple{}) = fill(x)
similar(a::AbstractArray) = __alloc(eltype(a), size(a))
similar(a::AbstractArray, dims::Int64...) = __alloc(eltype(a), dims)
similar(a::AbstractArray, dims::Tuple) = __alloc(eltype(a), dims)
similar(a::AbstractArray, ::Type{T}) where T = __alloc(T, size(a))
similar(a::AbstractArray, ::Type{T}, dims::Int64...) where T = __alloc(T, dims)
similar(a::AbstractArray, ::Type{T}, dims::Tuple) where T = __alloc(T, dims)
copy(a::Array) = mem.copy(a)
copy(a::AbstractArray) = collect(a)
copy(x::Union{Number, Tuple, NamedTuple}) = x
copyto!(dest::Array{T, M}, src::Array{T, N}) where {T, M, N} = (mem.copyto(dest, src); dest)
function copyto!(dest::AbstractArray, src)
    length(src) <= length(dest) || __out_of_bounds(dest, length(src))
    k = 1
    for x in src
        dest[k] = x
        k += 1
    end
    return dest
end
fill!(a::Array{T, N}, x) where {T, N} = (mem.fill_in_place(a, convert(T, x)); a)
function fill!(a::AbstractArray, x)
    for i in eachindex(a)
        a[i] = x
    end
    return a
end
zero(a::AbstractArray) = zeros(eltype(a), size(a))
one(a::AbstractMatrix) = __identity(eltype(a), size(a, 1))

# --- shape ----------------------------------------------------------------------------------

eltype(::Type{<:AbstractArray{T}}) where {T} = T
eltype(a::AbstractArray{T, N}) where {T, N} = T
ndims(a::AbstractArray{T, N}) where {T, N} = N
@inline length(a::Array) = mem.length(a)
length(a::AbstractArray) = __product_of(size(a))
__product_of(dims) = __unroll_fold(*, 1, dims)
@inline size(a::Array{T, 1}) where T = (mem.length(a),)
@inline size(a::Array{T, 2}) where T = (mem.size(a, 1), mem.size(a, 2))
size(a::Array) = mem.shape(a)
@inline size(a::Array, d::Int64) = mem.size(a, d)
@inline size(a::AbstractArray, d::Int64) = d <= ndims(a) ? size(a)[d] : 1
size(a::AbstractArray, d::Int64, e::Int64) = (size(a, d), size(a, e))
isempty(a::AbstractArray) = length(a) == 0
# A length is not negative: `OneTo{Int64}` does not check it again.
axes(a::AbstractArray) = __unroll_map(OneTo{Int64}, size(a))
axes(a::AbstractArray, d::Int64) = OneTo{Int64}(size(a, d))
axes(x::Number) = ()
axes(t::Tuple) = (OneTo(length(t)),)
eachindex(a::AbstractArray) = OneTo{Int64}(length(a))
function eachindex(a::AbstractArray, b::AbstractArray)
    length(a) == length(b) || throw(DimensionMismatch("all inputs to eachindex must have the same axes"))
    return OneTo{Int64}(length(a))
end
keys(a::AbstractVector) = OneTo{Int64}(length(a))
LinearIndices(a::AbstractArray) = reshape(collect(1:length(a)), size(a))
@inline firstindex(a::AbstractArray) = 1
@inline lastindex(a::AbstractArray) = length(a)
@inline firstindex(a::AbstractArray, d::Int64) = 1
@inline lastindex(a::AbstractArray, d::Int64) = size(a, d)
first(a::AbstractArray) = a[1]
last(a::AbstractArray) = a[length(a)]
first(a::AbstractVector, n::Int64) = a[1:min(n, length(a))]
last(a::AbstractVector, n::Int64) = a[max(length(a) - n + 1, 1):length(a)]

# --- elements -------------------------------------------------------------------------------

@inline getindex(a::Array, i::Int64) = mem.load(a, i)
@inline getindex(a::Array{T, 2}, i::Int64) where T = mem.load(a, i)
@inline getindex(a::Array{T, 2}, i::Int64, j::Int64) where T = mem.load(a, i, j)
@inline getindex(a::Array{T, 3}, i::Int64, j::Int64, k::Int64) where T = mem.load(a, i, j, k)
@inline getindex(a::Array{T, N}, is::Vararg{Int64}) where {T, N} = __spread("mem.load", a, __as_many(a, is))
@inline getindex(a::Array{T, 1}, i::Int64, j::Int64) where T = mem.load(a, __only_one(a, i, j))
getindex(a::Array{T, 1}) where T = mem.length(a) == 1 ? a[1] : __out_of_bounds(a, ())
__only_one(a, i, j) = j == 1 ? i : __out_of_bounds(a, (i, j))
# One index for each dimension: those behind them are 1.
@inline __as_many(a::Array{T, N}, is) where {T, N} = data.fieldcount(is) > N ? __leading(a, __val(N), is) : is
function __leading(a, n::Val{N}, is) where N
    for k in N+1:length(is)
        is[k] == 1 || __out_of_bounds(a, is)
    end
    return __ntuple(k -> is[k], n)
end
@inline function setindex!(a::Array{T, N}, x, i::Int64) where {T, N}
    mem.store(a, convert(T, x), i)
    return a
end
@inline function setindex!(a::Array{T, 2}, x, i::Int64) where T
    mem.store(a, convert(T, x), i)
    return a
end
@inline function setindex!(a::Array{T, 2}, x, i::Int64, j::Int64) where T
    mem.store(a, convert(T, x), i, j)
    return a
end
@inline function setindex!(a::Array{T, 3}, x, i::Int64, j::Int64, k::Int64) where T
    mem.store(a, convert(T, x), i, j, k)
    return a
end
@inline function setindex!(a::Array{T, N}, x, is::Vararg{Int64}) where {T, N}
    __spread("mem.store", a, convert(T, x), __as_many(a, is))
    return a
end
# Whether `i` is within `1:n`, as one call, so that what reads an element stays one block.
@noinline function __check_index(a, i, n)
    if i < 1 || i > n
        __out_of_bounds(a, i)
    end
    return nothing
end
checkbounds(a, i::Int64) = __check_index(a, i, length(a))
checkbounds(::Type{Bool}, a, i::Int64) = 1 <= i <= length(a)
checkindex(::Type{Bool}, r, i::Int64) = first(r) <= i <= last(r)

# Whole dimensions, ranges, lists of indices and masks. What is an integer among the indices
# leaves no dimension behind.
const __Index = Union{Integer, AbstractArray, Colon}
const __SmallInt = Union{Int32, Int16, Int8, __UInt, __Wide}
@inline getindex(a::AbstractArray, i::__SmallInt) = a[Int64(i)]
@inline getindex(a::AbstractMatrix, i::__AnyInt, j::__AnyInt) = a[Int64(i), Int64(j)]
@inline setindex!(a::AbstractArray, x, i::__SmallInt) = setindex!(a, x, Int64(i))
@inline setindex!(a::AbstractMatrix, x, i::__AnyInt, j::__AnyInt) = setindex!(a, x, Int64(i), Int64(j))
__indices(r::AbstractArray, n) = r
__indices(::Colon, n) = OneTo{Int64}(n)
__indices(i::Integer, n) = i
__indices(mask::AbstractArray{Bool}, n) = length(mask) == n ? findall(vec(mask)) : __out_of_bounds(mask, n)
getindex(a::AbstractArray, is::AbstractArray) = __gather(a, __indices(is, length(a)))
getindex(a::AbstractArray, ::Colon) = __gather(a, OneTo{Int64}(length(a)))
function getindex(a::Array{T, N}, mask::Array{Bool, N}) where {T, N}
    size(a) == size(mask) || __out_of_bounds(a, mask)
    out = mem.alloc(Array{T, 1}, 0)
    for k in 1:length(a)
        if mask[k]
            mem.push(out, a[k])
        end
    end
    return out
end
# What `@inbounds` promises holds for the positions in lists of indices, not for these indices.
function __gather(a, is)
    out = __alloc(eltype(a), size(is))
    for k in 1:length(is)
        @inbounds i = is[k]
        x = a[i]
        @inbounds mem.store(out, x, k)
    end
    return out
end
getindex(a::AbstractMatrix, i::__Index, j::__Index) = __submatrix(a, __indices(i, size(a, 1)), __indices(j, size(a, 2)))
function __submatrix(a, is, j::Integer)
    out = mem.alloc(__array_type(eltype(a), (1,)), length(is))
    for k in 1:length(is)
        @inbounds i = is[k]
        x = a[i, j]
        @inbounds mem.store(out, x, k)
    end
    return out
end
function __submatrix(a, i::Integer, js)
    out = mem.alloc(__array_type(eltype(a), (1,)), length(js))
    for k in 1:length(js)
        @inbounds j = js[k]
        x = a[i, j]
        @inbounds mem.store(out, x, k)
    end
    return out
end
function __submatrix(a, is, js)
    out = __alloc(eltype(a), (length(is), length(js)))
    for l in 1:length(js)
        for k in 1:length(is)
            @inbounds i = is[k]
            @inbounds j = js[l]
            x = a[i, j]
            @inbounds mem.store(out, x, k, l)
        end
    end
    return out
end
function setindex!(a::AbstractArray, x, is::Union{AbstractArray, Colon})
    list = __indices(is, length(a))
    __fits(length(x), length(list))
    k = 1
    for v in __unalias(a, x)
        a[list[k]] = v
        k += 1
    end
    return a
end
function setindex!(a::AbstractMatrix, x, i::__Index, j::__Index)
    is = __indices(i, size(a, 1))
    js = __indices(j, size(a, 2))
    __fits(length(x), length(is) * length(js))
    values = __unalias(a, x)
    n = length(is)
    for l in 1:length(js)
        for k in 1:n
            a[is[k], js[l]] = values[k + (l - 1) * n]
        end
    end
    return a
end
# Of more than two dimensions, and of fewer dimensions than indices: the positions are counted through.
getindex(a::AbstractVector, i::__Index, j::__Index) = __gather_block(a, (i, j))
setindex!(a::AbstractVector, x, i::__Index, j::__Index) = __scatter_block!(a, x, (i, j))
getindex(a::AbstractArray, i::__Index, j::__Index, k::__Index, more::__Index...) = __gather_block(a, (i, j, k, more...))
setindex!(a::AbstractArray, x, i::__Index, j::__Index, k::__Index, more::__Index...) =
    __scatter_block!(a, x, (i, j, k, more...))
function __gather_block(a, is)
    lists = __index_lists(a, is)
    out = __alloc(eltype(a), __unroll_fold(__add_length, (), lists))
    for p in 0:length(out)-1
        out[p + 1] = a[__block_position(lists, p)]
    end
    return out
end
function __scatter_block!(a, x, is)
    lists = __index_lists(a, is)
    n = prod(__unroll_fold(__add_length, (), lists))
    __fits(length(x), n)
    values = __unalias(a, x)
    for p in 0:n-1
        a[__block_position(lists, p)] = values[p + 1]
    end
    return a
end
# Each index with the length of its dimension.
function __index_lists(a, is)
    sizes = __padded(size(a), is)
    data.fieldcount(is) == data.fieldcount(sizes) || __out_of_bounds(a, is)
    lists = __unroll_map(__indices, is, sizes)
    __unroll_map(__check_list, lists, sizes)
    return __unroll_map(tuple, lists, sizes)
end
@inline __padded(sizes, is) = data.fieldcount(sizes) < data.fieldcount(is) ? __padded((sizes..., 1), is) : sizes
__check_list(i::Integer, n) = 1 <= i <= n ? nothing : __out_of_bounds(1:n, i)
__check_list(list, n) = foreach(i -> __check_list(i, n), list)
@inline __add_length(dims, entry) = __add_length_of(dims, entry[1])
@inline __add_length_of(dims, i::Integer) = dims
@inline __add_length_of(dims, list) = (dims..., length(list))
@inline __block_position(lists, p) = __unroll_fold(__add_position, (p, 1, 1), lists)[3]
@inline __add_position(state, entry) = __position_after(state[1], state[2], state[3], entry[1], entry[2])
@inline __position_after(rest, stride, at, i::Integer, n) = (rest, stride * n, at + (i - 1) * stride)
@inline function __position_after(rest, stride, at, list, n)
    i = list[rem(rest, length(list)) + 1]
    return (div(rest, length(list)), stride * n, at + (i - 1) * stride)
end
__fits(m, n) = m == n ? nothing : throw(DimensionMismatch(string("tried to assign ", m, " elements to ", n, " destinations")))
# A source of the elements that a destination is about to get, which does not change meanwhile.
@inline __unalias(dest, x) = x

# `T[a b; c d]`
__typed_matrix(::Type{T}, a::AbstractArray) where T = convert(Array{T, ndims(a)}, a)
__typed_matrix(a, b) =
    throw(ArgumentError("in brackets blank space parts elements of a matrix: write `a[i - 1]` or `a[i-1]`"))

# --- growing and shrinking ------------------------------------------------------------------

@inline function push!(a::Array{T, 1}, x) where T
    mem.push(a, convert(T, x))
    return a
end
push!(a::Array{T, 1}, x, more...) where T = push!(push!(a, x), more...)
pop!(a::Array{T, 1}) where T = mem.pop(a)
function append!(a::Array{T, 1}, xs) where T
    for x in __unalias_always(xs)
        mem.push(a, convert(T, x))
    end
    return a
end
append!(a::Array{T, 1}) where T = a
append!(a::Array{T, 1}, xs, more...) where T = append!(append!(a, xs), more...)
__unalias_always(a::Array) = mem.copy(a)
__unalias_always(x) = x
resize!(a::Array{T, 1}, n::Int64) where T = (mem.resize(a, n); a)
empty!(a::Array{T, 1}) where T = (mem.resize(a, 0); a)
sizehint!(a, n) = a
pushfirst!(a::Array{T, 1}, x) where T = insert!(a, 1, x)
popfirst!(a::Array{T, 1}) where T = length(a) == 0 ? throw(ArgumentError("array must be non-empty")) : popat!(a, 1)
function insert!(a::Array{T, 1}, i::Int64, x) where T
    1 <= i <= length(a) + 1 || __out_of_bounds(a, i)
    mem.push(a, convert(T, x))
    for k in length(a):-1:i+1
        mem.store(a, a[k - 1], k)
    end
    mem.store(a, convert(T, x), i)
    return a
end
function popat!(a::Array{T, 1}, i::Int64) where T
    x = a[i]
    for k in i:length(a)-1
        mem.store(a, a[k + 1], k)
    end
    mem.pop(a)
    return x
end
deleteat!(a::Array{T, 1}, i::Int64) where T = (popat!(a, i); a)
prepend!(a::Vector, items) = splice!(a, 1:0, items) isa Any ? a : a
function splice!(a::Vector, r::AbstractUnitRange, items = ())
    removed = a[r]
    rest = a[last(r)+1:end]
    resize!(a, first(r) - 1)
    append!(a, items)
    append!(a, rest)
    return removed
end
splice!(a::Vector, i::Int64) = popat!(a, i)
splice!(a::Vector, i::Int64, items) = splice!(a, i:i, items)[1]
keepat!(a::Vector, is) = __refill(a, a[is])

# --- joining --------------------------------------------------------------------------------

hcat(xs...) = __hvcat(__unroll_fold(__join_eltypes, nothing, xs), (data.fieldcount(xs),), xs)
vcat(xs...) = __stack(__unroll_fold(__join_eltypes, nothing, xs), xs, __unroll_fold(__form_with, __Flat(), xs))
vcat(xs::Number...) = vect(xs...)
vcat(a::AbstractVector) = __copy_as(eltype(a), a)
vcat(a::AbstractVector, b::AbstractVector) = __joined(promote_type(eltype(a), eltype(b)), a, b)
function __joined(::Type{T}, a, b) where T
    n = length(a)
    out = mem.alloc(Array{T, 1}, n + length(b))
    __place(out, a, 0, 0)
    __place(out, b, n, 0)
    return out
end
__copy_as(::Type{T}, a) where T = __converted(T, a)
function hvcat(rows::Tuple, xs...)
    __check_count(__unroll_fold(+, 0, rows), data.fieldcount(xs))
    return __hvcat(__unroll_fold(__join_eltypes, nothing, xs), rows, xs)
end
__check_count(expected, got) =
    expected == got || throw(ArgumentError(string("argument count does not match specified shape (expected ", expected, ", got ", got, ")")))
# Numbers, row by row.
hcat(xs::Number...) = hvcat((data.fieldcount(xs),), xs...)
@inline function hvcat(rows::Tuple, xs::Number...)
    n = rows[1]
    __check_count(__unroll_fold(+, 0, rows), data.fieldcount(xs))
    __unroll_fold(__EvenRow(n), 1, rows)
    out = mem.alloc(Array{__unroll_fold(__join_eltypes, nothing, xs), 2}, data.fieldcount(rows), n)
    __unroll_fold(__Cell(out, n), 0, xs)
    return out
end
struct __EvenRow
    columns::Int64
end
@inline function (row::__EvenRow)(r, columns)
    columns == row.columns || __uneven_row(r, columns, row.columns)
    return r + 1
end
__uneven_row(r, columns, first) =
    throw(DimensionMismatch(string("row ", r, " has ", columns, " columns, the first row ", first)))
struct __Cell{A}
    out::A
    columns::Int64
end
@inline function (cell::__Cell)(k, x)
    cell.out[div(k, cell.columns) + 1, rem(k, cell.columns) + 1] = x
    return k + 1
end
__join_eltypes(::Nothing, x) = __element_type(x)
__join_eltypes(T, x) = promote_type(T, __element_type(x))
__element_type(x) = typeof(x)
__element_type(a::AbstractArray) = eltype(a)
# Rows and columns of a block of a matrix; a vector is a column.
__rows(x) = 1
__columns(x) = 1
__rows(a::AbstractArray) = size(a, 1)
__columns(a::AbstractArray) = size(a, 2)
__element(x, i, j) = x
__element(a::AbstractVector, i, j) = a[i]
__element(a::AbstractMatrix, i, j) = a[i, j]
@inline __rank(x) = 0
@inline __rank(a::AbstractArray{T, N}) where {T, N} = N
@inline __most(m, n) = m > n ? m : n
# Columns on top of each other: a vector unless one of them is a matrix.
struct __Flat end
struct __Grid end
@inline __form_with(form, x) = form
@inline __form_with(form, a::AbstractMatrix) = __Grid()
__stack(::Type{T}, xs, ::__Grid) where T = __hvcat(T, __ntuple(k -> 1, __val(data.fieldcount(xs))), xs)
function __stack(::Type{T}, xs, ::__Flat) where T
    out = mem.alloc(Array{T, 1}, __unroll_fold(+, 0, __unroll_map(__rows, xs)))
    __unroll_fold(__Place(out), 0, xs)
    return out
end
struct __Place{A}
    out::A
end
@inline function (p::__Place)(at, x)
    __place(p.out, x, at, 0)
    return at + __rows(x)
end
function __place(out, x, i, j)
    out[i + 1] = x
    return nothing
end
function __place(out, a::AbstractVector, i, j)
    for k in 1:length(a)
        out[i + k] = a[k]
    end
    return nothing
end
function __hvcat(::Type{T}, rows, xs) where T
    # The width is that of the first row.
    n = rows[1]
    m = 0
    for k in 1:n
        m += __columns(xs[k])
    end
    height = 0
    k = 1
    for r in 1:length(rows)
        height += __rows(xs[k])
        width = 0
        for j in k:k + rows[r] - 1
            width += __columns(xs[j])
            __rows(xs[j]) == __rows(xs[k]) || __uneven(__unroll_map(__rows, xs))
        end
        width == m || __uneven_row(r, width, m)
        k += rows[r]
    end
    out = mem.alloc(Array{T, 2}, height, m)
    __unroll_fold(__Tile(out), (0, 0), xs)
    return out
end
__uneven(rows) = throw(DimensionMismatch(string("number of rows of each array must match (got ", rows, ")")))
struct __Tile{A}
    out::A
end
function (p::__Tile)(at, x)
    i, j = at
    m, n = __rows(x), __columns(x)
    if j + n > size(p.out, 2) || i + m > size(p.out, 1)
        throw(DimensionMismatch("the blocks do not fit together"))
    end
    for l in 1:n
        for k in 1:m
            p.out[i + k, j + l] = __element(x, k, l)
        end
    end
    return j + n == size(p.out, 2) ? (i + m, 0) : (i, j + n)
end

# --- other shapes, same elements ------------------------------------------------------------

struct ReshapedArray{T, N, P, D} <: AbstractArray{T, N}
    parent::P
    dims::D
end
# It shares its elements with the array, as in Julia; unlike there it is no `Array` itself.
vec(a::AbstractVector) = a
vec(a::AbstractArray) = __reshaped(a, (length(a),))
vec(a::ReshapedArray) = vec(a.parent)
reshape(a::AbstractArray, dims::Tuple) = __reshape(a, __whole_dims(dims, length(a)))
reshape(a::AbstractArray, dims...) = __reshape(a, __whole_dims(dims, length(a)))
__whole_dims(dims, n) = __unroll_map(__WholeDim(n, __unroll_fold(__times, 1, dims)), dims)
struct __WholeDim
    n::Int64
    rest::Int64
end
(w::__WholeDim)(d::Int64) = d
(w::__WholeDim)(d::Colon) = div(w.n, w.rest)
__times(n, d::Int64) = n * d
__times(n, d::Colon) = n
function __reshape(a, dims)
    __product_of(dims) == length(a) || throw(DimensionMismatch(string("new dimensions ", dims, " must be consistent with array length ", length(a))))
    return __reshaped(a, dims)
end
__reshaped(a::AbstractVector, dims::Tuple{Int64}) = a
__reshaped(a::ReshapedArray, dims) = __reshaped(a.parent, dims)
__reshaped(a::ReshapedArray, dims::Tuple{Int64}) = __reshaped(a.parent, dims)
__reshaped(a, dims) = ReshapedArray{eltype(a), data.fieldcount(dims), typeof(a), typeof(dims)}(a, dims)
size(a::ReshapedArray) = a.dims
length(a::ReshapedArray) = length(a.parent)
@inline getindex(a::ReshapedArray, i::Int64) = a.parent[i]
@inline getindex(a::ReshapedArray{T, 2}, i::Int64) where T = a.parent[i]
@inline getindex(a::ReshapedArray{T, 2}, i::Int64, j::Int64) where T = a.parent[__linear(a, i, j)]
@inline getindex(a::ReshapedArray{T, 3}, i::Int64, j::Int64, k::Int64) where T = a.parent[__linear(a, i, j, k)]
@inline function setindex!(a::ReshapedArray, x, i::Int64)
    setindex!(a.parent, x, i)
    return a
end
@inline function setindex!(a::ReshapedArray{T, 2}, x, i::Int64) where T
    setindex!(a.parent, x, i)
    return a
end
@inline function setindex!(a::ReshapedArray{T, 2}, x, i::Int64, j::Int64) where T
    setindex!(a.parent, x, __linear(a, i, j))
    return a
end
@inline function setindex!(a::ReshapedArray{T, 3}, x, i::Int64, j::Int64, k::Int64) where T
    setindex!(a.parent, x, __linear(a, i, j, k))
    return a
end
@inline function __linear(a, i, j)
    __check_index(a, i, a.dims[1])
    __check_index(a, j, a.dims[2])
    return i + (j - 1) * a.dims[1]
end
@inline function __linear(a, i, j, k)
    __check_index(a, i, a.dims[1])
    __check_index(a, j, a.dims[2])
    return i + (j - 1 + (k - 1) * a.dims[2]) * a.dims[1]
end

function permutedims(a::AbstractMatrix)
    out = __alloc(eltype(a), (size(a, 2), size(a, 1)))
    for j in 1:size(a, 2)
        for i in 1:size(a, 1)
            @inbounds mem.store(out, a[i, j], j, i)
        end
    end
    return out
end
permutedims(a::AbstractVector) = reshape(copy(a), 1, length(a))
function reverse(a::AbstractVector)
    n = length(a)
    out = mem.alloc(__array_type(eltype(a), (1,)), n)
    for k in 1:n
        @inbounds mem.store(out, a[n + 1 - k], k)
    end
    return out
end
function reverse!(a::AbstractVector)
    n = length(a)
    for k in 1:div(n, 2)
        x = a[k]
        a[k] = a[n + 1 - k]
        a[n + 1 - k] = x
    end
    return a
end
function circshift(a::AbstractVector, by::Int64)
    n = length(a)
    out = mem.alloc(__array_type(eltype(a), (1,)), n)
    for k in 1:n
        @inbounds mem.store(out, a[mod1(k - by, n)], k)
    end
    return out
end

# --- comparison -----------------------------------------------------------------------------

==(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && __same_elements(==, a, b)
isequal(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && __same_elements(isequal, a, b)
function __same_elements(same, a, b)
    for k in 1:length(a)
        same(a[k], b[k]) || return false
    end
    return true
end
function isapprox(x, y; atol::Real = 0, rtol = nothing, nans::Bool = false, norm = norm)
    tolerance = rtol === nothing ? (atol > 0 ? zero(__rtol_of(x, y)) : __rtol_of(x, y)) : rtol
    return __is_close(x, y, atol, tolerance, nans, norm)
end
__rtol_of(x::Number, y::Number) = __rtol(x, y)
__rtol_of(x, y) = __rtol(zero(eltype(x)), zero(eltype(y)))
__is_close(x::Number, y::Number, atol, rtol, nans, norm) =
    x == y || (isfinite(x) && isfinite(y) && abs(x - y) <= max(atol, rtol * max(abs(x), abs(y)))) ||
    (nans && isnan(x) && isnan(y))
function __is_close(x, y, atol, rtol, nans, norm)
    d = norm(x - y)
    isfinite(d) && return d <= max(atol, rtol * max(norm(x), norm(y)))
    return all(p -> __is_close(p[1], p[2], atol, rtol, nans, abs), zip(x, y))
end
function isapprox(a::AbstractArray, b::AbstractArray)
    size(a) == size(b) || return false
    s = 0.0
    x = 0.0
    y = 0.0
    for k in 1:length(a)
        s += abs2(a[k] - b[k])
        x += abs2(a[k])
        y += abs2(b[k])
    end
    return sqrt(s) <= __rtol(zero(eltype(a)), zero(eltype(b))) * max(sqrt(x), sqrt(y))
end
isless(a::AbstractVector, b::AbstractVector) = __less_by_elements(__Order(isless, isequal), a, b)
<(a::AbstractVector, b::AbstractVector) = isless(a, b)
function in(x, it)
    for y in it
        y == x && return true
    end
    return false
end
