# Derivatives of the functions in `special.jl` that are computed by series, fractions and recurrences.

frule(t, ::typeof(__dawson), x::__Float) = (y = __dawson(x); (y, (1 - 2 * x * y) * t[2]))
rrule(::typeof(__dawson), x::__Float) = (y = __dawson(x); (y, dy -> (nothing, (1 - 2 * x * y) * dy)))
frule(t, ::typeof(__expint), x::__Float) = (__expint(x), -exp(-x) / x * t[2])
rrule(::typeof(__expint), x::__Float) = (__expint(x), dy -> (nothing, -dy * exp(-x) / x))
frule(t, ::typeof(__invdigamma), y::__Float) = (x = __invdigamma(y); (x, t[2] / trigamma(x)))
rrule(::typeof(__invdigamma), y::__Float) = (x = __invdigamma(y); (x, dy -> (nothing, dy / trigamma(x))))

# There is no rule by parameters and orders: that derivative is not a number.
@inline __by(d, t) = d * t
@inline __by(d, t::Nothing) = zero(d)
@inline __unknown(t, x) = iszero(t) ? zero(x) : oftype(x, NaN)
@inline __unknown(t::Nothing, x) = zero(x)
@inline __of_order(ν::Integer) = nothing
@inline __of_order(ν) = oftype(ν, NaN)
frule(t, ::typeof(__gamma_p), a::T, x::T) where T<:__Float =
    (__gamma_p(a, x), __by(__gamma_density(a, x), t[3]) + __unknown(t[2], a))
frule(t, ::typeof(__gamma_q), a::T, x::T) where T<:__Float =
    (__gamma_q(a, x), __by(-__gamma_density(a, x), t[3]) + __unknown(t[2], a))
rrule(::typeof(__gamma_p), a::T, x::T) where T<:__Float =
    (__gamma_p(a, x), dy -> (nothing, oftype(a, NaN), dy * __gamma_density(a, x)))
rrule(::typeof(__gamma_q), a::T, x::T) where T<:__Float =
    (__gamma_q(a, x), dy -> (nothing, oftype(a, NaN), -dy * __gamma_density(a, x)))
frule(t, ::typeof(__beta_inc), a::T, b::T, x::T) where T<:__Float =
    (__beta_inc(a, b, x), __by(__beta_density(a, b, x), t[4]) + __unknown(t[2], a) + __unknown(t[3], b))
rrule(::typeof(__beta_inc), a::T, b::T, x::T) where T<:__Float =
    (__beta_inc(a, b, x), dy -> (nothing, oftype(a, NaN), oftype(b, NaN), dy * __beta_density(a, b, x)))

# --- Bessel functions, by their neighbours ----------------------------------------------------

__slope_j(ν, x) = (__besselj(ν - 1, x) - __besselj(ν + 1, x)) / 2
__slope_y(ν, x) = (__bessely(ν - 1, x) - __bessely(ν + 1, x)) / 2
__slope_i(ν, x) = (__besseli(ν - 1, x) + __besseli(ν + 1, x)) / 2
__slope_k(ν, x) = -(__besselk(ν - 1, x) + __besselk(ν + 1, x)) / 2
__slope_kx(ν, x) = __besselkx(ν, x) - (__besselkx(ν - 1, x) + __besselkx(ν + 1, x)) / 2
frule(t, ::typeof(__besselj), ν::Real, x::__Float) = (__besselj(ν, x), __by(__slope_j(ν, x), t[3]) + __unknown(t[2], x))
frule(t, ::typeof(__bessely), ν::Real, x::__Float) = (__bessely(ν, x), __by(__slope_y(ν, x), t[3]) + __unknown(t[2], x))
frule(t, ::typeof(__besseli), ν::Real, x::__Float) = (__besseli(ν, x), __by(__slope_i(ν, x), t[3]) + __unknown(t[2], x))
frule(t, ::typeof(__besselk), ν::Real, x::__Float) = (__besselk(ν, x), __by(__slope_k(ν, x), t[3]) + __unknown(t[2], x))
frule(t, ::typeof(__besselkx), ν::Real, x::__Float) = (__besselkx(ν, x), __by(__slope_kx(ν, x), t[3]) + __unknown(t[2], x))
rrule(::typeof(__besselj), ν::Real, x::__Float) = (__besselj(ν, x), dy -> (nothing, __of_order(ν), dy * __slope_j(ν, x)))
rrule(::typeof(__bessely), ν::Real, x::__Float) = (__bessely(ν, x), dy -> (nothing, __of_order(ν), dy * __slope_y(ν, x)))
rrule(::typeof(__besseli), ν::Real, x::__Float) = (__besseli(ν, x), dy -> (nothing, __of_order(ν), dy * __slope_i(ν, x)))
rrule(::typeof(__besselk), ν::Real, x::__Float) = (__besselk(ν, x), dy -> (nothing, __of_order(ν), dy * __slope_k(ν, x)))
rrule(::typeof(__besselkx), ν::Real, x::__Float) = (__besselkx(ν, x), dy -> (nothing, __of_order(ν), dy * __slope_kx(ν, x)))

# --- Airy functions: the second derivative is x times the function ------------------------------

frule(t, ::typeof(__airyai), x::__Float) = (__airyai(x), __airyaiprime(x) * t[2])
frule(t, ::typeof(__airybi), x::__Float) = (__airybi(x), __airybiprime(x) * t[2])
frule(t, ::typeof(__airyaiprime), x::__Float) = (__airyaiprime(x), x * __airyai(x) * t[2])
frule(t, ::typeof(__airybiprime), x::__Float) = (__airybiprime(x), x * __airybi(x) * t[2])
rrule(::typeof(__airyai), x::__Float) = (__airyai(x), dy -> (nothing, dy * __airyaiprime(x)))
rrule(::typeof(__airybi), x::__Float) = (__airybi(x), dy -> (nothing, dy * __airybiprime(x)))
rrule(::typeof(__airyaiprime), x::__Float) = (__airyaiprime(x), dy -> (nothing, dy * x * __airyai(x)))
rrule(::typeof(__airybiprime), x::__Float) = (__airybiprime(x), dy -> (nothing, dy * x * __airybi(x)))
