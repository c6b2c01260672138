# Products and factorisations of dense matrices by a library, from the size on at which this pays.
#
# Functions here make new arrays. But for products, they have rules (`dense_rules.jl`): what runs another op of `linalg`
# is not differentiated itself.

# Whether the library is used where loops do the same; `--matmul loops` defines it anew.
@inline __by_library() = true
@inline __is_dense(a) = false
@inline __is_dense(a::Array{T, 2}) where T<:__Float = __by_library()
@inline __are_dense(a, b) = false
@inline __are_dense(a::Union{Array{T, 2}, Adjoint{T, Array{T, 2}}, Transpose{T, Array{T, 2}}},
    b::Union{Array{T, 1}, Array{T, 2}, Adjoint{T, Array{T, 2}}, Transpose{T, Array{T, 2}}}) where T<:__Float = __by_library()
# The array that a matrix is, and whether that is to be transposed.
@inline __stored(a::Array) = a
@inline __stored(a::Union{Adjoint, Transpose}) = a.parent
@inline __is_turned(a::Array) = false
@inline __is_turned(a::Union{Adjoint, Transpose}) = true
# A product of three sizes, or of two, is large from 16 each on.
@inline __is_large(m, k, n) = m * k * n >= 4096
@inline __is_large(m, k) = m * k >= 256

# --- products -------------------------------------------------------------------------------

function __dense_product!(out::Array{T, 2}, a::Array{T, 2}, b::Array{T, 2}, turned_a::Bool, turned_b::Bool) where T
    linalg.product(out, a, b, turned_a, turned_b)
    return out
end
@inline __dense_product(a::Array{T, 2}, b::Array{T, 2}, turned_a::Bool, turned_b::Bool) where T =
    __dense_product!(mem.alloc(Array{T, 2}, turned_a ? size(a, 2) : size(a, 1), turned_b ? size(b, 1) : size(b, 2)), a, b, turned_a, turned_b)
function __dense_times!(out::Array{T, 1}, a::Array{T, 2}, x::Array{T, 1}, turned::Bool) where T
    linalg.product(out, a, x, turned, false)
    return out
end
function __dense_outer(x::Array{T, 1}, y::Array{T, 1}) where T
    out = mem.alloc(Array{T, 2}, length(x), length(y))
    linalg.product(out, x, y, false, true)
    return out
end

# --- triangles ------------------------------------------------------------------------------

# The solution of `t * x = b` for one triangle of `t`, of its transpose if `turned`, with ones on the
# diagonal if `unit`.
function __dense_solve(t::Array{T, 2}, b::Array{T, N}, upper::Bool, turned::Bool, unit::Bool) where {T, N}
    x = copy(b)
    linalg.solve_triangular(x, t, upper, turned, unit)
    return x
end
# One triangle of a matrix with its diagonal multiplied.
function __triangle(a, upper, diagonal)
    n = size(a, 1)
    out = zeros(eltype(a), (n, n))
    for j in 1:n
        for i in (upper ? (1:j-1) : (j+1:n))
            @inbounds out[i, j] = a[i, j]
        end
        out[j, j] = diagonal * a[j, j]
    end
    return out
end
# The matrix whose other triangle mirrors this one.
function __mirrored(a, upper)
    n = size(a, 1)
    out = zeros(eltype(a), (n, n))
    for j in 1:n
        for i in 1:n
            @inbounds out[i, j] = (i <= j) == upper || i == j ? a[i, j] : a[j, i]
        end
    end
    return out
end

# --- factorisations -------------------------------------------------------------------------

# The factors in one matrix, and the order of the rows.
function __lu_factors(a::Array{T, 2}) where T
    f = copy(a)
    rows = mem.alloc(Array{Int64, 1}, size(a, 1))
    linalg.lu(f, rows)
    return (f, rows)
end
function __dense_lu(a)
    f, rows = __lu_factors(a)
    return f, rows, __parity(rows), __first_zero(f)
end
# The sign of a permutation: each cycle of even length changes it.
function __parity(rows)
    seen = fill(false, length(rows))
    sign = 1
    for k in 1:length(rows)
        i = k
        while !seen[i]
            seen[i] = true
            i = rows[i]
            i == k || (sign = -sign)
        end
    end
    return sign
end
# The first column without a pivot, or 0.
function __first_zero(f)
    for k in 1:min(size(f, 1), size(f, 2))
        f[k, k] == 0 && return k
    end
    return 0
end
# The upper factor; where there is none, the loops find out why.
function __dense_cholesky(a::Array{T, 2}) where T
    f = copy(a)
    linalg.cholesky(f) && return f
    return __cholesky_loops(a)
end
function __dense_qr(a::Array{T, 2}) where T
    k = min(size(a, 1), size(a, 2))
    q = mem.alloc(Array{T, 2}, size(a, 1), k)
    r = mem.alloc(Array{T, 2}, k, size(a, 2))
    linalg.qr(a, q, r)
    return (q, r)
end
__check_finite(a) = all(isfinite, a) ? nothing : throw(ArgumentError("matrix contains Infs or NaNs"))
# Of a symmetric matrix, values in ascending order and vectors.
function __symmetric_eigen(a::Array{T, 2}) where T
    __check_finite(a)
    v = copy(a)
    values = mem.alloc(Array{T, 1}, size(a, 1))
    linalg.eigen_symmetric(v, values) || throw(ErrorException("the eigenvalues are not found"))
    for j in 1:size(v, 2)
        __turn_column!(v, j)
    end
    return (values, v)
end
# Vectors are found up to their sign; the last element that is not small is made positive.
function __turn_column!(v, j)
    limit = 1.0e-8
    for i in size(v, 1):-1:1
        if abs(v[i, j]) > limit
            if v[i, j] < 0
                for k in 1:size(v, 1)
                    v[k, j] = -v[k, j]
                end
            end
            return nothing
        end
    end
    return nothing
end
# The real Schur form and the orthogonal matrix.
function __dense_schur(a::Array{T, 2}) where T
    __check_finite(a)
    t = copy(a)
    q = mem.alloc(Array{T, 2}, size(a, 1), size(a, 1))
    linalg.schur(t, q) || throw(ErrorException("the Schur form is not found"))
    return (t, q)
end
# The thin factors `u`, values in descending order, `v` transposed.
function __thin_svd(a::Array{T, 2}) where T
    __check_finite(a)
    k = min(size(a, 1), size(a, 2))
    u = mem.alloc(Array{T, 2}, size(a, 1), k)
    values = mem.alloc(Array{T, 1}, k)
    vt = mem.alloc(Array{T, 2}, k, size(a, 2))
    k == 0 || linalg.svd(a, u, values, vt) || throw(ErrorException("the singular values are not found"))
    return (u, values, vt)
end
# The rows of a vector or matrix in another order.
function __in_rows(b::Array{T, N}, rows) where {T, N}
    out = copy(b)
    for j in 1:size(b, 2)
        for i in 1:size(b, 1)
            @inbounds out[i, j] = __element(b, rows[i], j)
        end
    end
    return out
end
