# A loop that runs until what it computes is good enough: nobody knows how often before.

function newton_sqrt(x::Float64)
    y = x
    while abs(y * y - x) > 1e-12 * x
        y = 0.5 * (y + x / y)
    end
    return y
end

println(newton_sqrt(1.0))
println(isapprox(newton_sqrt(2.0), sqrt(2.0)))
