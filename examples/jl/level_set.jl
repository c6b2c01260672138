# Steps of the level-set equation by Godunov's scheme on a square grid.
function level_set(phi, speed, dt, steps)
    n, m = size(phi)
    u = copy(phi)
    for s in 1:steps
        v = copy(u)
        for j in 2:m-1, i in 2:n-1
            a = u[i, j] - u[i-1, j]
            b = u[i+1, j] - u[i, j]
            c = u[i, j] - u[i, j-1]
            d = u[i, j+1] - u[i, j]
            g = max(a, 0.0)^2 + min(b, 0.0)^2 + max(c, 0.0)^2 + min(d, 0.0)^2
            v[i, j] = u[i, j] - dt * speed[i, j] * sqrt(g + 1e-12)
        end
        u = v
    end
    sum(abs2, u)
end

println(level_set([1.0i - j^2 for i in 1:4, j in 1:4], ones(4, 4), 0.1, 2))
