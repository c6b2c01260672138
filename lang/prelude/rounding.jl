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
    __to_digits(round, x, digits, sigdigits, base)
floor(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(floor, x, digits, sigdigits, base)
ceil(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(ceil, x, digits, sigdigits, base)
trunc(x::__Rounded; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(trunc, x, digits, sigdigits, base)
round(x::Real, mode::RoundingMode; digits = nothing, sigdigits = nothing, base = 10) =
    __to_digits(y -> round(y, mode), x, digits, sigdigits, base)

# So many digits behind the point, or significant ones.
function __to_digits(whole, number, digits, sigdigits, base)
    digits === nothing && sigdigits === nothing && return whole(number)
    x = float(number)
    (isfinite(x) && !iszero(x)) || return x
    d = digits === nothing ? sigdigits - 1 - floor(Int64, log(base, abs(x))) : digits
    # Powers with whole exponents above 0 are exact the longest.
    d >= 0 || return whole(x / oftype(x, base)^(-d)) * oftype(x, base)^(-d)
    scale = oftype(x, base)^d
    y = whole(x * scale) / scale
    return isfinite(y) ? y : x
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
    return 2 * abs(x - y) >= 1 ? y + sign(x) : y
end
function round(x::Real, ::RoundingMode{:NearestTiesUp})
    y = floor(x)
    return 2 * (x - y) >= 1 ? copysign(y + 1, x) : y
end
round(::Type{T}, x::Real, mode::RoundingMode) where T = T(round(x, mode))

floor(x::AbstractIrrational) = floor(Float64(x))
ceil(x::AbstractIrrational) = ceil(Float64(x))
round(x::AbstractIrrational) = round(Float64(x))
trunc(x::AbstractIrrational) = trunc(Float64(x))
