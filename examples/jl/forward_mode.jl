# Forward mode by numbers that carry a derivative. A tag tells the derivatives of nested calls
# apart: without it, the last line but one would print 2.0.

struct Dual{S} <: Real
    tag::Int
    value::S
    slope::S
end

# Value and slope become numbers of one type: either may carry a derivative for another tag.
dual(tag, value, slope) = Dual(tag, value + zero(slope), slope + zero(value))

# The value and the slope of a number, as the tag sees it.
value(x::Dual, tag) = x.tag == tag ? x.value : x
value(x, tag) = x
slope(x::Dual, tag) = x.tag == tag ? x.slope : zero(x.value)
slope(x, tag) = zero(x)

tag_of(x::Dual) = x.tag
tag_of(x) = 0

function plus(x, y)
    t = max(tag_of(x), tag_of(y))
    dual(t, value(x, t) + value(y, t), slope(x, t) + slope(y, t))
end

function times(x, y)
    t = max(tag_of(x), tag_of(y))
    dual(t, value(x, t) * value(y, t), slope(x, t) * value(y, t) + value(x, t) * slope(y, t))
end

Base.:+(x::Dual, y::Dual) = plus(x, y)
Base.:+(x::Dual, y::Real) = plus(x, y)
Base.:+(x::Real, y::Dual) = plus(x, y)
Base.:*(x::Dual, y::Dual) = times(x, y)
Base.:*(x::Dual, y::Real) = times(x, y)
Base.:*(x::Real, y::Dual) = times(x, y)
Base.sin(x::Dual) = Dual(x.tag, sin(x.value), cos(x.value) * x.slope)
Base.cos(x::Dual) = Dual(x.tag, cos(x.value), -1 * sin(x.value) * x.slope)
Base.zero(x::Dual) = dual(x.tag, zero(x.value), zero(x.slope))
Base.one(x::Dual) = dual(x.tag, one(x.value), zero(x.slope))

const tags = Ref(0)

function D(f, x)
    tags[] += 1
    tag = tags[]
    slope(f(Dual(tag, x, one(x))), tag)
end

power(x, n) = n <= 0 ? one(x) : x * power(x, n - 1)

println(D(x -> 3 * x * x + sin(x), 0.0))
println(D(x -> power(x, 4), 3.0))
println(D(x -> D(sin, x), 0.5) == -sin(0.5))
println(D(x -> x * D(y -> x + y, 1.0), 1.0))
println(D(x -> x * D(y -> x * y, 1.0), 4.0))
