# Complex numbers: two real numbers in a struct, differentiated as such. A tangent is shown as a
# complex number too: by the real part of a result, the derivatives by the real and by the imaginary part.

struct Complex{T<:Real} <: Number
    re::T
    im::T
end
const ComplexF64 = Complex{Float64}
const ComplexF32 = Complex{Float32}
const im = __new(Complex{Bool}, false, true)
const __RealOrComplex = Union{Real, Complex}
Complex(x::Real, y::Real) = Complex(promote(x, y)...)
Complex(x::T, y::T) where T<:Real = Complex{T}(x, y)
Complex(x::Real) = Complex(x, zero(x))
Complex(z::Complex) = z
(::Type{Complex{T}})(x::Real) where T = Complex{T}(convert(T, x), zero(T))
(::Type{Complex{T}})(z::Complex) where T = Complex{T}(convert(T, z.re), convert(T, z.im))
(::Type{Complex{T}})(z::Complex{T}) where T = z
(::Type{T})(z::Complex) where T<:Real = isreal(z) ? convert(T, z.re) : throw(InexactError(nameof(T), T, z))
promote_rule(::Type{Complex{T}}, ::Type{S}) where {T, S<:Real} = Complex{promote_type(T, S)}
promote_rule(::Type{Complex{T}}, ::Type{Complex{S}}) where {T, S} = Complex{promote_type(T, S)}
complex(x::Real) = Complex(x)
complex(z::Complex) = z
complex(x::Real, y::Real) = Complex(x, y)
complex(::Type{T}) where T<:Real = Complex{T}
complex(::Type{T}) where T<:Complex = T
complex(a::AbstractArray) = complex.(a)

# --- parts ----------------------------------------------------------------------------------

real(z::Complex) = z.re
imag(z::Complex) = z.im
reim(z) = (real(z), imag(z))
real(::Type{T}) where T<:Real = T
real(::Type{Complex{T}}) where T = T
conj(z::Complex) = Complex(z.re, -z.im)
float(a::AbstractArray) = __of_rank(a, float.(a))
float(a::AbstractArray{<:__Float}) = a
real(a::AbstractArray) = real.(a)
imag(a::AbstractArray) = imag.(a)
real(a::AbstractArray{<:Real}) = a
conj(a::AbstractArray) = conj.(a)
conj(a::AbstractArray{<:Real}) = a
conj!(a::AbstractArray) = a .= conj.(a)
float(z::Complex) = Complex(float(z.re), float(z.im))
float(::Type{Complex{T}}) where T = Complex{float(T)}
zero(::Type{Complex{T}}) where T = Complex{T}(zero(T), zero(T))
one(::Type{Complex{T}}) where T = Complex{T}(one(T), zero(T))
isreal(z::Complex) = iszero(z.im)
isreal(a::AbstractArray) = all(isreal, a)
isinteger(z::Complex) = isreal(z) && isinteger(z.re)
isnan(z::Complex) = isnan(z.re) | isnan(z.im)
isinf(z::Complex) = isinf(z.re) | isinf(z.im)
isfinite(z::Complex) = isfinite(z.re) & isfinite(z.im)
iszero(z::Complex) = iszero(z.re) & iszero(z.im)
isone(z::Complex) = isone(z.re) & iszero(z.im)
abs(z::Complex) = hypot(z.re, z.im)
abs2(z::Complex) = z.re * z.re + z.im * z.im
abs2(x::Number) = x * x
angle(z::Complex) = atan(z.im, z.re)
angle(x::Real) = signbit(x) ? oftype(float(x), π) : zero(float(x))
sign(z::Complex) = iszero(z) ? z : z / abs(z)
round(z::Complex; kw...) = Complex(round(z.re; kw...), round(z.im; kw...))
==(z::Complex, w::Complex) = (z.re == w.re) & (z.im == w.im)
==(z::Complex, x::Real) = isreal(z) && z.re == x
==(x::Real, z::Complex) = z == x
isequal(z::Complex, w::Complex) = isequal(z.re, w.re) & isequal(z.im, w.im)
isequal(z::Complex, x::Real) = isequal(z, Complex(x))
isequal(x::Real, z::Complex) = isequal(Complex(x), z)
isapprox(z::Complex, w::Complex) = __near(z, w)
isapprox(z::Complex, x::Real) = __near(z, x)
isapprox(x::Real, z::Complex) = __near(x, z)
__near(x, y) = x == y || isfinite(x) && isfinite(y) && abs(x - y) <= __rtol(x, y) * max(abs(x), abs(y))
__rtol(::Type{Complex{T}}) where T = __rtol(T)

# --- arithmetic -----------------------------------------------------------------------------

+(z::Complex) = Complex(+z.re, +z.im)
-(z::Complex) = Complex(-z.re, -z.im)
+(z::Complex, w::Complex) = Complex(z.re + w.re, z.im + w.im)
-(z::Complex, w::Complex) = Complex(z.re - w.re, z.im - w.im)
*(z::Complex, w::Complex) = Complex(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re)
+(x::Real, z::Complex) = Complex(x + z.re, z.im)
+(z::Complex, x::Real) = Complex(x + z.re, z.im)
-(x::Real, z::Complex) = Complex(x - z.re, -z.im)
-(z::Complex, x::Real) = Complex(z.re - x, z.im)
*(x::Real, z::Complex) = Complex(x * z.re, x * z.im)
*(z::Complex, x::Real) = Complex(x * z.re, x * z.im)
/(z::Complex, x::Real) = Complex(z.re / x, z.im / x)
/(x::Real, z::Complex) = x * inv(z)
/(z::Complex, w::Complex) = __complex_ratio(promote(float(z), float(w))...)
inv(z::Complex) = __complex_ratio(one(float(z)), float(z))
muladd(z::Complex, w::Complex, v::Complex) = z * w + v
# Division that overflows only where the quotient does (Baudin and Smith, "A robust complex division in Scilab", 2012).
function __complex_ratio(z::Complex, w::Complex)
    a, b, c, d = z.re, z.im, w.re, w.im
    iszero(d) && !iszero(c) && return Complex(a / c, b / c)
    iszero(c) && !iszero(d) && return Complex(b / d, -a / d)
    if iszero(w) || !isfinite(w)
        return __special_ratio(a, b, c, d)
    end
    if abs(d) <= abs(c)
        r = d / c
        t = inv(c + d * r)
        return Complex(__ratio_part(a, b, c, d, r, t), __ratio_part(b, -a, c, d, r, t))
    end
    r = c / d
    t = inv(d + c * r)
    return Complex(__ratio_part(b, a, d, c, r, t), -__ratio_part(a, -b, d, c, r, t))
end
function __ratio_part(a, b, c, d, r, t)
    iszero(r) && return (a + d * (b / c)) * t
    br = b * r
    return iszero(br) ? a * t + (b * t) * r : (a + br) * t
end
function __special_ratio(a, b, c, d)
    if isinf(c) || isinf(d)
        (isfinite(a) && isfinite(b)) || return Complex(oftype(a, NaN), oftype(a, NaN))
        c, d = isinf(c) ? copysign(one(c), c) : copysign(zero(c), c), isinf(d) ? copysign(one(d), d) : copysign(zero(d), d)
        return Complex(copysign(zero(a), a * c + b * d), copysign(zero(a), b * c - a * d))
    end
    n = c * c + d * d
    return Complex((a * c + b * d) / n, (b * c - a * d) / n)
end
^(z::Complex, n::Integer) = n < 0 ? __power(inv(z), -n) : __power(z, n)
@inline function ^(z::Complex, n::__Int)
    if __known(n) && 0 <= n <= 3
        return n == 2 ? z * z : n == 3 ? z * z * z : n == 1 ? z : one(z)
    end
    return n < 0 ? __power(inv(z), -n) : __power(z, n)
end
^(z::Complex, n::Bool) = n ? z : one(z)
^(z::Complex, x::Real) = __complex_power(z, x)
^(x::Real, z::Complex) = __complex_power(complex(x), z)
^(z::Complex, w::Complex) = __complex_power(z, w)
function __complex_power(z, w)
    iszero(w) && return one(float(z)) * one(w)
    if iszero(z)
        real(w) > 0 && return zero(float(z)) * zero(w)
        return Complex(oftype(float(z.re), NaN), oftype(float(z.re), NaN))
    end
    isinteger(w) && abs(real(w)) <= 1024 && return float(z)^Int64(real(w))
    return exp(w * log(z))
end

# --- elementary functions -------------------------------------------------------------------

cis(x::Real) = Complex(cos(x), sin(x))
cis(z::Complex) = exp(Complex(-z.im, z.re))
cispi(x::Real) = Complex(cospi(x), sinpi(x))
function exp(z::Complex)
    e = exp(z.re)
    iszero(z.im) && return Complex(e, e * z.im)
    return Complex(e * cos(z.im), e * sin(z.im))
end
expm1(z::Complex) = Complex(expm1(z.re) * cos(z.im) - 2 * sin(z.im / 2)^2, exp(z.re) * sin(z.im))
exp2(z::Complex) = exp(z * log(oftype(float(z.re), 2)))
exp10(z::Complex) = exp(z * log(oftype(float(z.re), 10)))
log(z::Complex) = Complex(log(abs(z)), angle(z))
log2(z::Complex) = log(z) / log(oftype(float(z.re), 2))
log10(z::Complex) = log(z) / log(oftype(float(z.re), 10))
# The real part of the logarithm keeps its digits where `1 + z` is close to 1.
function log1p(z::Complex)
    x, y = z.re, z.im
    return Complex(abs(x) < 1 && abs(y) < 1 ? log1p(x * (2 + x) + y * y) / 2 : log(hypot(1 + x, y)), atan(y, 1 + x))
end
function sqrt(z::Complex)
    z = float(z)
    x, y = z.re, z.im
    if iszero(z)
        return Complex(zero(x), y)
    end
    r = sqrt((abs(x) + abs(z)) / 2)
    return x >= 0 ? Complex(r, y / r / 2) : Complex(abs(y) / r / 2, copysign(r, y))
end
sin(z::Complex) = Complex(sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im))
cos(z::Complex) = Complex(cos(z.re) * cosh(z.im), -sin(z.re) * sinh(z.im))
tan(z::Complex) = __times_minus_i(tanh(__times_i(z)))
sinh(z::Complex) = Complex(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im))
cosh(z::Complex) = Complex(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im))
function tanh(z::Complex)
    x, y = reim(float(z))
    abs(x) > 20 && return Complex(copysign(one(x), x), 4 * sin(y) * cos(y) * exp(-2 * abs(x)))
    t, s = tan(y), sinh(x)
    b = 1 + t * t
    r = sqrt(1 + s * s)
    d = 1 + b * s * s
    return Complex(b * r * s / d, t / d)
end
__times_i(z) = Complex(-z.im, z.re)
__times_minus_i(z) = Complex(z.im, -z.re)
function asin(z::Complex)
    x, y = reim(float(z))
    a, b = sqrt(Complex(1 - x, -y)), sqrt(Complex(1 + x, y))
    return Complex(atan(x, real(a * b)), asinh(imag(conj(a) * b)))
end
function acos(z::Complex)
    x, y = reim(float(z))
    a, b = sqrt(Complex(1 - x, -y)), sqrt(Complex(1 + x, y))
    return Complex(2 * atan(real(a), real(b)), asinh(imag(conj(b) * a)))
end
atan(z::Complex) = __times_minus_i(atanh(__times_i(z)))
asinh(z::Complex) = __times_minus_i(asin(__times_i(z)))
function acosh(z::Complex)
    x, y = reim(float(z))
    a, b = sqrt(Complex(x - 1, y)), sqrt(Complex(x + 1, y))
    return Complex(asinh(real(conj(a) * b)), 2 * atan(imag(a), real(b)))
end
function atanh(z::Complex)
    x, y = reim(float(z))
    return Complex(log1p(4 * x / ((1 - x)^2 + y * y)) / 4, (atan(y, 1 + x) - atan(-y, 1 - x)) / 2)
end
sinc(z::Complex) = iszero(z) ? one(z) : sin(π * z) / (π * z)
