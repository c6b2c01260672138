# A `map` over named tuples whose names may stand in different orders. `permuted_map` looks each
# name up; `unrolled_map` asks for each field by its name, which inference knows. Both leave
# nothing but the additions in the typed IR:
#
#     regraft ir examples/jl/permuted_map.jl 'permuted_map(+, x, y)' --stage optimized

function permuted_map(f, x::NamedTuple{KX}, y::NamedTuple{KY}) where {KX, KY}
    @assert issubset(KX, KY)
    NamedTuple{KX}(map(k -> f(x[k], y[k]), KX))
end

unrolled_map(f, x, y) = (a = f(x.a, y.a), b = f(x.b, y.b), c = f(x.c, y.c))

x = (a = 1, b = 2, c = 3)
y = (c = 6, b = 5, a = 4)
println(permuted_map(+, x, y))
println(unrolled_map(+, x, y))
println(permuted_map(*, (u = 0.5,), (v = "unused", u = 4)))
