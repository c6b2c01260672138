# Bessel and Airy functions of real order and argument, error functions, incomplete gamma and beta functions,
# zeta functions, integrals. Those of order 0 and 1 are ops.

const __SpecialFloat = Union{Int64, Int32, AbstractIrrational, Rational}

# --- error functions ------------------------------------------------------------------------

erfcx(x::__Float) = math.erfcx(x)
erfcx(x::__SpecialFloat) = erfcx(Float64(x))
logerfc(x::Real) = x > 0 ? log(erfcx(x)) - x * x : log(erfc(x))
logerfcx(x::Real) = x < 0 ? log(erfc(x)) + x * x : log(erfcx(x))
erf(x::Real, y::Real) = __erf_between(promote(float(x), float(y))...)
function __erf_between(x, y)
    x > 0.5 && y > 0.5 && return erfc(x) - erfc(y)
    x < -0.5 && y < -0.5 && return erfc(-y) - erfc(-x)
    return erf(y) - erf(x)
end
logerf(x::Real, y::Real) = log(erf(x, y))
erfi(x::Real) = 1.1283791670955126 * exp(x * x) * dawson(x)
# By a sum of Gaussians at equal distances (Rybicki, "Dawson's integral and the sampling theorem", 1989); near 0
# by its series.
dawson(x::Real) = __dawson(float(x))
function __dawson_sum(x)
    y = x * x
    if y < 0.04
        s = x
        t = x
        for k in 1:12
            t *= -2 * y / (2 * k + 1)
            s += t
        end
        return s
    end
    h = 0.2
    n0 = 2 * round(0.5 * abs(x) / h)
    d = abs(x) - n0 * h
    s = 0.0
    for i in 0:17
        n = 2 * i + 1
        s += exp(-(d - n * h)^2) / (n0 + n) + exp(-(d + n * h)^2) / (n0 - n)
    end
    return copysign(s * 0.5641895835477563, x)
end
__dawson(x) = oftype(x, __dawson_sum(Float64(x)))

# --- incomplete gamma and beta functions ----------------------------------------------------

gamma_inc(a::Real, x::Real) = gamma_inc(a, x, 0)
gamma_inc(a::Real, x::Real, accuracy::Integer) = (p = promote(float(a), float(x)); (__gamma_p(p...), __gamma_q(p...)))
gamma(a::Real, x::Real) = gamma(a) * gamma_inc(a, x)[2]
loggamma(a::Real, x::Real) = loggamma(a) + log(gamma_inc(a, x)[2])
__gamma_p(a, x) = math.gamma_p(a, x)
__gamma_q(a, x) = math.gamma_q(a, x)
__gamma_density(a, x) = exp((a - 1) * log(x) - x - loggamma(a))
beta_inc(a::Real, b::Real, x::Real) = (y = __beta_inc(promote(float(a), float(b), float(x))...); (y, 1 - y))
beta_inc(a::Real, b::Real, x::Real, y::Real) = (p = promote(float(a), float(b), float(x), float(y)); (__beta_inc(p[1], p[2], p[3]), __beta_inc(p[2], p[1], p[4])))
__beta_inc(a, b, x) = math.beta_inc(a, b, x)
__beta_density(a, b, x) = exp((a - 1) * log(x) + (b - 1) * log1p(-x) - logbeta(a, b))

# --- Bessel functions -----------------------------------------------------------------------

besselj0(x::__Float) = math.besselj0(x)
besselj1(x::__Float) = math.besselj1(x)
bessely0(x::__Float) = x < 0 ? throw(DomainError(x, "`x` must be nonnegative.")) : math.bessely0(x)
bessely1(x::__Float) = x < 0 ? throw(DomainError(x, "`x` must be nonnegative.")) : math.bessely1(x)
besselj0(x::__SpecialFloat) = besselj0(Float64(x))
besselj1(x::__SpecialFloat) = besselj1(Float64(x))
bessely0(x::__SpecialFloat) = bessely0(Float64(x))
bessely1(x::__SpecialFloat) = bessely1(Float64(x))
besselj(ν::Real, x::Real) = __besselj(ν, float(x))
bessely(ν::Real, x::Real) = x < 0 ? throw(DomainError(x, "`x` must be nonnegative.")) : __bessely(ν, float(x))
besseli(ν::Real, x::Real) = __besseli(ν, float(x))
besselk(ν::Real, x::Real) = x < 0 ? throw(DomainError(x, "`x` must be nonnegative.")) : __besselk(ν, float(x))
besseljx(ν::Real, x::Real) = besselj(ν, x)
besselyx(ν::Real, x::Real) = bessely(ν, x)
besselix(ν::Real, x::Real) = ν == 0 ? math.besseli0x(float(x)) : ν == 1 ? math.besseli1x(float(x)) : exp(-abs(x)) * besseli(ν, x)
besselkx(ν::Real, x::Real) = ν == 0 ? math.besselk0x(float(x)) : ν == 1 ? math.besselk1x(float(x)) : __besselkx(ν, float(x))
besselh(ν::Real, k::Integer, x::Real) = k == 1 ? Complex(besselj(ν, x), bessely(ν, x)) : k == 2 ? Complex(besselj(ν, x), -bessely(ν, x)) : throw(ArgumentError("k must be 1 or 2"))
besselh(ν::Real, x::Real) = besselh(ν, 1, x)
hankelh1(ν::Real, x::Real) = besselh(ν, 1, x)
hankelh2(ν::Real, x::Real) = besselh(ν, 2, x)
jinc(x::Real) = iszero(x) ? one(float(x)) : 2 * besselj1(π * x) / (π * x)
sphericalbesselj(ν::Real, x::Real) = iszero(x) ? (ν == 0 ? one(float(x)) : zero(float(x))) : sqrt(π / (2 * float(x))) * besselj(ν + 0.5, x)
sphericalbessely(ν::Real, x::Real) = sqrt(π / (2 * float(x))) * bessely(ν + 0.5, x)


__besselj(ν::Real, x::Float32) = Float32(__besselj(ν, Float64(x)))
__bessely(ν::Real, x::Float32) = Float32(__bessely(ν, Float64(x)))
__besseli(ν::Real, x::Float32) = Float32(__besseli(ν, Float64(x)))
__besselk(ν::Real, x::Float32) = Float32(__besselk(ν, Float64(x)))
__besselkx(ν::Real, x::Float32) = Float32(__besselkx(ν, Float64(x)))
__minus_one_to(n) = iseven(n) ? 1.0 : -1.0
function __besselj(ν::Real, x::Float64)
    isnan(x) && return x
    if isinteger(ν)
        n = Int64(ν)
        n < 0 && return __minus_one_to(n) * __besselj_whole(-n, x)
        return __besselj_whole(n, x)
    end
    x < 0 && throw(DomainError(x, "`x` must be nonnegative."))
    x == 0 && return ν > 0 ? 0.0 : Inf
    isinf(x) && return 0.0
    ν < 0 && return cospi(-ν) * __steed(-ν, x)[1] - sinpi(-ν) * __steed(-ν, x)[2]
    return __steed(Float64(ν), x)[1]
end
function __besselj_whole(n, x)
    n == 0 && return math.besselj0(x)
    n == 1 && return math.besselj1(x)
    x == 0 && return 0.0
    isinf(x) && return 0.0
    y = abs(x)
    sign = x < 0 ? __minus_one_to(n) : 1.0
    return sign * (n < y ? __up(math.besselj0(y), math.besselj1(y), n, y, -1) : __steed(Float64(n), y)[1])
end
# From the functions of order 0 and 1 to that of order n.
function __up(a, b, n, x, sign)
    for k in 1:n-1
        a, b = b, 2 * k / x * b + sign * a
    end
    return b
end
function __bessely(ν::Real, x::Float64)
    isnan(x) && return x
    x == 0 && return ν < 0 && !isinteger(ν) ? Inf : -Inf
    isinf(x) && return 0.0
    if isinteger(ν)
        n = Int64(ν)
        n < 0 && return __minus_one_to(n) * __bessely(-n, x)
        n == 0 && return math.bessely0(x)
        return __up(math.bessely0(x), math.bessely1(x), n, x, -1)
    end
    ν < 0 && return sinpi(-ν) * __steed(-ν, x)[1] + cospi(-ν) * __steed(-ν, x)[2]
    return __steed(Float64(ν), x)[2]
end
# The functions of the first and second kind of an order that is not negative: Steed's method, two continued
# fractions and the Wronskian; below 2, Temme's series for the second kind (Temme, "On the numerical evaluation of
# the ordinary Bessel function of the second kind", 1976).
function __steed(ν, x)
    n = x < 2 ? Int64(floor(ν + 0.5)) : max(0, Int64(floor(ν - x + 1.5)))
    μ = ν - n
    # The ratio of the derivative of the first kind to itself, by Lentz's method.
    sign = 1.0
    h = max(ν / x, 1.0e-300)
    b = 2 * ν / x
    d = 0.0
    c = h
    for _ in 1:100000
        b += 2 / x
        d = b - d
        d = abs(d) < 1.0e-300 ? 1.0e-300 : d
        c = b - 1 / c
        c = abs(c) < 1.0e-300 ? 1.0e-300 : c
        d = 1 / d
        f = c * d
        h *= f
        d < 0 && (sign = -sign)
        abs(f - 1) < 1.0e-16 && break
    end
    # Down to order μ, not scaled yet.
    j = sign * 1.0e-300
    dj = h * j
    j0 = j
    for k in n:-1:1
        lower = (μ + k) / x * j + dj
        dj = (μ + k - 1) / x * lower - j
        j = lower
        if abs(j) > 1.0e250
            j *= 1.0e-300
            dj *= 1.0e-300
            j0 *= 1.0e-300
        end
    end
    j == 0 && (j = 1.0e-300)
    f = dj / j
    w = 2 / (π * x)
    if x < 2
        y, y1 = __temme(μ, x)
        dy = μ / x * y - y1
        value = w / (dy - f * y)
    else
        p, q = __second_fraction(μ, x)
        g = (p - f) / q
        value = copysign(sqrt(w / ((p - f) * g + q)), j)
        y = value * g
        dy = y * (p + q / g)
        g == 0 && (dy = value * q)
        y1 = μ / x * y - dy
    end
    for k in 1:n
        y, y1 = y1, 2 * (μ + k) / x * y1 - y
    end
    return (j0 / j * value, y)
end
# p + iq, the ratio of the derivative of J + iY to itself, by Lentz's method.
function __second_fraction(μ, x)
    a = 0.25 - μ * μ
    p = -0.5 / x
    q = 1.0
    br = 2 * x
    bi = 2.0
    den = p * p + q * q
    cr = br + a / x * q / den
    ci = bi + a / x * p / den
    den = br * br + bi * bi
    dr = br / den
    di = -bi / den
    p, q = p * (cr * dr - ci * di) - q * (cr * di + ci * dr), p * (cr * di + ci * dr) + q * (cr * dr - ci * di)
    for k in 2:10000
        a += 2 * (k - 1)
        bi += 2
        dr = a * dr + br
        di = a * di + bi
        abs(dr) + abs(di) < 1.0e-300 && (dr = 1.0e-300)
        f = a / (cr * cr + ci * ci)
        cr = br + cr * f
        ci = bi - ci * f
        abs(cr) + abs(ci) < 1.0e-300 && (cr = 1.0e-300)
        den = dr * dr + di * di
        dr /= den
        di /= -den
        er = cr * dr - ci * di
        ei = cr * di + ci * dr
        p, q = p * er - q * ei, p * ei + q * er
        abs(er - 1) + abs(ei) < 1.0e-16 && break
    end
    return p, q
end
# The Taylor coefficients of 1 / gamma(1 + z).
const __reciprocal_gamma = (1.0, 0.577215664901532861, -0.655878071520253881, -0.0420026350340952355, 0.16653861138229149,
    -0.0421977345555443367, -0.00962197152787697356, 0.00721894324666309954, -0.00116516759185906511,
    -0.000215241674114950973, 0.000128050282388116186, -0.0000201348547807882387,
    -1.25049348214267066e-6, 1.13302723198169588e-6, -2.0563384169776071e-7, 6.11609510448141582e-9,
    5.00200764446922293e-9, -1.18127457048702014e-9, 1.04342671169110051e-10, 7.78226343990507125e-12,
    -3.69680561864220571e-12, 5.10037028745447598e-13, -2.05832605356650678e-14,
    -5.34812253942301798e-15, 1.22677862823826079e-15, -1.18125930169745877e-16, 1.18669225475160033e-18)
# 1 / gamma(1 ± μ), half their difference over μ, half their sum, for abs(μ) up to 1/2.
function __gammas(μ)
    even = 0.0
    odd = 0.0
    y = μ * μ
    for k in 13:-1:1
        even = even * y + __reciprocal_gamma[2 * k + 1]
        odd = odd * y + __reciprocal_gamma[2 * k]
    end
    even = even * y + __reciprocal_gamma[1]
    return (even + μ * odd, even - μ * odd, -odd, even)
end
# The second kind of orders μ and μ + 1, for x up to 2.
function __temme(μ, x)
    plus, minus, g1, g2 = __gammas(μ)
    a = π * μ
    fact = abs(a) < 1.0e-8 ? 1.0 : a / sin(a)
    d = -log(x / 2)
    e = μ * d
    fact2 = abs(e) < 1.0e-8 ? 1.0 : sinh(e) / e
    f = 2 / π * fact * (g1 * cosh(e) + g2 * fact2 * d)
    e = exp(e)
    p = e / (plus * π)
    q = 1 / (e * π * minus)
    half = a / 2
    r = abs(half) < 1.0e-8 ? 1.0 : sin(half) / half
    r = π * half * r * r
    c = 1.0
    d = -x * x / 4
    s = f + r * q
    s1 = p
    for k in 1:1000
        f = (k * f + p + q) / (k * k - μ * μ)
        c *= d / k
        p /= k - μ
        q /= k + μ
        t = c * (f + r * q)
        s += t
        s1 += c * p - k * t
        abs(t) < 1.0e-17 * (1 + abs(s)) && break
    end
    return -s, -s1 * 2 / x
end

# The modified functions: the second kind by the trapezoidal rule for the integral of exp(-x cosh t) cosh(ν t), the
# first kind from the ratio of neighbours and the Wronskian.
function __besselkx(ν::Real, x::Float64)
    isnan(x) && return x
    x == 0 && return Inf
    isinf(x) && return 0.0
    n = abs(Float64(ν))
    n == 0 && return math.besselk0x(x)
    n == 1 && return math.besselk1x(x)
    isinteger(n) && return __up(math.besselk0x(x), math.besselk1x(x), Int64(n), x, 1)
    n > 1 && return __up_from(n, x)
    return __trapezoids(n, x)
end
# From the orders below 2.
function __up_from(n, x)
    μ = n - floor(n)
    a = __trapezoids(μ, x)
    b = __trapezoids(μ + 1, x)
    for k in 1:Int64(floor(n))-1
        a, b = b, 2 * (μ + k) / x * b + a
    end
    return b
end
function __trapezoids(n, x)
    h = 0.0625 / max(1.0, sqrt(x / 50))
    s = 0.5
    k = 1
    while true
        t = k * h
        e = 2 * x * sinh(t / 2)^2
        y = exp(n * t - e) / 2 + exp(-n * t - e) / 2
        s += y
        y < 1.0e-18 * s && x * sinh(t) > n && break
        k += 1
    end
    return s * h
end
__besselk(ν::Real, x::Float64) = exp(-x) * __besselkx(ν, x)
function __besseli(ν::Real, x::Float64)
    isnan(x) && return x
    if x < 0
        isinteger(ν) || throw(DomainError(x, "`x` must be nonnegative."))
        return __minus_one_to(Int64(ν)) * __besseli(ν, -x)
    end
    n = Float64(ν)
    n < 0 && isinteger(n) && return __besseli(-n, x)
    n < 0 && return __besseli(-n, x) + 2 / π * sinpi(-n) * __besselk(-n, x)
    n == 0 && return math.besseli0(x)
    n == 1 && return math.besseli1(x)
    x == 0 && return 0.0
    isinf(x) && return x
    # I_{n+1} / I_n, by Lentz's method.
    d = 0.0
    r = 1.0e-300
    c = r
    for k in 1:100000
        b = 2 * (n + k) / x
        d = 1 / (b + d)
        c = b + 1 / c
        f = c * d
        r *= f
        abs(f - 1) < 1.0e-16 && break
    end
    return exp(x) / (x * (__besselkx(n + 1, x) + r * __besselkx(n, x)))
end

# --- Airy functions -------------------------------------------------------------------------

airyai(x::Real) = __airyai(float(x))
airybi(x::Real) = __airybi(float(x))
airyaiprime(x::Real) = __airyaiprime(float(x))
airybiprime(x::Real) = __airybiprime(float(x))
airyaix(x::Real) = airyai(x) * exp(2 * x * sqrt(float(x)) / 3)
__airyai(x::Float32) = Float32(__airyai(Float64(x)))
__airybi(x::Float32) = Float32(__airybi(Float64(x)))
__airyaiprime(x::Float32) = Float32(__airyaiprime(Float64(x)))
__airybiprime(x::Float32) = Float32(__airybiprime(Float64(x)))
__airy_argument(x) = 2 * abs(x) * sqrt(abs(x)) / 3
function __airyai(x::Float64)
    x == 0 && return 0.3550280538878172
    z = __airy_argument(x)
    x > 0 && return sqrt(x / 3) / π * __besselk(1 / 3, z)
    j, y = __steed(1 / 3, z)
    return sqrt(-x) / 2 * (j - y / sqrt(3.0))
end
function __airybi(x::Float64)
    x == 0 && return 0.6149266274460007
    z = __airy_argument(x)
    x > 0 && return sqrt(x / 3) * (__besseli(-1 / 3, z) + __besseli(1 / 3, z))
    j, y = __steed(1 / 3, z)
    return -sqrt(-x) / 2 * (j / sqrt(3.0) + y)
end
function __airyaiprime(x::Float64)
    x == 0 && return -0.2588194037928068
    z = __airy_argument(x)
    x > 0 && return -x / (π * sqrt(3.0)) * __besselk(2 / 3, z)
    j, y = __steed(2 / 3, z)
    return -x / 2 * (j + y / sqrt(3.0))
end
function __airybiprime(x::Float64)
    x == 0 && return 0.4482883573538264
    z = __airy_argument(x)
    x > 0 && return x / sqrt(3.0) * (__besseli(-2 / 3, z) + __besseli(2 / 3, z))
    j, y = __steed(2 / 3, z)
    return -x / 2 * (j / sqrt(3.0) - y)
end

# --- zeta functions and integrals -----------------------------------------------------------

# The sum of (k + q)^-s by the formula of Euler and Maclaurin.
zeta(s::Real, q::Real) = __hurwitz(promote(float(s), float(q))...)
function __hurwitz(s, q)
    s == 1 && return oftype(s, Inf)
    sum = zero(s)
    for k in 0:11
        sum += (q + k)^(-s)
    end
    x = q + 12
    sum += x^(1 - s) / (s - 1) + x^(-s) / 2
    # s (s + 1) … (s + 2k - 2) x^(1 - s - 2k) / (2k)!
    term = s * x^(-s - 1) / 2
    for (k, b) in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510))
        sum += b * term
        term *= (s + 2 * k - 1) * (s + 2 * k) / (x * x * (2 * k + 1) * (2 * k + 2))
    end
    return sum
end
function zeta(s::Real)
    t = float(s)
    t < 0.5 || return __hurwitz(t, one(t))
    t == 0 && return -one(t) / 2 + t * -0.9189385332046727
    # The reflection formula.
    return 2 * (2 * oftype(t, π))^(t - 1) * sinpi(t / 2) * gamma(1 - t) * __hurwitz(1 - t, one(t))
end
eta(s::Real) = s == 1 ? log(2.0) : -expm1((1 - float(s)) * 0.6931471805599453) * zeta(s)
# The integral of exp(-t) / t from x on: a series up to 1, then Lentz's method.
expint(x::Real) = x < 0 ? throw(DomainError(x, "`x` must be nonnegative.")) : __expint(float(x))
function __expint_value(x)
    x == 0 && return Inf
    isinf(x) && return 0.0
    if x <= 1
        s = -log(x) - 0.5772156649015329
        t = 1.0
        for k in 1:30
            t *= -x / k
            s -= t / k
        end
        return s
    end
    b = x + 1
    c = 1.0e300
    d = 1 / b
    h = d
    for k in 1:10000
        a = -1.0 * k * k
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        h *= c * d
        abs(c * d - 1) < 1.0e-16 && break
    end
    return h * exp(-x)
end
__expint(x) = oftype(x, __expint_value(Float64(x)))
# The complete elliptic integrals of a parameter, by the arithmetic-geometric mean.
ellipk(m::Real) = m > 1 ? throw(DomainError(m, "`m` must be at most 1")) : m == 1 ? Inf : __elliptic(float(m))[1]
ellipe(m::Real) = m > 1 ? throw(DomainError(m, "`m` must be at most 1")) : m == 1 ? 1.0 : __elliptic(float(m))[2]
function __elliptic(m)
    a, b = one(m), sqrt(1 - m)
    s = m / 2
    power = one(m)
    for _ in 1:8
        c = (a - b) / 2
        a, b = (a + b) / 2, sqrt(a * b)
        s += power * c * c
        power *= 2
    end
    k = oftype(m, π) / (2 * a)
    return (k, k * (1 - s))
end
lfactorial(n::Integer) = n < 0 ? throw(DomainError(n, "`x` must be nonnegative.")) : loggamma(n + 1.0)
logfactorial(n::Integer) = lfactorial(n)
lbinomial(n::Integer, k::Integer) = k < 0 || k > n ? -Inf : -log1p(Float64(n)) - logbeta(n - k + 1.0, k + 1.0)
logabsbinomial(n::Integer, k::Integer) = (lbinomial(n, k), 1.0)
logcosh(x::Real) = (a = abs(float(x)); a + log1p(exp(-2 * a)) - 0.6931471805599453)
# By Newton's method.
invdigamma(y::Real) = __invdigamma(float(y))
function __invdigamma(y)
    x = y >= -2.22 ? exp(y) + 0.5 : -1 / (y + 0.5772156649015329)
    for _ in 1:12
        step = (digamma(x) - y) / trigamma(x)
        x -= step
        abs(step) <= 1.0e-16 * abs(x) && break
    end
    return x
end
