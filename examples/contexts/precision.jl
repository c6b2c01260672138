# Which functions of an integrator may compute in Float32? The slope may; adding 10000 small steps may not.

using Contexts

slope(t) = cos(t)
advance(x, h, k) = x + h * k
function integrate(x, h, steps)
    for n in 0:steps-1
        x = advance(x, h, slope((n + 0.5) * h))
    end
    return x
end

r = find_precision(integrate, 0.0, 1 / 8192, 8192; tolerance = 1.0e-7)
println(isapprox(r.value, sin(1); atol = 1.0e-8))
for (name, error) in r.errors
    println(name, ": ", error <= r.tolerance ? "Float32" : "Float64")
end
