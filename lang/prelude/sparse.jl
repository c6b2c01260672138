# Sparse matrices by columns: the rows and values of the elements that are stored, column by column.

struct SparseMatrixCSC{T, V} <: AbstractMatrix{T}
    m::Int64
    n::Int64
    colptr::Vector{Int64}
    rowval::Vector{Int64}
    nzval::V
end
__sparse_of(m, n, starts, rows, values) = SparseMatrixCSC{eltype(values), typeof(values)}(m, n, starts, rows, values)
issparse(a) = false
issparse(a::SparseMatrixCSC) = true
size(a::SparseMatrixCSC) = (a.m, a.n)
nnz(a::SparseMatrixCSC) = a.colptr[a.n + 1] - 1
nonzeros(a::SparseMatrixCSC) = a.nzval
rowvals(a::SparseMatrixCSC) = a.rowval
nzrange(a::SparseMatrixCSC, j::Integer) = a.colptr[j]:a.colptr[j + 1] - 1
sparse(a::SparseMatrixCSC) = a
function sparse(a::AbstractMatrix)
    m, n = size(a)
    starts, rows, places = [1], Int64[], Int64[]
    for j in 1:n
        for i in 1:m
            if !iszero(a[i, j])
                push!(rows, i)
                push!(places, i + (j - 1) * m)
            end
        end
        push!(starts, length(rows) + 1)
    end
    return __sparse_of(m, n, starts, rows, a[places])
end
sparse(is::AbstractVector, js::AbstractVector, vs::AbstractVector) = sparse(is, js, vs, maximum(is), maximum(js))
# Values of one place are added.
function sparse(is::AbstractVector, js::AbstractVector, vs::AbstractVector, m::Integer, n::Integer)
    length(is) == length(js) == length(vs) || throw(ArgumentError("the lists of rows, columns and values have different lengths"))
    order = sortperm([(js[k], is[k]) for k in 1:length(is)])
    starts, rows, values = zeros(Int64, n + 1), Int64[], eltype(vs)[]
    at = (0, 0)
    for k in order
        (1 <= is[k] <= m && 1 <= js[k] <= n) || throw(ArgumentError("an index is outside of the matrix"))
        if (is[k], js[k]) == at
            values[length(values)] += vs[k]
        else
            push!(rows, is[k])
            push!(values, vs[k])
            starts[js[k] + 1] += 1
            at = (is[k], js[k])
        end
    end
    starts[1] = 1
    return __sparse_of(m, n, cumsum(starts), rows, values)
end
spzeros(m::Integer, n::Integer) = __sparse_of(m, n, ones(Int64, n + 1), Int64[], Float64[])
spzeros(::Type{T}, m::Integer, n::Integer) where T = __sparse_of(m, n, ones(Int64, n + 1), Int64[], T[])
sprand(m::Integer, n::Integer, p::Real) = sprand(__default_rng, m, n, p)
function sprand(r::AbstractRNG, m::Integer, n::Integer, p::Real)
    places = [(i, j) for j in 1:n for i in 1:m if rand(r) < p]
    return sparse(map(first, places), map(last, places), rand(r, length(places)), m, n)
end
function getindex(a::SparseMatrixCSC{T}, i::Int64, j::Int64) where T
    (1 <= i <= a.m && 1 <= j <= a.n) || __out_of_bounds(a, (i, j))
    for k in a.colptr[j]:a.colptr[j + 1] - 1
        a.rowval[k] == i && return a.nzval[k]
    end
    return zero(T)
end
function setindex!(a::SparseMatrixCSC, x, i::Int64, j::Int64)
    (1 <= i <= a.m && 1 <= j <= a.n) || __out_of_bounds(a, (i, j))
    at = a.colptr[j]
    while at < a.colptr[j + 1] && a.rowval[at] < i
        at += 1
    end
    if at < a.colptr[j + 1] && a.rowval[at] == i
        a.nzval[at] = x
    else
        insert!(a.rowval, at, i)
        insert!(a.nzval, at, x)
        for k in j+1:a.n+1
            a.colptr[k] += 1
        end
    end
    return a
end
function findnz(a::SparseMatrixCSC)
    columns = [j for j in 1:a.n for k in a.colptr[j]:a.colptr[j + 1] - 1]
    return (copy(a.rowval), columns, copy(a.nzval))
end
function collect(a::SparseMatrixCSC{T}) where T
    out = zeros(T, (a.m, a.n))
    for j in 1:a.n, k in a.colptr[j]:a.colptr[j + 1] - 1
        out[a.rowval[k], j] = a.nzval[k]
    end
    return out
end
(::Type{Array})(a::SparseMatrixCSC) = collect(a)
(::Type{Array{T, 2} where T})(a::SparseMatrixCSC) = collect(a)
copy(a::SparseMatrixCSC) = __sparse_of(a.m, a.n, copy(a.colptr), copy(a.rowval), copy(a.nzval))
sum(a::SparseMatrixCSC) = sum(a.nzval)
*(a::SparseMatrixCSC, x::AbstractVector) = __sparse_times!(__zeros_for(a, x, (a.m,)), a, x)
*(a::SparseMatrixCSC, b::AbstractMatrix) = __sparse_times!(__zeros_for(a, b, (a.m, size(b, 2))), a, b)
function __sparse_times!(out, a, b)
    __check_inner(a.n, size(b, 1), a, b)
    for c in 1:size(b, 2), j in 1:a.n
        x = b[j, c]
        for k in a.colptr[j]:a.colptr[j + 1] - 1
            out[a.rowval[k], c] += a.nzval[k] * x
        end
    end
    return out
end
*(x::Number, a::SparseMatrixCSC) = __sparse_of(a.m, a.n, a.colptr, a.rowval, x .* a.nzval)
*(a::SparseMatrixCSC, x::Number) = __sparse_of(a.m, a.n, a.colptr, a.rowval, a.nzval .* x)
-(a::SparseMatrixCSC) = __sparse_of(a.m, a.n, a.colptr, a.rowval, -a.nzval)
\(a::SparseMatrixCSC, b::AbstractArray) = collect(a) \ b
__shown(a::SparseMatrixCSC) = string("sparse(", a.rowval, ", ", findnz(a)[2], ", ", a.nzval, ", ", a.m, ", ", a.n, ")")
