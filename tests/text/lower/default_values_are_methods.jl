# Default values are methods.
# RUN: --lowered
g(x, y = 2x, z = y) = x
h(a, b = a, rest...) = rest
(p::P)(x = 1) = x
P{T}(x = 1) where {T} = x
Base.sum(x::P, y = 1) = y
