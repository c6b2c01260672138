# Matrices of special forms, orthogonal factors, least squares, the exponential of a matrix.

# --- forms ----------------------------------------------------------------------------------

# Both are told by one of their triangles, `:U` or `:L`.
struct Symmetric{T, P} <: AbstractMatrix{T}
    data::P
    uplo::Symbol
end
struct Hermitian{T, P} <: AbstractMatrix{T}
    data::P
    uplo::Symbol
end
const __Mirrored = Union{Symmetric, Hermitian}
Symmetric(a::AbstractMatrix, uplo::Symbol = :U) = Symmetric{eltype(a), typeof(a)}(a, __checked_uplo(uplo))
Hermitian(a::AbstractMatrix, uplo::Symbol = :U) = Hermitian{eltype(a), typeof(a)}(a, __checked_uplo(uplo))
Symmetric(a::Symmetric) = a
Hermitian(a::Hermitian) = a
__checked_uplo(s) = s === :U || s === :L ? s : throw(ArgumentError(string("uplo argument must be either :U (upper) or :L (lower), found :", s)))
size(a::__Mirrored) = size(a.data)
parent(a::__Mirrored) = a.data
getindex(a::Symmetric, i::Int64, j::Int64) = (a.uplo === :U) == (i <= j) || i == j ? a.data[i, j] : a.data[j, i]
function getindex(a::Hermitian, i::Int64, j::Int64)
    i == j && return convert(eltype(a), real(a.data[i, i]))
    return (a.uplo === :U) == (i < j) ? a.data[i, j] : conj(a.data[j, i])
end
adjoint(a::Hermitian) = a
adjoint(a::Symmetric) = eltype(a) <: Real ? a : Symmetric(conj(a.data), a.uplo)
transpose(a::Symmetric) = a
transpose(a::Hermitian) = eltype(a) <: Real ? a : Hermitian(conj(a.data), a.uplo)
issymmetric(a::AbstractMatrix) = size(a, 1) == size(a, 2) && collect(a) == collect(transpose(a))
ishermitian(a::AbstractMatrix) = size(a, 1) == size(a, 2) && collect(a) == collect(adjoint(a))

# Triangles with ones on the diagonal.
struct UnitUpperTriangular{T, P} <: AbstractMatrix{T}
    data::P
end
struct UnitLowerTriangular{T, P} <: AbstractMatrix{T}
    data::P
end
UnitUpperTriangular(a::AbstractMatrix) = UnitUpperTriangular{eltype(a), typeof(a)}(a)
UnitLowerTriangular(a::AbstractMatrix) = UnitLowerTriangular{eltype(a), typeof(a)}(a)
const __UnitTriangle = Union{UnitUpperTriangular, UnitLowerTriangular}
size(a::__UnitTriangle) = size(a.data)
parent(a::Union{__UnitTriangle, UpperTriangular, LowerTriangular}) = a.data
getindex(a::UnitUpperTriangular{T}, i::Int64, j::Int64) where T = i < j ? a.data[i, j] : i == j ? one(T) : zero(T)
getindex(a::UnitLowerTriangular{T}, i::Int64, j::Int64) where T = i > j ? a.data[i, j] : i == j ? one(T) : zero(T)
adjoint(a::UnitUpperTriangular) = UnitLowerTriangular(adjoint(a.data))
adjoint(a::UnitLowerTriangular) = UnitUpperTriangular(adjoint(a.data))
transpose(a::UnitUpperTriangular) = UnitLowerTriangular(transpose(a.data))
transpose(a::UnitLowerTriangular) = UnitUpperTriangular(transpose(a.data))
\(a::UnitLowerTriangular, b::AbstractArray) = __solve_lower!(a, __float_copy(a, b))
\(a::UnitUpperTriangular, b::AbstractArray) = __solve_upper!(a, __float_copy(a, b))
det(a::__UnitTriangle) = one(eltype(a))
Adjoint(a::AbstractArray) = adjoint(a)
Transpose(a::AbstractArray) = transpose(a)
(s::UniformScaling)(n::Integer) = Diagonal(fill(s.λ, n))
Array(s::UniformScaling, dims::Tuple) = Matrix(s, dims...)
(::Type{Array{T, 2}})(s::UniformScaling, dims::Tuple) where T = Matrix{T}(s, dims[1], dims[2])
Matrix(s::UniformScaling, dims::Tuple) = Matrix(s, dims[1], dims[2])
Matrix(s::UniformScaling, m::Integer, n::Integer) = Matrix{typeof(s.λ)}(s, m, n)
logdet(x::Number) = log(x)
# The logarithm of the size of the determinant, and its sign.
logabsdet(a::AbstractMatrix) = __with_lu(__logabsdet_of, a)
function __logabsdet_of(u, rows, sign, info)
    s = log(abs(one(eltype(u))))
    phase = sign * one(eltype(u))
    for k in 1:size(u, 1)
        s += log(abs(u[k, k]))
        phase *= ad.ignore(Base.sign(u[k, k]))
    end
    return (s, phase)
end

# --- orthogonal factors ---------------------------------------------------------------------

struct QR{Q, R}
    Q::Q
    R::R
end
# By Householder's reflections; `Q` has as many columns as the matrix, or as it has rows if these are fewer.
function qr(a::AbstractMatrix)
    k = min(size(a, 1), size(a, 2))
    if __is_dense(a) && size(a, 1) >= size(a, 2) >= 16
        q, r = __dense_qr(a)
        return QR(q, r)
    end
    f = __reflections(a)
    return QR(__orthogonal(f, k), triu(f[1:k, :]))
end
# The upper factor; below its diagonal the vectors of the reflections, whose first element is 1.
function __reflections(a)
    m, n = size(a)
    f = __converted(typeof(sqrt(one(eltype(a)))), a)
    for k in 1:min(m - 1, n)
        __reflect!(f, k)
    end
    return f
end
function __reflect!(f, k)
    m, n = size(f)
    width = norm(f[k:m, k])
    iszero(width) && return nothing
    x = f[k, k]
    turned = iszero(x) ? oftype(x, width) : x / abs(x) * width
    for i in k+1:m
        f[i, k] /= x + turned
    end
    f[k, k] = -turned
    half = __half_square(f, k)
    for j in k+1:n
        s = f[k, j]
        for i in k+1:m
            s += conj(f[i, k]) * f[i, j]
        end
        s = s / half
        f[k, j] -= s
        for i in k+1:m
            f[i, j] -= s * f[i, k]
        end
    end
    return nothing
end
# Half the square of the length of the vector of a reflection.
function __half_square(f, k)
    s = abs2(one(eltype(f)))
    for i in k+1:size(f, 1)
        s += abs2(f[i, k])
    end
    return s / 2
end
function __orthogonal(f, n)
    m = size(f, 1)
    q = zeros(eltype(f), (m, n))
    for k in 1:n
        q[k, k] = one(eltype(f))
    end
    for k in min(m - 1, size(f, 2)):-1:1
        # Of a column of zeros nothing was taken away.
        iszero(f[k, k]) && continue
        half = __half_square(f, k)
        for j in k:n
            s = q[k, j]
            for i in k+1:m
                s += conj(f[i, k]) * q[i, j]
            end
            s = s / half
            q[k, j] -= s
            for i in k+1:m
                q[i, j] -= s * f[i, k]
            end
        end
    end
    return q
end
__destructure(f::QR, k::Int64) = k == 1 ? f.Q : f.R
\(f::QR, b::AbstractArray) = UpperTriangular(f.R) \ (adjoint(f.Q) * b)
# The least squares solution; the shortest one where there are several.
function __least_squares(a, b)
    m, n = size(a)
    m >= n && return qr(a) \ b
    f = qr(collect(adjoint(a)))
    return f.Q * (LowerTriangular(adjoint(f.R)) \ b)
end
pinv(x::Number) = iszero(x) ? zero(inv(one(x))) : inv(x)

# --- functions of matrices ------------------------------------------------------------------

# By scaling and squaring with a Padé approximant of order 13 (Higham, "The scaling and squaring method for the
# matrix exponential revisited", 2005).
function exp(a::AbstractMatrix)
    size(a, 1) == size(a, 2) || throw(DimensionMismatch(string("matrix is not square: dimensions are ", size(a))))
    size(a, 1) == 0 && return float.(collect(a))
    width = ad.ignore(maximum(sum(abs.(a); dims = 1)))
    squarings = width > 5.4 ? max(0, ceil(Int64, log2(width / 5.4))) : 0
    x = a / 2.0^squarings
    b = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
        10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)
    x2 = x * x
    x4 = x2 * x2
    x6 = x4 * x2
    u = x * (x6 * (b[14] * x6 + b[12] * x4 + b[10] * x2) + b[8] * x6 + b[6] * x4 + b[4] * x2 + b[2] * I)
    v = x6 * (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * I
    y = (v - u) \ (v + u)
    for _ in 1:squarings
        y = y * y
    end
    return y
end
