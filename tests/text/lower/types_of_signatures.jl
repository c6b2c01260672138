# Types of signatures.
# RUN: --lowered
f(x::Int, ::Type{T}, (a, b), rest::T...) where {T, S<:Vector{T}} = a
g(x::Val{:a}, y::Tuple{Int, Vararg{T}}, z::Type{<:Number}, w::typeof(sin)) where {T} = 1
h(x::NTuple{3, Int}, q::NamedTuple{(:a, :b)}, v::Vector{T} where {T}) = 1
k(x::S, y::T) where {T} where {S<:T} = 1
l(x::T) where {Int<:T<:Real} = 1
