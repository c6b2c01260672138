# The classical Runge-Kutta method, for states that are numbers, tuples or vectors: each gives a
# specialisation of its own, and the dotted sums of each are one loop or none.

function rk4(f, y, t, h, steps)
    for _ in 1:steps
        k1 = f(t, y)
        k2 = f(t + h / 2, y .+ h / 2 .* k1)
        k3 = f(t + h / 2, y .+ h / 2 .* k2)
        k4 = f(t + h, y .+ h .* k3)
        y = y .+ h ./ 6 .* (k1 .+ 2 .* k2 .+ 2 .* k3 .+ k4)
        t += h
    end
    y
end

near(a, b) = all(abs.(a .- b) .< 1e-8)

# Growth, and a pendulum that swings little: exp(t) and (cos(t), -sin(t)).
println(near(rk4((t, y) -> y, 1.0, 0.0, 0.01, 100), exp(1.0)))
println(near(rk4((t, y) -> (y[2], -y[1]), (1.0, 0.0), 0.0, 0.01, 100), (cos(1.0), -sin(1.0))))
println(near(rk4((t, y) -> [y[2], -y[1]], [1.0, 0.0], 0.0, 0.01, 100), [cos(1.0), -sin(1.0)]))
println(rk4((t, y) -> t, 0.0, 0.0, 0.5, 4))
