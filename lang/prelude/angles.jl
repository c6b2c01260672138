# Angles in degrees, inverse functions of reciprocals, remainders by full turns, polynomials, parts of floats.

# Reduced exactly to a quarter turn, so that multiples of 30 and 45 degrees give what they should.
sind(x::Real) = __sind(__degrees(float(x)))
cosd(x::Real) = __cosd(abs(__degrees(float(x))))
tand(x::Real) = __tand(__degrees(float(x)))
function __tand(y)
    t = __sind(y) / __cosd(abs(y))
    return abs(rem(y, 90)) == 45 ? t + ad.ignore(copysign(one(t), t) - t) : t
end
sincosd(x::Real) = (sind(x), cosd(x))
# From -180 to 180.
function __degrees(x)
    isinf(x) && throw(DomainError(x, "`x` must be finite."))
    y = rem(x, oftype(x, 360))
    return y > 180 ? y - 360 : y < -180 ? y + 360 : y
end
__sind(y) = abs(y) > 90 ? __sind(copysign(180 - abs(y), y)) : abs(y) <= 45 ? __sin_of_degrees(y) : copysign(__cos_of_degrees(90 - abs(y)), y)
__cosd(y) = y > 90 ? -__cosd(180 - y) : y <= 45 ? __cos_of_degrees(y) : __sin_of_degrees(90 - y)
# The radians in two parts, up to 45 degrees.
function __sin_of_degrees(y::Float64)
    x, rest = __radians(y)
    return sin(x) + cos(x) * rest
end
function __cos_of_degrees(y::Float64)
    x, rest = __radians(y)
    return cos(x) - sin(x) * rest
end
function __radians(y)
    x = y * 0.017453292519943295
    return x, fma(y, 0.017453292519943295, -x) + y * 2.9486522708701687e-19
end
__sin_of_degrees(y::Float32) = Float32(__sin_of_degrees(Float64(y)))
__cos_of_degrees(y::Float32) = Float32(__cos_of_degrees(Float64(y)))
asind(x::Real) = rad2deg(asin(x))
acosd(x::Real) = rad2deg(acos(x))
atand(x::Real) = rad2deg(atan(x))
atand(y::Real, x::Real) = rad2deg(atan(y, x))
secd(x::Real) = inv(cosd(x))
cscd(x::Real) = inv(sind(x))
cotd(x::Real) = inv(tand(x))
asec(x::Number) = acos(inv(x))
acsc(x::Number) = asin(inv(x))
acot(x::Number) = atan(inv(x))
asech(x::Number) = acosh(inv(x))
acsch(x::Number) = asinh(inv(x))
acoth(x::Number) = atanh(inv(x))
asecd(x::Real) = rad2deg(asec(x))
acscd(x::Real) = rad2deg(acsc(x))
acotd(x::Real) = rad2deg(acot(x))
tanpi(x::Real) = tand(180 * rem(float(x), 1))
# The derivative of `sinc`, by the first terms of its series near 0.
function cosc(x::Real)
    t = float(x)
    y = t * t
    abs(t) < 0.1 && return t * (-3.289868133696453 + y * (3.246969701133414 + y * (-1.144510944732505 +
        y * (0.20918278254123832 + y * (-0.023460810354558225 + y * 0.001781145516372851)))))
    return isinf(t) ? zero(t) : (cospi(t) - sinc(t)) / t
end

mod2pi(x::Real) = __less_turns(float(x), floor)
rem2pi(x::Real, ::RoundingMode{:Nearest}) = __less_turns(float(x), round)
rem2pi(x::Real, ::RoundingMode{:ToZero}) = __less_turns(float(x), trunc)
rem2pi(x::Real, ::RoundingMode{:Up}) = __less_turns(float(x), ceil)
rem2pi(x::Real, ::RoundingMode{:Down}) = __less_turns(float(x), floor)
# The number of turns is taken away in three parts of 2π (Cody and Waite).
function __less_turns(x::Float64, whole)
    n = ad.ignore(whole(x / 6.283185307179586))
    return fma(-n, -5.989539619436679e-33, fma(-n, 2.4492935982947064e-16, fma(-n, 6.283185307179586, x)))
end
__less_turns(x::Float32, whole) = Float32(__less_turns(Float64(x), whole))

# By Horner's rule; the coefficients begin with that of x^0.
function evalpoly(x, p)
    y = p[end] * one(x)
    for k in length(p)-1:-1:1
        y = y * x + p[k]
    end
    return y
end
evalpoly(x, p::Tuple) = __unroll_fold((y, c) -> y * x + c, zero(x) * data.getfield(p, 1), reverse(p))

exponent(x::Real) = __exponent(Float64(x))
function __exponent(x)
    isfinite(x) && !iszero(x) || throw(DomainError(x, "Cannot be NaN, Inf or 0."))
    e = Int64(floor(log2(abs(x))))
    y = __scaled(abs(x), -e)
    return y >= 2 ? e + 1 : y < 1 ? e - 1 : e
end
# In two steps, since the power may be out of range where the result is not.
__scaled(x, e) = x * exp2(Float64(div(e, 2))) * exp2(Float64(e - div(e, 2)))
significand(x::Float64) = isfinite(x) && !iszero(x) ? __scaled(x, -exponent(x)) : x
frexp(x::Float64) = isfinite(x) && !iszero(x) ? (significand(x) / 2, exponent(x) + 1) : (x, 0)
