# The rules of Julia's ChainRules for scalars, as functions that are called: `rrule(sin, x)`.
#
# What is differentiated here needs no such rules; the derivatives are those of `pullback`.

const _scalar = (
    +, -, *, /, ^, inv, abs, abs2, sqrt, cbrt, exp, exp2, exp10, expm1, log, log2, log10, log1p, sin, cos, tan, asin,
    acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, sec, csc, cot, hypot, max, min, identity, sign, muladd, real, imag,
    conj, deg2rad, rad2deg,
)

# The value of a call and its pullback, whose first result belongs to the function; `nothing` if there is no rule.
_rrule(f, args...) = nothing
function _rrule(f::Function, args::Number...)
    f in _scalar || return nothing
    y, back = pullback(f, args...)
    return y, dy -> (NoTangent(), back(dy)...)
end

# The same forward: the value, and its tangent.
_frule(tangents, f, args...) = nothing
function _frule((df, tangents...), f::Function, args::Number...)
    f in _scalar || return nothing
    return __pushforward(f, args, (df, tangents...))
end

# Methods of the library's own functions of these names would be rules for what they are called with.
const rrule, frule = _rrule, _frule
