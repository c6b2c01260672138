# Factorisations as values: LU, Cholesky, QR, eigenvalues, Schur form, singular values; what is computed of them.

checksquare(a::AbstractMatrix) = size(a, 1) == size(a, 2) ? size(a, 1) : throw(DimensionMismatch(string("matrix is not square: dimensions are ", size(a))))
__float_matrix(a) = __converted(float(eltype(a)), a)

# --- LU -------------------------------------------------------------------------------------

struct LU{T, S, P}
    factors::S
    p::P
    info::Int64
end
function lu(a::AbstractMatrix; check::Bool = true)
    f = __any_lu(a)
    check && f.info != 0 && throw(SingularException(f.info))
    return f
end
lu(f::LU) = f
lu!(a::AbstractMatrix; check::Bool = true) = lu(a; check)
__any_lu(a) = __lu_object(__lu_of(a)...)
__lu_object(factors, rows, info) = LU{eltype(factors), typeof(factors), typeof(rows)}(factors, rows, info)
function __lu_of(a)
    if size(a, 1) == size(a, 2)
        u, rows, sign, info = __lu(a)
        return (u, rows, info)
    end
    f, rows = __lu_factors(__float_matrix(a))
    return (f, rows, __first_zero(f))
end
function getproperty(f::LU, name::Symbol)
    u = data.getfield(f, :factors)
    name === :L && return __lower_factor(u)
    name === :U && return __upper_factor(u)
    name === :P && return __permutation_matrix(eltype(u), data.getfield(f, :p))
    return data.getfield(f, name)
end
function __lower_factor(u)
    m = size(u, 1)
    k = min(m, size(u, 2))
    out = zeros(eltype(u), (m, k))
    for j in 1:k
        out[j, j] = one(eltype(u))
        for i in j+1:m
            out[i, j] = u[i, j]
        end
    end
    return out
end
function __upper_factor(u)
    n = size(u, 2)
    k = min(size(u, 1), n)
    out = zeros(eltype(u), (k, n))
    for j in 1:n
        for i in 1:min(j, k)
            out[i, j] = u[i, j]
        end
    end
    return out
end
function __permutation_matrix(::Type{T}, rows) where T
    out = zeros(T, (length(rows), length(rows)))
    for i in 1:length(rows)
        out[i, rows[i]] = one(T)
    end
    return out
end
__destructure(f::LU, k::Int64) = k == 1 ? f.L : k == 2 ? f.U : f.p
size(f::LU) = size(f.factors)
size(f::LU, k::Int64) = size(f.factors, k)
issuccess(f::LU) = f.info == 0
function det(f::LU)
    checksquare(f.factors)
    d = one(eltype(f.factors))
    for k in 1:size(f.factors, 1)
        d *= f.factors[k, k]
    end
    return d * __parity(f.p)
end
function logabsdet(f::LU)
    checksquare(f.factors)
    return __logabsdet_of(f.factors, f.p, __parity(f.p), 0)
end
function logdet(f::LU)
    s, phase = logabsdet(f)
    phase == 1 || throw(DomainError(-1.0, "the determinant is negative"))
    return s
end
function \(f::LU, b::AbstractArray)
    checksquare(f.factors)
    __check_inner(size(f.factors, 1), size(b, 1), f.factors, b)
    f.info == 0 || throw(SingularException(f.info))
    return __solve_factored(f.factors, f.p, b)
end
inv(f::LU) = f \ __identity(eltype(f.factors), size(f.factors, 1))
/(b::AbstractMatrix, f::LU) = b / __product_of(f)
Matrix(f::LU) = __product_of(f)
Array(f::LU) = __product_of(f)
__product_of(f::LU) = (f.L * f.U)[invperm(f.p), :]

# --- Cholesky -------------------------------------------------------------------------------

cholesky(x::Number) = real(x) > 0 ? Cholesky{typeof(sqrt(x)), Matrix{typeof(sqrt(x))}}(fill(sqrt(x), 1, 1)) : throw(PosDefException(1))
cholesky!(a::AbstractMatrix) = cholesky(a)
cholesky(f::Cholesky) = f
isposdef(a::AbstractMatrix) = ishermitian(a) && __has_factor(a)
isposdef(x::Number) = real(x) > 0 && imag(x) == 0
__has_factor(a) = __try_factor(a)
function __try_factor(a)
    try
        cholesky(a)
    catch e
        e isa PosDefException && return false
        rethrow()
    end
    return true
end
issuccess(f::Cholesky) = true
logabsdet(f::Cholesky) = (logdet(f), one(eltype(f.factors)))
size(f::Cholesky, k::Int64) = size(f.factors, k)
Matrix(f::Cholesky) = collect(f.L * f.U)
Array(f::Cholesky) = Matrix(f)
/(b::AbstractMatrix, f::Cholesky) = collect(adjoint(f \ collect(adjoint(b))))
# What is decomposed is its own adjoint.
adjoint(f::Cholesky) = f
__destructure(f::Cholesky, k::Int64) = k == 1 ? f.L : f.U
Matrix(f::QR) = f.Q * f.R
Array(f::QR) = f.Q * f.R
size(f::QR) = (size(f.Q, 1), size(f.R, 2))
qr!(a::AbstractMatrix) = qr(a)

# --- eigenvalues ----------------------------------------------------------------------------

struct Eigen{T, V, S, U}
    values::U
    vectors::S
end
__eigen_object(values, vectors) = Eigen{eltype(vectors), eltype(values), typeof(vectors), typeof(values)}(values, vectors)
const __SymmetricForm = Union{Symmetric{<:Real}, Hermitian{<:Real}, Diagonal{<:Real}}
eigen(a::__SymmetricForm) = __eigen_object(__symmetric_eigen(__float_matrix(a))...)
function eigen(a::AbstractMatrix)
    checksquare(a)
    f = __float_matrix(a)
    __is_symmetric(f) && return __eigen_object(__symmetric_eigen(__middle(f))...)
    return __general_eigen(f)
end
eigen(a::AbstractMatrix{<:Complex}) = __hermitian_object(__known_hermitian(a))
eigen!(a::AbstractMatrix) = eigen(a)
__is_symmetric(f) = ad.ignore(issymmetric(f))
# The symmetric part, so that derivatives are symmetric.
__middle(f) = (f + transpose(f)) / 2
__destructure(f::Eigen, k::Int64) = k == 1 ? f.values : f.vectors
eigvals(f::Eigen) = f.values
eigvecs(f::Eigen) = f.vectors
eigvecs(a::AbstractMatrix) = eigen(a).vectors
eigvals(a::__SymmetricForm) = __symmetric_eigen(__float_matrix(a))[1]
function eigvals(a::AbstractMatrix)
    checksquare(a)
    f = __float_matrix(a)
    __is_symmetric(f) && return __symmetric_eigen(__middle(f))[1]
    re, im_part = __general_values(f)
    return iszero(ad.ignore(im_part)) ? re : complex.(re, im_part)
end
eigvals(a::AbstractMatrix{<:Complex}) = __hermitian_values(__known_hermitian(a))
eigvals(x::Number) = [x]
eigvals!(a::AbstractMatrix) = eigvals(a)
eigmax(a::AbstractMatrix) = maximum(__real_values(eigvals(a)))
eigmin(a::AbstractMatrix) = minimum(__real_values(eigvals(a)))
__real_values(s) = s
__real_values(s::AbstractVector{<:Complex}) = throw(DomainError(s, "the matrix has complex eigenvalues"))
det(f::Eigen) = prod(f.values)
inv(f::Eigen) = f.vectors * Diagonal(inv.(f.values)) * inv(f.vectors)
Matrix(f::Eigen) = f.vectors * Diagonal(f.values) * inv(f.vectors)
Array(f::Eigen) = Matrix(f)

# Of any real matrix, from its Schur form. Real and imaginary parts, sorted by both.
function __general_values(a)
    t, q = __dense_schur(a)
    re, im_part = __schur_values(t)
    order = __by_parts(re, im_part)
    return (re[order], im_part[order])
end
__by_parts(re, im_part) = sortperm([(re[k], im_part[k]) for k in 1:length(re)])
# Blocks of the diagonal: pairs of conjugate numbers have one of size 2.
function __schur_values(t)
    n = size(t, 1)
    re = zeros(eltype(t), n)
    im_part = zeros(eltype(t), n)
    k = 1
    while k <= n
        if k < n && t[k + 1, k] != 0
            middle = (t[k, k] + t[k + 1, k + 1]) / 2
            half = (t[k, k] - t[k + 1, k + 1]) / 2
            square = half * half + t[k, k + 1] * t[k + 1, k]
            root = sqrt(abs(square))
            re[k] = square < 0 ? middle : middle + root
            re[k + 1] = square < 0 ? middle : middle - root
            im_part[k] = square < 0 ? root : zero(root)
            im_part[k + 1] = square < 0 ? -root : zero(root)
            k += 2
        else
            re[k] = t[k, k]
            k += 1
        end
    end
    return re, im_part
end
function __general_eigen(a)
    re, im_part, vr, vi = __general_parts(a)
    iszero(ad.ignore(im_part)) && return __eigen_object(re, vr)
    return __eigen_object(complex.(re, im_part), complex.(vr, vi))
end
# Real and imaginary parts of the values and of the vectors.
function __general_parts(a)
    t, q = __dense_schur(a)
    re, im_part = __schur_values(t)
    v = __schur_vectors(t, re, im_part)
    v = complex.(q * real(v), q * imag(v))
    for j in 1:size(a, 1)
        __normalize_column!(v, j)
    end
    order = __by_parts(re, im_part)
    v = v[:, order]
    return (re[order], im_part[order], real(v), imag(v))
end
# Length 1; of complex ones, the largest element is made real.
function __normalize_column!(v, j)
    width = sqrt(sum(abs2, v[:, j]))
    most = __largest_in(v, j)
    turn = conj(v[most, j]) / abs(v[most, j]) / width
    any(!iszero, imag(v[:, j])) || (turn = one(turn) / width)
    for i in 1:size(v, 1)
        v[i, j] *= turn
    end
    return nothing
end
function __largest_in(v, j)
    most = 1
    for i in 2:size(v, 1)
        if abs2(v[i, j]) > abs2(v[most, j])
            most = i
        end
    end
    return most
end
# Of a real Schur form, by substitution from the last row to the first; blocks of size 2 are solved at once.
function __schur_vectors(t, re, im_part)
    n = size(t, 1)
    T = complex(eltype(t))
    least = eps(eltype(t)) * max(maximum(abs, t), floatmin(eltype(t)))
    v = zeros(T, (n, n))
    for c in 1:n
        x = complex(re[c], im_part[c])
        top = c
        v[c, c] = one(T)
        if im_part[c] > 0
            v[c, c] = complex(t[c, c + 1])
            v[c + 1, c] = x - t[c, c]
        elseif im_part[c] < 0
            top = c - 1
            v[c - 1, c] = complex(t[c - 1, c])
            v[c, c] = x - t[c - 1, c - 1]
        elseif c > 1 && t[c, c - 1] != 0
            top = c - 1
            v[c - 1, c] = x - t[c, c]
            v[c, c] = complex(t[c, c - 1])
        elseif c < n && t[c + 1, c] != 0
            v[c, c] = complex(t[c, c + 1])
            v[c + 1, c] = x - t[c, c]
        end
        last_row = im_part[c] > 0 || (c < n && t[c + 1, c] != 0) ? c + 1 : c
        i = top - 1
        while i >= 1
            s = __row_times(t, v, i, c, i + 1, last_row)
            if i > 1 && t[i, i - 1] != 0
                r = __row_times(t, v, i - 1, c, i + 1, last_row)
                a11 = t[i - 1, i - 1] - x
                a22 = t[i, i] - x
                d = a11 * a22 - t[i - 1, i] * t[i, i - 1]
                d = abs(d) < least * least ? oftype(d, least * least) : d
                v[i - 1, c] = (t[i - 1, i] * s - a22 * r) / d
                v[i, c] = (t[i, i - 1] * r - a11 * s) / d
                i -= 2
            else
                d = t[i, i] - x
                d = abs(d) < least ? oftype(d, least) : d
                v[i, c] = -s / d
                i -= 1
            end
        end
    end
    return v
end
function __row_times(t, v, i, c, from, to)
    s = zero(eltype(v))
    for k in from:to
        s += t[i, k] * v[k, c]
    end
    return s
end

# --- Schur form -----------------------------------------------------------------------------

struct Schur{T, S, V}
    T::S
    Z::S
    values::V
end
function schur(a::AbstractMatrix)
    checksquare(a)
    t, q = __dense_schur(__float_matrix(a))
    re, im_part = __schur_values(t)
    return __schur_object(t, q, iszero(im_part) ? re : complex.(re, im_part))
end
__schur_object(t, q, values) = Schur{eltype(t), typeof(t), typeof(values)}(t, q, values)
@inline function getproperty(f::Schur, name::Symbol)
    name === :vectors && return data.getfield(f, :Z)
    name === :Schur && return data.getfield(f, :T)
    return data.getfield(f, name)
end
__destructure(f::Schur, k::Int64) = k == 1 ? f.T : k == 2 ? f.Z : f.values

# --- singular values ------------------------------------------------------------------------

struct SVD{T, R, M, C}
    U::M
    S::C
    Vt::M
end
__svd_object(u, s, vt) = SVD{eltype(u), eltype(s), typeof(u), typeof(s)}(u, s, vt)
function svd(a::AbstractMatrix; full::Bool = false)
    u, s, vt = __thin_svd(__float_matrix(a))
    full || return __svd_object(u, s, vt)
    return __svd_object(__completed(u), s, collect(transpose(__completed(collect(transpose(vt))))))
end
svd!(a::AbstractMatrix) = svd(a)
# Orthonormal columns, and those that are orthogonal to all of them.
function __completed(q)
    m, k = size(q)
    return m == k ? q : hcat(q, __orthogonal(__reflections(q), m)[:, k+1:m])
end
@inline function getproperty(f::SVD, name::Symbol)
    name === :V && return adjoint(data.getfield(f, :Vt))
    return data.getfield(f, name)
end
__destructure(f::SVD, k::Int64) = k == 1 ? f.U : k == 2 ? f.S : f.V
size(f::SVD) = (size(f.U, 1), size(f.Vt, 2))
svdvals(a::AbstractMatrix) = svd(a).S
svdvals(f::SVD) = f.S
svdvals(x::Number) = [abs(x)]
svdvals!(a::AbstractMatrix) = svdvals(a)
Matrix(f::SVD) = f.U * (f.S .* f.Vt)
Array(f::SVD) = Matrix(f)
\(f::SVD, b::AbstractArray) = __svd_solve(f, b)
function __svd_solve(f, b)
    limit = eps(eltype(f.S)) * f.S[1]
    k = count(>(limit), ad.ignore(f.S))
    x = adjoint(f.U[:, 1:k]) * b
    return adjoint(f.Vt[1:k, :]) * (x ./ f.S[1:k])
end
inv(f::SVD) = f \ __identity(eltype(f.U), size(f.U, 1))
function rank(a::AbstractMatrix; atol::Real = 0.0, rtol::Real = min(size(a, 1), size(a, 2)) * eps(float(real(eltype(a)))) * iszero(atol))
    s = svdvals(a)
    isempty(s) && return 0
    return count(>(max(atol, rtol * s[1])), s)
end
rank(x::Number) = iszero(x) ? 0 : 1
cond(a::AbstractMatrix) = cond(a, 2)
function cond(a::AbstractMatrix, p::Real)
    p == 2 || return opnorm(a, p) * opnorm(inv(a), p)
    s = svdvals(a)
    isempty(s) && return zero(eltype(s))
    return iszero(s[end]) ? oftype(s[1], Inf) : s[1] / s[end]
end
cond(x::Number) = iszero(x) ? Inf : 1.0
cond(f::SVD) = f.S[1] / f.S[end]
opnorm(a::AbstractMatrix) = opnorm(a, 2)
function opnorm(a::AbstractMatrix, p::Real)
    p == 2 && return length(a) == 0 ? zero(float(real(eltype(a)))) : svdvals(a)[1]
    p == 1 && return float(maximum(sum(abs.(a); dims = 1)))
    p == Inf && return float(maximum(sum(abs.(a); dims = 2)))
    throw(ArgumentError(string("invalid p-norm p=", p, ". Valid: 1, 2, Inf")))
end
opnorm(a::AbstractVector) = norm(a)
opnorm(x::Number) = abs(float(x))
function nullspace(a::AbstractMatrix; atol::Real = 0.0, rtol::Real = min(size(a, 1), size(a, 2)) * eps(float(real(eltype(a)))) * iszero(atol))
    f = svd(a; full = true)
    k = count(>(max(atol, rtol * f.S[1])), f.S)
    return collect(adjoint(f.Vt[k+1:size(a, 2), :]))
end
# The shortest of the best solutions, whatever the rank.
function pinv(a::AbstractMatrix)
    ad.ignore(rank(a)) == min(size(a, 1), size(a, 2)) && return __least_squares(a, __identity(eltype(a), size(a, 1)))
    f = svd(a)
    return __svd_solve(f, __identity(eltype(f.U), size(a, 1)))
end

# --- equations ------------------------------------------------------------------------------

# `a x + x b + c = 0` as one system of equations for all elements: O((m n)^3).
function sylvester(a::AbstractMatrix, b::AbstractMatrix, c::AbstractMatrix)
    m, n = checksquare(a), checksquare(b)
    size(c) == (m, n) || throw(DimensionMismatch(string("the third matrix has size ", size(c), ", not ", (m, n))))
    k = kron(__identity(eltype(a), n), a) + kron(collect(transpose(b)), __identity(eltype(b), m))
    return reshape(-(k \ vec(collect(c))), m, n)
end
lyap(a::AbstractMatrix, c::AbstractMatrix) = sylvester(a, collect(adjoint(a)), c)
lyap(a::Number, c::Number) = -c / (2 * real(a))

sqrt(a::Diagonal) = Diagonal(sqrt.(a.diag))
log(a::Diagonal) = Diagonal(log.(a.diag))
exp(a::Diagonal) = Diagonal(exp.(a.diag))

# --- in place -------------------------------------------------------------------------------

const __Factors = Union{LU, Cholesky, QR, SVD}
ldiv!(f::Union{__Factors, AbstractMatrix}, b::AbstractArray) = copyto!(b, f \ b)
ldiv!(y::AbstractArray, f::Union{__Factors, AbstractMatrix}, b::AbstractArray) = copyto!(y, f \ b)
ldiv!(c::Number, b::AbstractArray) = __broadcast!(\, b, c, b)
rdiv!(b::AbstractMatrix, f::Union{__Factors, AbstractMatrix}) = copyto!(b, b / f)
rdiv!(b::AbstractArray, c::Number) = __broadcast!(/, b, b, c)
lmul!(a::AbstractMatrix, b::AbstractArray) = copyto!(b, a * b)
rmul!(b::AbstractArray, a::AbstractMatrix) = copyto!(b, b * a)
function mul!(out::AbstractArray, a, b, α::Number, β::Number)
    p = a * b
    __check_dest(out, size(p))
    for k in eachindex(out)
        out[k] = iszero(β) ? p[k] * α : p[k] * α + out[k] * β
    end
    return out
end
function normalize!(a::AbstractArray, p::Real = 2)
    return rdiv!(a, norm(a, p))
end
normalize(a::AbstractArray, p::Real) = a / norm(a, p)
transpose!(out::AbstractMatrix, a::AbstractMatrix) = copyto!(out, transpose(a))
adjoint!(out::AbstractMatrix, a::AbstractMatrix) = copyto!(out, adjoint(a))

# --- parts of matrices ----------------------------------------------------------------------

diag(a::AbstractMatrix, k::Integer) = [a[max(1, 1 - k) + i, max(1, 1 + k) + i] for i in 0:min(size(a, 1) - max(0, -k), size(a, 2) - max(0, k))-1]
function diagm(parts::Pair...)
    n = maximum([length(last(p)) + abs(first(p)) for p in parts])
    return __diagonals(n, n, parts)
end
function __diagonals(m, n, parts)
    T = mapreduce(p -> eltype(last(p)), promote_type, parts)
    out = zeros(T, (m, n))
    for p in parts
        k = first(p)
        v = last(p)
        for i in 1:length(v)
            out[i + max(0, -k), i + max(0, k)] += v[i]
        end
    end
    return out
end
diagm(m::Integer, n::Integer, parts::Pair...) = __diagonals(m, n, parts)
diagm(m::Integer, n::Integer, v::AbstractVector) = __diagonals(m, n, (0 => v,))
triu(a::AbstractMatrix, k::Integer) = __kept(a, (i, j) -> j - i >= k)
tril(a::AbstractMatrix, k::Integer) = __kept(a, (i, j) -> j - i <= k)
function __kept(a, keeps)
    out = zeros(eltype(a), size(a))
    for j in 1:size(a, 2)
        for i in 1:size(a, 1)
            if keeps(i, j)
                out[i, j] = a[i, j]
            end
        end
    end
    return out
end
triu!(a::AbstractMatrix, k::Integer = 0) = copyto!(a, triu(a, k))
tril!(a::AbstractMatrix, k::Integer = 0) = copyto!(a, tril(a, k))
istriu(a::AbstractMatrix, k::Integer = 0) = all(iszero, [a[i, j] for j in 1:size(a, 2) for i in 1:size(a, 1) if j - i < k])
istril(a::AbstractMatrix, k::Integer = 0) = all(iszero, [a[i, j] for j in 1:size(a, 2) for i in 1:size(a, 1) if j - i > k])
isdiag(a::AbstractMatrix) = istriu(a) && istril(a)

# Matrices of a few diagonals.
struct Tridiagonal{T, V} <: AbstractMatrix{T}
    dl::V
    d::V
    du::V
end
struct SymTridiagonal{T, V} <: AbstractMatrix{T}
    dv::V
    ev::V
end
struct Bidiagonal{T, V} <: AbstractMatrix{T}
    dv::V
    ev::V
    uplo::Char
end
Tridiagonal(dl::V, d::V, du::V) where V<:AbstractVector = Tridiagonal{eltype(d), V}(dl, d, du)
SymTridiagonal(dv::V, ev::V) where V<:AbstractVector = SymTridiagonal{eltype(dv), V}(dv, ev)
Bidiagonal(dv::V, ev::V, uplo::Symbol) where V<:AbstractVector = Bidiagonal{eltype(dv), V}(dv, ev, __checked_uplo(uplo) === :U ? 'U' : 'L')
Bidiagonal(dv::V, ev::V, uplo::Char) where V<:AbstractVector = Bidiagonal(dv, ev, Symbol(uplo))
Tridiagonal(a::AbstractMatrix) = Tridiagonal(diag(a, -1), diag(a), diag(a, 1))
SymTridiagonal(a::AbstractMatrix) = SymTridiagonal(diag(a), diag(a, 1))
const __Banded = Union{Tridiagonal, SymTridiagonal, Bidiagonal}
size(a::Tridiagonal) = (length(a.d), length(a.d))
size(a::Union{SymTridiagonal, Bidiagonal}) = (length(a.dv), length(a.dv))
getindex(a::Tridiagonal{T}, i::Int64, j::Int64) where T = i == j ? a.d[i] : i == j + 1 ? a.dl[j] : j == i + 1 ? a.du[i] : zero(T)
getindex(a::SymTridiagonal{T}, i::Int64, j::Int64) where T = i == j ? a.dv[i] : abs(i - j) == 1 ? a.ev[min(i, j)] : zero(T)
getindex(a::Bidiagonal{T}, i::Int64, j::Int64) where T = i == j ? a.dv[i] : j - i == (a.uplo == 'U' ? 1 : -1) ? a.ev[min(i, j)] : zero(T)
transpose(a::Tridiagonal) = Tridiagonal(a.du, a.d, a.dl)
adjoint(a::Tridiagonal{<:Real}) = transpose(a)
transpose(a::SymTridiagonal) = a
transpose(a::Bidiagonal) = Bidiagonal(a.dv, a.ev, a.uplo == 'U' ? :L : :U)
adjoint(a::Bidiagonal{<:Real}) = transpose(a)
adjoint(a::SymTridiagonal{<:Real}) = a
__shown(a::__Banded) = collect(a)
