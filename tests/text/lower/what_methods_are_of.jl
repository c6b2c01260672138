# Methods are of functions, of types, and of instances.
# RUN: --lowered
(p::P)(x) = p.x + x
Base.:+(a::P, b::P) = P(a.x + b.x)
(::Type{T})(x::P) where {T} = convert(T, x.x)
P{T}(x, y) where {T} = x
@inline sq(x) = x * x
@noinline f(_, _) = 1
