# Rounding by a mode, and to digits.

struct RoundingMode{T} end
const RoundNearest = __new(RoundingMode{:Nearest})
const RoundNearestTiesAway = __new(RoundingMode{:NearestTiesAway})
const RoundNearestTiesUp = __new(RoundingMode{:NearestTiesUp})
const RoundToZero = __new(RoundingMode{:ToZero})
const RoundFromZero = __new(RoundingMode{:FromZero})
const RoundUp = __new(RoundingMode{:Up})
const RoundDown = __new(RoundingMode{:Down})

const __Rounded = Union{__Float, Integer, Rational, AbstractIrrational}

round(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(x, RoundNearest, digits, sigdigits, base)
floor(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(x, RoundDown, digits, sigdigits, base)
ceil(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(x, RoundUp, digits, sigdigits, base)
trunc(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(x, RoundToZero, digits, sigdigits, base)
round(x::Real, mode::RoundingMode; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(x, mode, digits, sigdigits, base)

# So many digits behind the point, or significant ones.
function __to_digits(number, mode, digits, sigdigits, base)
    digits === nothing && sigdigits === nothing && return round(number, mode)
    digits === nothing || sigdigits === nothing ||
        throw(ArgumentError("`round` cannot use both `digits` and `sigdigits` arguments."))
    x = float(number)
    isfinite(x) || return x
    d = digits === nothing ? sigdigits - __whole_digits(x, base) : digits
    # Powers with whole exponents above 0 are exact the longest.
    step = oftype(x, base)^abs(d)
    y = d < 0 ? round(x / step, mode) * step : round(x * step, mode) / step
    (isfinite(y) || d >= 0) && return isfinite(y) ? y : x
    away = x > 0 ? mode === RoundUp : x < 0 && mode === RoundDown
    return copysign(away ? oftype(x, Inf) : zero(x), x)
end
# The number of digits before the point; below 1 if there are zeros behind it.
function __whole_digits(x, base)
    iszero(x) && return 0
    base == 2 && return 1 + exponent(x)
    return 1 + floor(Int64, base == 10 ? log10(abs(x)) : log(base, abs(x)))
end

round(x::Real, ::RoundingMode{:Nearest}) = round(x)
round(x::Real, ::RoundingMode{:ToZero}) = trunc(x)
round(x::Real, ::RoundingMode{:FromZero}) = signbit(x) ? floor(x) : ceil(x)
round(x::Real, ::RoundingMode{:Up}) = ceil(x)
round(x::Real, ::RoundingMode{:Down}) = floor(x)
round(x::Integer, ::RoundingMode{:NearestTiesAway}) = x
round(x::Integer, ::RoundingMode{:NearestTiesUp}) = x
# What is left is less than a half, a half or more, exactly.
function round(x::Real, ::RoundingMode{:NearestTiesAway})
    y = trunc(x)
    return x != y && 2 * abs(x - y) >= 1 ? y + sign(x) : y
end
function round(x::Real, ::RoundingMode{:NearestTiesUp})
    y = floor(x)
    return x != y && 2 * (x - y) >= 1 ? copysign(y + 1, x) : y
end
round(::Type{T}, x::Real, mode::RoundingMode) where T = T(round(x, mode))
round(::Type{T}, x::Rational, mode::RoundingMode) where T<:Integer = convert(T, round(__divisible(x), mode))

floor(x::AbstractIrrational) = floor(Float64(x))
ceil(x::AbstractIrrational) = ceil(Float64(x))
round(x::AbstractIrrational) = round(Float64(x))
trunc(x::AbstractIrrational) = trunc(Float64(x))
