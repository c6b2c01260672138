# Higher-order functions are loops in the IR: `map` and `sum` are written in the language itself.

_map_sin_cos_exp(x::AbstractArray{<:Real}) = sum(map(x -> sin(cos(exp(x))), x))

println(_map_sin_cos_exp([0.0]))
println(_map_sin_cos_exp([0.0 0.0; 0.0 0.0]) / 4 == _map_sin_cos_exp([0.0]))
println(_map_sin_cos_exp([1, 2]) == _map_sin_cos_exp([1.0, 2.0]))
