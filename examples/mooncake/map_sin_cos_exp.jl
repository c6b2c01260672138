# A chain of functions for each element, by `map`.

map_sin_cos_exp(x::AbstractArray{<:Real}) = sum(map(x -> sin(cos(exp(x))), x))

x = [0.1i - 0.2j for i in 1:10, j in 1:10]
println(map_sin_cos_exp(x))
