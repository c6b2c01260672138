# Linear algebra: products, factorisations, solving. Plain loops, columns innermost; sums are added
# from left to right, where BLAS has its own order.

@inline __times_zero(a, b) = zero(eltype(a)) * zero(eltype(b))
__check_inner(m, n, a, b) = m == n ? nothing : throw(DimensionMismatch(string("the sizes do not match: ", size(a), " and ", size(b))))

# --- products -------------------------------------------------------------------------------

dot(a::AbstractArray, b::AbstractArray) = __sum_of_products(a, b)
dot(a::AbstractArray{<:Complex}, b::AbstractArray) = __sum_of_products(conj(a), b)
function __sum_of_products(a, b)
    n = length(a)
    n == length(b) || throw(DimensionMismatch(string("first array has length ", n, " which does not match the length of the second, ", length(b), ".")))
    s = __times_zero(a, b)
    for k in 1:n
        @inbounds s += a[k] * b[k]
    end
    return s
end
dot(x::Number, y::Number) = conj(x) * y
dot(s::Tuple, t::Tuple) = sum(__unroll_map(*, s, t))
dot(x::AbstractVector, a::AbstractMatrix, y::AbstractVector) = dot(x, a * y)
⋅(a, b) = dot(a, b)
function cross(a::AbstractVector, b::AbstractVector)
    length(a) == length(b) == 3 || throw(DimensionMismatch("cross product is only defined for vectors of length 3"))
    return [a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1]]
end
×(a, b) = cross(a, b)

function *(a::AbstractMatrix, x::AbstractVector)
    out = __zeros_for(a, x, (size(a, 1),))
    __check_inner(size(a, 2), length(x), a, x)
    if __are_dense(a, x) && __is_large(size(a, 1), size(a, 2))
        __dense_times!(out, __stored(a), x, __is_turned(a))
    else
        __matvec!(out, a, x)
    end
    return out
end
function *(a::AbstractMatrix, b::AbstractMatrix)
    out = __zeros_for(a, b, (size(a, 1), size(b, 2)))
    __check_inner(size(a, 2), size(b, 1), a, b)
    if __are_dense(a, b) && __is_large(size(a, 1), size(a, 2), size(b, 2))
        __dense_product!(out, __stored(a), __stored(b), __is_turned(a), __is_turned(b))
    else
        __matmul!(out, a, b)
    end
    return out
end
*(a::AbstractVector, b::AbstractMatrix) = reshape(a, length(a), 1) * b
*(a::Adjoint{T, P}, b::AbstractVector) where {T, P<:AbstractVector} = __sum_of_products(a.parent, b)
*(a::Transpose{T, P}, b::AbstractVector) where {T, P<:AbstractVector} = __sum_of_products(a.parent, b)
*(a::Adjoint{T, P}, b::AbstractMatrix) where {T, P<:AbstractVector} = adjoint(adjoint(b) * a.parent)
*(a::AbstractVector, b::Adjoint{T, P}) where {T, P<:AbstractVector} = __outer(a, b.parent)
*(a::AbstractVector, b::Transpose{T, P}) where {T, P<:AbstractVector} = __outer(a, b.parent)
@inline __zeros_for(a, b, dims) = zeros(typeof(__times_zero(a, b)), dims)
function __outer(a, b)
    __are_dense_vectors(a, b) && __is_large(length(a), length(b)) && return __dense_outer(a, b)
    return __outer_loops(a, b)
end
@inline __are_dense_vectors(a, b) = false
@inline __are_dense_vectors(a::Array{T, 1}, b::Array{T, 1}) where T<:__Float = __by_library()
function __outer_loops(a, b)
    out = __zeros_for(a, b, (length(a), length(b)))
    for j in 1:length(b)
        for i in 1:length(a)
            @inbounds mem.store(out, a[i] * b[j], i, j)
        end
    end
    return out
end
function __matvec!(out, a, x)
    for j in 1:size(a, 2)
        v = x[j]
        for i in 1:size(a, 1)
            @inbounds out[i] += a[i, j] * v
        end
    end
    return out
end
# A transposed matrix is read by its own columns.
function __matvec!(out, a::Union{Adjoint, Transpose}, x)
    p = a.parent
    for i in 1:size(a, 1)
        s = out[i]
        for j in 1:size(a, 2)
            @inbounds s += p[j, i] * x[j]
        end
        out[i] = s
    end
    return out
end
function __matmul!(out, a, b)
    m, n = size(a, 1), size(a, 2)
    for j in 1:size(b, 2)
        for l in 1:n
            v = b[l, j]
            for i in 1:m
                @inbounds out[i, j] += a[i, l] * v
            end
        end
    end
    return out
end
function __matmul!(out, a::Union{Adjoint, Transpose}, b)
    p = a.parent
    m, n = size(a, 1), size(a, 2)
    for j in 1:size(b, 2)
        for i in 1:m
            s = out[i, j]
            for l in 1:n
                @inbounds s += p[l, i] * b[l, j]
            end
            out[i, j] = s
        end
    end
    return out
end
# Dense products are written to where they go, unless that is a factor.
function mul!(out::AbstractVector, a::AbstractMatrix, x::AbstractVector)
    __check_dest(out, (size(a, 1),))
    __takes_product(out, a, x) || return copyto!(out, a * x)
    __check_inner(size(a, 2), length(x), a, x)
    __is_large(size(a, 1), size(a, 2)) || return __matvec!(fill!(out, 0), a, x)
    linalg.product(out, __stored(a), x, __is_turned(a), false)
    return out
end
function mul!(out::AbstractMatrix, a::AbstractMatrix, b::AbstractMatrix)
    __check_dest(out, (size(a, 1), size(b, 2)))
    __takes_product(out, a, b) || return copyto!(out, a * b)
    __check_inner(size(a, 2), size(b, 1), a, b)
    __is_large(size(a, 1), size(a, 2), size(b, 2)) || return __matmul!(fill!(out, 0), a, b)
    linalg.product(out, __stored(a), __stored(b), __is_turned(a), __is_turned(b))
    return out
end
function mul!(out::AbstractMatrix, x::AbstractVector, b::AbstractMatrix)
    __check_dest(out, (length(x), size(b, 2)))
    return copyto!(out, x * b)
end
function mul!(out::Array{T, 2}, x::Array{T, 1}, b::Union{Adjoint{T, Array{T, 1}}, Transpose{T, Array{T, 1}}}) where T<:__Float
    __check_dest(out, (length(x), size(b, 2)))
    __by_library() || return copyto!(out, x * b)
    linalg.product(out, x, b.parent, false, true)
    return out
end
@inline __takes_product(out, a, b) = false
@inline __takes_product(out::Array{T}, a::AbstractArray{T}, b::AbstractArray{T}) where T =
    __are_dense(a, b) && out !== __stored(a) && out !== __stored(b)
__check_dest(out, dims) = size(out) == dims ? nothing : throw(DimensionMismatch(string("the destination has size ", size(out), ", the product ", dims)))
mul!(out::AbstractArray, x::Number, a::AbstractArray) = __broadcast!(*, out, x, a)
mul!(out::AbstractArray, a::AbstractArray, x::Number) = __broadcast!(*, out, a, x)
function axpy!(c::Number, x::AbstractArray, y::AbstractArray)
    length(x) == length(y) || throw(DimensionMismatch("the arrays have different lengths"))
    for k in 1:length(x)
        @inbounds y[k] += c * x[k]
    end
    return y
end
axpby!(c, x, d, y) = axpy!(c, x, rmul!(y, d))
rmul!(a::AbstractArray, c::Number) = __broadcast!(*, a, a, c)
lmul!(c::Number, a::AbstractArray) = __broadcast!(*, a, c, a)

# --- sums, differences, multiples -----------------------------------------------------------

+(a::AbstractArray, b::AbstractArray) = __elementwise(+, a, b)
-(a::AbstractArray, b::AbstractArray) = __elementwise(-, a, b)
function __elementwise(f, a, b)
    size(a) == size(b) || throw(DimensionMismatch(string("dimensions must match: a has dims ", axes(a), ", b has dims ", axes(b))))
    return __of_rank(a, __broadcast(f, a, b))
end
# Broadcasting makes a number of arrays of rank 0; these stay arrays.
@inline __of_rank(a, y) = y
@inline __of_rank(a::AbstractArray{T, 0}, y) where T = fill(y)
-(a::AbstractArray) = __of_rank(a, __broadcast(-, a))
+(a::AbstractArray) = a
*(x::Number, a::AbstractArray) = __of_rank(a, __broadcast(*, x, a))
*(a::AbstractArray, x::Number) = __of_rank(a, __broadcast(*, a, x))
/(a::AbstractArray, x::Number) = __of_rank(a, __broadcast(/, a, x))
\(x::Number, a::AbstractArray) = __of_rank(a, __broadcast(/, a, x))
+(a::AbstractArray, b::AbstractArray, c::AbstractArray) = (a + b) + c
# Small powers that are known have no loop.
@inline ^(a::AbstractMatrix, n::Int64) = n == 2 ? a * a : n == 3 ? a * (a * a) : __matrix_power(a, n)
__matrix_power(a, n) = n < 0 ? __power(inv(a), -n) : n == 0 ? one(a) : __power(a, n)

struct UniformScaling{T}
    λ::T
end
const I = __new(UniformScaling{Bool}, true)
*(c::Number, s::UniformScaling) = UniformScaling(c * s.λ)
*(s::UniformScaling, c::Number) = UniformScaling(s.λ * c)
-(s::UniformScaling) = UniformScaling(-s.λ)
*(a::AbstractArray, s::UniformScaling) = a * s.λ
*(s::UniformScaling, a::AbstractArray) = s.λ * a
/(a::AbstractArray, s::UniformScaling) = a / s.λ
\(s::UniformScaling, a::AbstractArray) = a / s.λ
+(a::AbstractMatrix, s::UniformScaling) = __add_scaled(a, s.λ)
+(s::UniformScaling, a::AbstractMatrix) = __add_scaled(a, s.λ)
-(a::AbstractMatrix, s::UniformScaling) = __add_scaled(a, -s.λ)
-(s::UniformScaling, a::AbstractMatrix) = __add_scaled(-a, s.λ)
==(a::AbstractMatrix, s::UniformScaling) = size(a, 1) == size(a, 2) && a == zero(a) + s
==(s::UniformScaling, a::AbstractMatrix) = a == s
isapprox(a::AbstractMatrix, s::UniformScaling; kw...) = isapprox(a, zero(a) + s; kw...)
isapprox(s::UniformScaling, a::AbstractMatrix; kw...) = isapprox(a, s; kw...)
adjoint(s::UniformScaling) = s
getindex(s::UniformScaling, i::Int64, j::Int64) = i == j ? s.λ : zero(s.λ)
function __add_scaled(a, c)
    out = __converted(promote_type(eltype(a), typeof(c)), a)
    for k in 1:size(a, 1)
        out[k, k] += c
    end
    return out
end
function __identity(::Type{T}, n) where T
    out = zeros(T, (n, n))
    for k in 1:n
        out[k, k] = one(T)
    end
    return out
end
(::Type{Array{T, 2}})(s::UniformScaling, m::Int64, n::Int64) where T = __add_scaled(zeros(T, (m, n)), s.λ)

# --- simple quantities ----------------------------------------------------------------------

norm(a::AbstractArray) = __norm(__square_of, sqrt, a)
norm(x::Number) = abs(float(x))
norm(t::Tuple) = __norm(__square_of, sqrt, t)
function norm(a, p::Real)
    p == 2 && return norm(a)
    p == 1 && return float(sum(abs, a))
    p == Inf && return float(maximum(abs, a))
    p == -Inf && return float(minimum(abs, a))
    p == 0 && return float(count(!iszero, a))
    return __norm(x -> __magnitude(x)^p, s -> s^(1 / p), a)
end
__magnitude(x) = abs(float(x))
__square_of(x) = abs2(float(x))
# The root of a sum of powers. Where these overflow or underflow, that of the numbers over the
# largest one. The derivative at zero is 0.
function __norm(power, root, a)
    s = sum(power, a)
    __least_power(s) <= s < Inf && return root(s)
    m = __fold_from(__magnitude, max, zero(s), a)
    isfinite(m) || return m
    scale = ad.ignore(m)
    iszero(scale) && return ad.ignore(root(s))
    return scale * root(sum(x -> power(x / scale), a))
end
# Sums of powers below this may have lost digits of some of them.
__least_power(s) = zero(s)
__least_power(s::Float64) = 1.0e-290
__least_power(s::Float32) = 1.0f-30
normalize(a::AbstractVector) = a / norm(a)
function tr(a::AbstractMatrix)
    size(a, 1) == size(a, 2) || throw(DimensionMismatch(string("matrix is not square: dimensions are ", size(a))))
    s = zero(eltype(a))
    for k in 1:size(a, 1)
        s += a[k, k]
    end
    return s
end
diag(a::AbstractMatrix) = [a[k, k] for k in 1:min(size(a, 1), size(a, 2))]
diagm(v::AbstractVector) = collect(Diagonal(v))
triu(a::AbstractMatrix) = collect(UpperTriangular(a))
tril(a::AbstractMatrix) = collect(LowerTriangular(a))
issymmetric(a::AbstractMatrix) = size(a, 1) == size(a, 2) && a == transpose(a)
kron(a::AbstractArray, b::Number) = a .* b
kron(a::Number, b::AbstractArray) = a .* b
kron(a::Number, b::Number) = a * b
kron(a::AbstractVector, b::AbstractMatrix) = kron(reshape(a, length(a), 1), b)
kron(a::AbstractMatrix, b::AbstractVector) = kron(a, reshape(b, length(b), 1))
kron!(c::AbstractArray, a, b) = copyto!(c, kron(a, b))
function kron(a::AbstractMatrix, b::AbstractMatrix)
    m, n = size(b, 1), size(b, 2)
    out = __zeros_for(a, b, (size(a, 1) * m, size(a, 2) * n))
    for j in 1:size(a, 2)
        for l in 1:n
            for i in 1:size(a, 1)
                v = a[i, j]
                for k in 1:m
                    @inbounds mem.store(out, v * b[k, l], (i - 1) * m + k, (j - 1) * n + l)
                end
            end
        end
    end
    return out
end
function kron(a::AbstractVector, b::AbstractVector)
    n = length(b)
    out = __zeros_for(a, b, (length(a) * n,))
    for i in 1:length(a)
        for k in 1:n
            @inbounds mem.store(out, a[i] * b[k], (i - 1) * n + k)
        end
    end
    return out
end

# --- factorisations -------------------------------------------------------------------------

struct Cholesky{T, P}
    factors::P
end
# The upper factor, row by row; only the upper half of the matrix is read. The factor is the upper
# triangle of `factors`.
function cholesky(a::AbstractMatrix)
    n = size(a, 1)
    n == size(a, 2) || throw(DimensionMismatch(string("matrix is not square: dimensions are ", size(a))))
    T = typeof(sqrt(zero(eltype(a))))
    u = __is_dense(a) && n >= 16 ? __dense_cholesky(a) : __cholesky_loops(a)
    return Cholesky{T, typeof(u)}(u)
end
function __cholesky_loops(a)
    n = size(a, 1)
    T = typeof(sqrt(zero(eltype(a))))
    u = zeros(T, (n, n))
    for j in 1:n
        d = convert(T, a[j, j])
        for k in 1:j-1
            @inbounds d -= conj(u[k, j]) * u[k, j]
        end
        real(d) > 0 || throw(PosDefException(j))
        d = sqrt(d)
        u[j, j] = d
        for i in j+1:n
            s = convert(T, a[j, i])
            for k in 1:j-1
                @inbounds s -= u[k, i] * conj(u[k, j])
            end
            @inbounds u[j, i] = s / d
        end
    end
    return u
end
@inline function getproperty(c::Cholesky, name::Symbol)
    u = data.getfield(c, :factors)
    if name === :L
        return LowerTriangular(adjoint(u))
    elseif name === :U
        return UpperTriangular(u)
    end
    return data.getfield(c, name)
end
size(c::Cholesky) = size(c.factors)
function logdet(c::Cholesky)
    u = c.factors
    s = zero(eltype(u))
    for k in 1:size(u, 1)
        s += log(u[k, k])
    end
    return s + s
end
det(c::Cholesky) = exp(logdet(c))
\(c::Cholesky, b::AbstractArray) = __upper_solution(c.factors, __lower_solution(adjoint(c.factors), b))
inv(c::Cholesky) = c \ __identity(eltype(c.factors), size(c.factors, 1))

@inline __float_copy(a, b) = __converted(typeof(inv(one(eltype(a))) * one(eltype(b))), b)
\(a::LowerTriangular, b::AbstractArray) = __lower_solution(a.data, b)
\(a::UpperTriangular, b::AbstractArray) = __upper_solution(a.data, b)
\(a::Diagonal, b::AbstractVector) = __broadcast(/, b, a.diag)
/(b::AbstractVector, a::Diagonal) = reshape(b, length(b), 1) / a
muladd(a::AbstractMatrix, b::AbstractVecOrMat, c) = a * b .+ c
/(b::AbstractMatrix, a::AbstractMatrix) = collect(adjoint(adjoint(a) \ adjoint(b)))
# Forward and backward substitution, in place, for each column of `b`.
@inline __is_dense_triangle(t, b) = false
@inline __is_dense_triangle(t::Union{Array{T, 2}, Adjoint{T, Array{T, 2}}, Transpose{T, Array{T, 2}}}, b::Union{Array{T, 1}, Array{T, 2}}) where T<:__Float = __by_library()
function __solve_by_library(t, b, upper)
    __check_inner(size(t, 1), size(b, 1), t, b)
    info = __first_zero(t)
    info == 0 || throw(SingularException(info))
    return __dense_solve(__stored(t), b, upper != __is_turned(t), __is_turned(t), false)
end
function __lower_solution(l, b)
    __is_dense_triangle(l, b) && size(l, 1) >= 16 && return __solve_by_library(l, b, false)
    return __solve_lower!(l, __float_copy(l, b))
end
function __upper_solution(u, b)
    __is_dense_triangle(u, b) && size(u, 1) >= 16 && return __solve_by_library(u, b, true)
    return __solve_upper!(u, __float_copy(u, b))
end
function __solve_lower!(l, b)
    n = size(l, 1)
    __check_inner(n, size(b, 1), l, b)
    for c in 1:size(b, 2)
        for j in 1:n
            l[j, j] == 0 && throw(SingularException(j))
            x = b[j, c] / l[j, j]
            b[j, c] = x
            for i in j+1:n
                @inbounds b[i, c] -= l[i, j] * x
            end
        end
    end
    return b
end
function __solve_upper!(u, b)
    n = size(u, 1)
    __check_inner(n, size(b, 1), u, b)
    for c in 1:size(b, 2)
        for j in n:-1:1
            u[j, j] == 0 && throw(SingularException(j))
            x = b[j, c] / u[j, j]
            b[j, c] = x
            for i in 1:j-1
                @inbounds b[i, c] -= u[i, j] * x
            end
        end
    end
    return b
end
setindex!(a::Array{T, 1}, x, i::Int64, j::Int64) where T = setindex!(a, x, __only_one(a, i, j))

# Gaussian elimination with partial pivoting, in one matrix: rows of it, the sign of the
# permutation, and the first column without a pivot (or 0).
__lu(a) = __with_lu(tuple, a)
# What a function makes of these. Here no two results of elimination meet, so that it can be told that what
# is changed is new.
function __with_lu(f, a)
    n = size(a, 1)
    n == size(a, 2) || throw(DimensionMismatch(string("matrix is not square: dimensions are ", size(a))))
    return __is_dense(a) && n >= 16 ? f(__dense_lu(a)...) : f(__lu_loops(a)...)
end
function __lu_loops(a)
    n = size(a, 1)
    u = __converted(typeof(inv(one(eltype(a)))), a)
    rows = collect(1:n)
    sign = 1
    info = 0
    for k in 1:n
        p = k
        for i in k+1:n
            if abs(u[i, k]) > abs(u[p, k])
                p = i
            end
        end
        if u[p, k] == 0
            info = info == 0 ? k : info
        else
            if p != k
                sign = -sign
                rows[k], rows[p] = rows[p], rows[k]
                for j in 1:n
                    x = u[k, j]
                    u[k, j] = u[p, j]
                    u[p, j] = x
                end
            end
            for i in k+1:n
                u[i, k] /= u[k, k]
            end
            for j in k+1:n
                v = u[k, j]
                for i in k+1:n
                    u[i, j] -= u[i, k] * v
                end
            end
        end
    end
    return u, rows, sign, info
end
det(a::AbstractMatrix) = __det(__converted(typeof(inv(one(eltype(a)))), a))
__det(a) = __with_lu(__det_of, a)
function __det_of(u, rows, sign, info)
    d = one(eltype(u))
    for k in 1:size(u, 1)
        d *= u[k, k]
    end
    return d * sign
end
# The derivative of the determinant, for singular matrices as well: its elements are the cofactors.
#
# Elimination with both pivots chosen (the largest element of what is left) makes `P a Q = L U`, so
# that the cofactors are those of triangular matrices. Nothing is divided by the last pivot. If an
# earlier one is 0, all cofactors are; their derivatives then are those of Faddeev's and
# LeVerrier's polynomial. O(n^3), then O(n^4).
function __cofactors(a)
    n = size(a, 1)
    u = copy(a)
    rows = collect(1:n)
    columns = collect(1:n)
    d = one(eltype(u))
    for k in 1:n-1
        p = k
        q = k
        for j in k:n
            for i in k:n
                if abs(u[i, j]) > abs(u[p, q])
                    p = i
                    q = j
                end
            end
        end
        if u[p, q] == 0
            c = __cofactors_by_traces(a)
            return c - ad.ignore(c)
        end
        if p != k
            d = -d
            rows[k], rows[p] = rows[p], rows[k]
            for j in 1:n
                x = u[k, j]
                u[k, j] = u[p, j]
                u[p, j] = x
            end
        end
        if q != k
            d = -d
            columns[k], columns[q] = columns[q], columns[k]
            for i in 1:n
                x = u[i, k]
                u[i, k] = u[i, q]
                u[i, q] = x
            end
        end
        d *= u[k, k]
        for i in k+1:n
            u[i, k] /= u[k, k]
        end
        for j in k+1:n
            v = u[k, j]
            for i in k+1:n
                u[i, j] -= u[i, k] * v
            end
        end
    end
    # The adjugate of U, from the inverse of all but its last row and column and their product `d`.
    m = zeros(eltype(u), (n, n))
    n == 0 && return m
    for j in 1:n-1
        m[j, j] = one(d)
        for i in j:-1:1
            x = m[i, j] / u[i, i]
            m[i, j] = x
            for k in 1:i-1
                m[k, j] -= u[k, i] * x
            end
        end
    end
    for i in 1:n-1
        x = zero(d)
        for k in i:n-1
            x -= m[i, k] * u[k, n]
        end
        m[i, n] = d * x
    end
    for j in 1:n-1
        for i in 1:j
            m[i, j] *= d * u[n, n]
        end
    end
    m[n, n] = d
    # Times the inverse of L, whose diagonal is 1.
    for j in n-1:-1:1
        for k in j+1:n
            v = u[k, j]
            for i in 1:n
                m[i, j] -= m[i, k] * v
            end
        end
    end
    c = zeros(eltype(u), (n, n))
    for j in 1:n
        for i in 1:n
            c[rows[j], columns[i]] = m[i, j]
        end
    end
    return c
end
function __cofactors_by_traces(a)
    n = size(a, 1)
    m = __identity(eltype(a), n)
    for k in 1:n-1
        m = a * m
        x = tr(m) / k
        for i in 1:n
            m[i, i] -= x
        end
    end
    return collect(transpose(iseven(n) ? -m : m))
end
det(a::Union{UpperTriangular, LowerTriangular, Diagonal}) = prod(diag(a))
det(x::Number) = x
logdet(a::AbstractMatrix) = __with_lu(__logdet_of, a)
function __logdet_of(u, rows, sign, info)
    s = zero(eltype(u))
    for k in 1:size(u, 1)
        if u[k, k] < 0
            sign = -sign
        end
        s += log(abs(u[k, k]))
    end
    sign < 0 && throw(DomainError(-1.0, "the determinant is negative"))
    return s
end
function \(a::AbstractMatrix, b::AbstractArray)
    __check_inner(size(a, 1), size(b, 1), a, b)
    return size(a, 1) == size(a, 2) ? __solve(a, b) : __least_squares(a, b)
end
function __solve(a, b)
    __is_dense(a) && __is_dense_triangle(a, b) && size(a, 1) >= 16 && return __solve_dense(a, b)
    return __solve_loops(a, b)
end
function __solve_dense(a, b)
    f, rows = __lu_factors(a)
    info = __first_zero(f)
    info == 0 || throw(SingularException(info))
    return __solve_by_factors(f, rows, b)
end
function __solve_loops(a, b)
    u, rows, sign, info = __lu_loops(a)
    info == 0 || throw(SingularException(info))
    return __solve_by_loops(u, rows, b)
end
# From the factors in one matrix.
function __solve_factored(u, rows, b)
    if __is_dense_triangle(u, b) && size(u, 1) >= 16
        return __solve_by_factors(u, rows, b)
    end
    return __solve_by_loops(u, rows, b)
end
__solve_by_factors(u, rows, b) = __dense_solve(u, __dense_solve(u, __in_rows(b, rows), false, false, true), true, false, false)
function __solve_by_loops(u, rows, b)
    x = __float_copy(u, b)
    for c in 1:size(b, 2)
        for i in 1:size(b, 1)
            x[i, c] = __element(b, rows[i], c)
        end
        # The unit lower triangle.
        for j in 1:size(u, 1)
            v = x[j, c]
            for i in j+1:size(u, 1)
                x[i, c] -= u[i, j] * v
            end
        end
    end
    return __solve_upper!(u, x)
end
inv(a::AbstractMatrix) = a \ __identity(eltype(a), size(a, 1))
