# A chain of functions for each element, by dots.

broadcast_sin_cos_exp(x::AbstractArray{<:Real}) = sum(sin.(cos.(exp.(x))))

x = [0.1i - 0.2j for i in 1:10, j in 1:10]
println(broadcast_sin_cos_exp(x))
