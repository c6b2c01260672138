# A long program without any branch: x[1] * x[2]^400, one multiplication after the other.

function large_single_block(x::AbstractVector{<:Real})
    z, y = x[1], x[2]
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y; z *= y
    return z
end

x = [2.0, 0.995]
println(large_single_block(x))
