# Hermitian matrices: the eigenvalues of complex ones, and functions of any.

# Only the lower triangle is looked at, and no imaginary part of the diagonal.
function __hermitian_eigen(re::Array{T, 2}, im_part::Array{T, 2}) where T
    __check_finite(re)
    __check_finite(im_part)
    vr = copy(re)
    vi = copy(im_part)
    values = mem.alloc(Array{T, 1}, size(re, 1))
    for k in 1:size(re, 1)
        vi[k, k] = zero(T)
    end
    linalg.eigen_hermitian(vr, vi, values) || throw(ErrorException("the eigenvalues are not found"))
    for j in 1:size(vr, 2)
        __turn_to_real!(vr, vi, j)
    end
    return (values, vr, vi)
end
# Vectors are found up to a phase; the last element that is not small is made real and positive.
function __real_place(vr, vi, j)
    for i in size(vr, 1):-1:1
        hypot(vr[i, j], vi[i, j]) > 1.0e-8 && return i
    end
    return size(vr, 1)
end
function __turn_to_real!(vr, vi, j)
    i = __real_place(vr, vi, j)
    turn = conj(complex(vr[i, j], vi[i, j])) / hypot(vr[i, j], vi[i, j])
    for k in 1:size(vr, 1)
        z = complex(vr[k, j], vi[k, j]) * turn
        vr[k, j] = real(z)
        vi[k, j] = k == i ? zero(real(z)) : imag(z)
    end
    return nothing
end
__known_hermitian(a::Hermitian) = collect(a)
__known_hermitian(a) = ad.ignore(ishermitian(a)) ? collect(a) : throw(ArgumentError("eigenvalues of complex matrices that are not Hermitian are not there"))
function __hermitian_object(a)
    s, vr, vi = __hermitian_eigen(float.(real(a)), float.(imag(a)))
    return __eigen_object(s, complex.(vr, vi))
end
__hermitian_values(a) = __hermitian_eigen(float.(real(a)), float.(imag(a)))[1]

# As of a real matrix; besides, each vector turns so that the same element stays real.
function frule(t, ::typeof(__hermitian_eigen), re::Array{T, 2}, im_part::Array{T, 2}) where T
    s, vr, vi = __hermitian_eigen(re, im_part)
    v = complex.(vr, vi)
    m = adjoint(v) * __middle_of(complex.(__or_zeros(t[2], re), __or_zeros(t[3], im_part))) * v
    d = v * (__over_differences(s) .* m)
    for j in 1:length(s)
        i = __real_place(vr, vi, j)
        turn = complex(zero(T), -imag(d[i, j]) / vr[i, j])
        for k in 1:length(s)
            d[k, j] += turn * v[k, j]
        end
    end
    return ((s, vr, vi), (real.(__diagonal_of(m)), real(d), imag(d)))
end
__middle_of(a) = (a + adjoint(a)) / 2
struct __HermitianBack{S, V, T}
    s::S
    v::V
    vr::T
end
function (p::__HermitianBack)(dy)
    s, v = p.s, p.v
    g = complex.(__or_zeros(dy[2], p.vr), __or_zeros(dy[3], p.vr))
    for j in 1:length(s)
        i = __real_place(real(v), imag(v), j)
        turned = sum(imag.(v[:, j] .* conj.(g[:, j])))
        g[i, j] += complex(zero(turned), turned / real(v[i, j]))
    end
    m = __over_differences(s) .* (adjoint(v) * g)
    d = __middle_of(v * __plus_diagonal(m, __or_zeros(dy[1], s)) * adjoint(v))
    return (nothing, real(d), imag(d))
end
function rrule(::typeof(__hermitian_eigen), re::Array{T, 2}, im_part::Array{T, 2}) where T
    s, vr, vi = __hermitian_eigen(re, im_part)
    return ((s, vr, vi), __HermitianBack(copy(s), complex.(vr, vi), copy(vr)))
end

# --- functions ------------------------------------------------------------------------------

# Where an eigenvalue is outside of the domain, the values are complex.
struct __Complexly{F}
    f::F
end
@inline (c::__Complexly)(x) = c.f(complex(x))
struct __PowerOf{T}
    p::T
end
@inline (f::__PowerOf)(x) = iszero(x) && iszero(f.p) ? one(x) : x^f.p

@inline __slope(c::__Complexly, x) = __slope(c.f, complex(x))
@inline __slope(f::__PowerOf, x) = iszero(f.p) ? zero(x) : f.p * x^(f.p - 1)
@inline __slope(::typeof(exp), x) = exp(x)
@inline __slope(::typeof(log), x) = inv(x)
@inline __slope(::typeof(sqrt), x) = inv(2 * sqrt(x))
@inline __slope(::typeof(sin), x) = cos(x)
@inline __slope(::typeof(cos), x) = -sin(x)
@inline __slope(::typeof(tan), x) = 1 + tan(x)^2
@inline __slope(::typeof(sinh), x) = cosh(x)
@inline __slope(::typeof(cosh), x) = sinh(x)
@inline __slope(::typeof(tanh), x) = 1 - tanh(x)^2
@inline __slope(::typeof(asin), x) = inv(sqrt(1 - x^2))
@inline __slope(::typeof(acos), x) = -inv(sqrt(1 - x^2))
@inline __slope(::typeof(atan), x) = inv(1 + x^2)
@inline __slope(::typeof(asinh), x) = inv(sqrt(1 + x^2))
@inline __slope(::typeof(acosh), x) = inv(sqrt(x - 1) * sqrt(x + 1))
@inline __slope(::typeof(atanh), x) = inv(1 - x^2)

# Of `re + im * i`, which is Hermitian: the real and the imaginary part of the function of it.
function __of_hermitian(f, re::Array{T, 2}, im_part::Array{T, 2}) where T
    s, vr, vi = __hermitian_eigen(re, im_part)
    return __from_values(f.(s), complex.(vr, vi))
end
function __from_values(y, v)
    out = v * (y .* adjoint(v))
    return (real(out), imag(out))
end
# Divided differences; of values that are nearly equal the slope between them (Daleckii and Krein, 1965; Higham,
# "Functions of Matrices", 2008, section 3.2).
function __divided_differences(f, s, y)
    n = length(s)
    out = zeros(typeof(one(eltype(y)) / 2), (n, n))
    least = 64 * eps(one(eltype(s))) * norm(s)
    for j in 1:n, i in 1:n
        d = s[i] - s[j]
        if abs(d) <= max(least, 6.0e-6 * (abs(s[i]) + abs(s[j])))
            out[i, j] = __slope(f, (s[i] + s[j]) / 2)
        else
            out[i, j] = (y[i] - y[j]) / d
        end
    end
    return out
end
function frule(t, ::typeof(__of_hermitian), f, re::Array{T, 2}, im_part::Array{T, 2}) where T
    s, vr, vi = __hermitian_eigen(re, im_part)
    v = complex.(vr, vi)
    y = f.(s)
    m = adjoint(v) * __middle_of(complex.(__or_zeros(t[3], re), __or_zeros(t[4], im_part))) * v
    m = __divided_differences(f, s, y) .* m
    m = __plus_diagonal(m, __by_function(f, t[2], s))
    d = v * m * adjoint(v)
    return (__from_values(y, v), (real(d), imag(d)))
end
# The change of the values by a change of the exponent.
__by_function(f, df, s) = zero(s)
__by_function(c::__Complexly, df, s) = df === nothing ? zero(s) : __by_function(c.f, df.f, complex.(s))
__by_function(f::__PowerOf, df, s) = df === nothing || df.p === nothing ? zero(s) : df.p .* __by_exponent(f, s)
__by_exponent(f, s) = map(x -> iszero(x) ? zero(x) : x^f.p * __log_of(x), s)
# A negative number has a power where the exponent is whole: the real part of how it changes.
@inline __log_of(x::Real) = log(abs(x))
@inline __log_of(x) = log(x)
struct __FunctionBack{F, S, Y, V, T}
    f::F
    s::S
    y::Y
    v::V
    re::T
end
function (p::__FunctionBack)(dy)
    v = p.v
    m = adjoint(v) * complex.(__or_zeros(dy[1], p.re), __or_zeros(dy[2], p.re)) * v
    d = __middle_of(v * (conj(__divided_differences(p.f, p.s, p.y)) .* m) * adjoint(v))
    return (nothing, __to_function(p.f, __diagonal_of(m), p.s), real(d), imag(d))
end
__to_function(f, g, s) = nothing
__to_function(c::__Complexly, g, s) = __of_inner(__to_function(c.f, g, complex.(s)))
__of_inner(df) = df === nothing ? nothing : (f = df,)
__to_function(f::__PowerOf, g, s) = (p = sum(real.(conj.(g) .* __by_exponent(f, s))),)
function rrule(::typeof(__of_hermitian), f, re::Array{T, 2}, im_part::Array{T, 2}) where T
    s, vr, vi = __hermitian_eigen(re, im_part)
    v = complex.(vr, vi)
    y = f.(s)
    return (__from_values(y, v), __FunctionBack(f, copy(s), copy(y), v, copy(re)))
end

# The function of a matrix that is `Symmetric` or `Hermitian`; `inside` tells the eigenvalues with real values.
function __of_form(f, inside, a)
    m = collect(a)
    re, im_part = float.(real(m)), float.(imag(m))
    if all(inside, ad.ignore(__hermitian_eigen(re, im_part)[1]))
        r, i = __of_hermitian(f, re, im_part)
        return eltype(a) <: Real ? Symmetric(r) : Hermitian(complex.(r, i))
    end
    r, i = __of_hermitian(__Complexly(f), re, im_part)
    return eltype(a) <: Real ? Symmetric(complex.(r, i)) : complex.(r, i)
end
const __Form = Union{Symmetric{<:Real}, Hermitian{<:Real}, Hermitian{<:Complex}}
__always(x) = true
exp(a::__Form) = __of_form(exp, __always, a)
sin(a::__Form) = __of_form(sin, __always, a)
cos(a::__Form) = __of_form(cos, __always, a)
tan(a::__Form) = __of_form(tan, __always, a)
sinh(a::__Form) = __of_form(sinh, __always, a)
cosh(a::__Form) = __of_form(cosh, __always, a)
tanh(a::__Form) = __of_form(tanh, __always, a)
atan(a::__Form) = __of_form(atan, __always, a)
asinh(a::__Form) = __of_form(asinh, __always, a)
asin(a::__Form) = __of_form(asin, x -> -1 <= x <= 1, a)
acos(a::__Form) = __of_form(acos, x -> -1 <= x <= 1, a)
acosh(a::__Form) = __of_form(acosh, x -> x >= 1, a)
atanh(a::__Form) = __of_form(atanh, x -> -1 <= x <= 1, a)
log(a::__Form) = __of_form(log, x -> x >= 0, a)
sincos(a::__Form) = (sin(a), cos(a))
# A root of an eigenvalue that is 0 but for rounding is 0.
function sqrt(a::__Form)
    m = collect(a)
    s = ad.ignore(__hermitian_eigen(float.(real(m)), float.(imag(m)))[1])
    least = -norm(s) * eps(one(eltype(s))) * size(a, 1)
    return all(x -> x >= 0, s) || any(x -> x < least, s) ? __of_form(sqrt, x -> x >= 0, a) : __of_form(__root_from_zero, __always, a)
end
@inline __root_from_zero(x) = sqrt(max(x, zero(x)))
@inline __slope(::typeof(__root_from_zero), x) = x > 0 ? inv(2 * sqrt(x)) : zero(x)
^(a::__Form, p::AbstractFloat) = __of_form(__PowerOf(p), isinteger(p) ? __always : x -> x >= 0, a)
^(a::Symmetric, n::Int64) = Symmetric(collect(a)^n, a.uplo)
^(a::Hermitian, n::Int64) = Hermitian(collect(a)^n, a.uplo)

# Of a plain matrix that is symmetric or Hermitian, as a plain matrix.
__as_form(a::AbstractMatrix{<:Real}) = Symmetric(a)
__as_form(a::AbstractMatrix{<:Complex}) = Hermitian(a)
function __of_plain(f, a)
    checksquare(a)
    ad.ignore(ishermitian(a)) || throw(ArgumentError("this function of matrices that are not Hermitian is not there"))
    return collect(f(__as_form(__middle_of(collect(a)))))
end
sin(a::AbstractMatrix) = __of_plain(sin, a)
cos(a::AbstractMatrix) = __of_plain(cos, a)
tan(a::AbstractMatrix) = __of_plain(tan, a)
sinh(a::AbstractMatrix) = __of_plain(sinh, a)
cosh(a::AbstractMatrix) = __of_plain(cosh, a)
tanh(a::AbstractMatrix) = __of_plain(tanh, a)
atan(a::AbstractMatrix) = __of_plain(atan, a)
asinh(a::AbstractMatrix) = __of_plain(asinh, a)
asin(a::AbstractMatrix) = __of_plain(asin, a)
acos(a::AbstractMatrix) = __of_plain(acos, a)
acosh(a::AbstractMatrix) = __of_plain(acosh, a)
atanh(a::AbstractMatrix) = __of_plain(atanh, a)
log(a::AbstractMatrix) = __of_plain(log, a)
sqrt(a::AbstractMatrix) = __of_plain(sqrt, a)
^(a::AbstractMatrix, p::AbstractFloat) = isinteger(p) ? a^Int64(p) : __of_plain(x -> x^p, a)
^(b::Number, a::AbstractMatrix) = exp(log(b) * a)
