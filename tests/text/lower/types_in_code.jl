# Types in code.
# RUN: --lowered
function f(x::T) where {T}
    Vector{Float64}(undef, 3)
    x::Int
    Array{T, 1}
    Vector{<:Real}
    x isa T
    Int <: Real
end
