# Structs and constructors.
# RUN: --lowered
struct P{T<:Real} <: Number
    x::T
    y
    P{T}(x) where {T} = new(x, 1)
    P(x::T) where {T<:Real} = new{T}(x, 2)
end
mutable struct Q
    a::Int
    b::Vector{Float64}
end
abstract type A{T} <: B end
P(a, b, c) = P(a)
