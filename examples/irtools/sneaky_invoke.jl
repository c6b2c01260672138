# Calls the method for other types than those of the arguments: as `invoke`, but nothing is checked.

using IRTools: IR, @dynamo, argument!

@dynamo function sneakyinvoke(f, ::Type{T}, args...) where T<:Tuple
    ir = IR(f, T.parameters...)
    # The code takes the types too, and does not look at them.
    argument!(ir, at = 2)
    return ir
end

kind(x::Float64) = ("the method for floats", x / 4)
kind(x::Int64) = ("the method for integers", div(x, 4))

println(kind(2))
println(sneakyinvoke(kind, Tuple{Float64}, 2))
println(sneakyinvoke(kind, Tuple{Int64}, 6))
