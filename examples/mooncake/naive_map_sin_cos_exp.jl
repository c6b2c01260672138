# A chain of functions for each element, by a loop that fills an array.

function naive_map_sin_cos_exp(x::AbstractArray{<:Real})
    y = similar(x)
    for n in eachindex(x)
        y[n] = sin(cos(exp(x[n])))
    end
    return sum(y)
end

x = [0.1i - 0.2j for i in 1:10, j in 1:10]
println(naive_map_sin_cos_exp(x))
