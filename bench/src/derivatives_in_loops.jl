# Derivatives in the loops of optimizers and samplers. Each function takes the number of iterations.

f(x) = sin(x) * x
rosenbrock(x) = (1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2

function slopes(n)
    s = 0.0
    for k in 1:n
        s += derivative(f, 0.001k)
    end
    return s
end

function curvatures(n)
    s = 0.0
    for k in 1:n
        s += derivative(y -> derivative(f, y), 0.001k)
    end
    return s
end

function pullbacks(n)
    s = 0.0
    for k in 1:n
        _, back = pullback(f, 0.001k)
        s += back(1.0)[1]
    end
    return s
end

function descent(n)
    x = [0.1, 0.2]
    for k in 1:n
        x = x .- 1e-3 .* gradient(rosenbrock, x)[1]
    end
    return x[1]
end

function named_descent(n)
    x = (a = 0.1, b = 0.2)
    for k in 1:n
        g = gradient(x -> (1 - x.a)^2 + (x.b - x.a^2)^2, x)[1]
        x = (a = x.a - 1e-3g.a, b = x.b - 1e-3g.b)
    end
    return x.a
end

mutable struct Line
    a::Float64
    b::Float64
end

function fit(n)
    p = Line(0.1, 0.2)
    for k in 1:n
        g = gradient(p -> (p.a * 0.5 + p.b - 1.0)^2, p)[1]
        p.a -= 0.01g.a
        p.b -= 0.01g.b
    end
    return p.a
end

function stochastic_descent(n)
    w = [0.1, 0.2, 0.3]
    X = [0.1i * j for i in 1:3, j in 1:10]
    s = 0.0
    for k in 1:n
        i = 1 + k % 10
        v, (g,) = withgradient(w -> (sum(w .* X[:, i]) - 1.0)^2, w)
        w = w .- 0.01 .* g
        s += v
    end
    return s
end

function turned(θ)
    c, s = cos(θ), sin(θ)
    return [c -s 0.0; s c 0.0; 0.0 0.0 1.0]
end
moved(x) = [1.0 0.0 x; 0.0 1.0 0.0; 0.0 0.0 1.0]

function reach(θs)
    T = [1.0 0.0 0.0; 0.0 1.0 0.0; 0.0 0.0 1.0]
    for θ in θs
        T = T * turned(θ) * moved(0.7)
    end
    return (T[1, 3] - 1.0)^2 + (T[2, 3] - 1.2)^2
end

function arm(n)
    θ = [0.1, 0.2, 0.3, 0.4]
    for k in 1:n
        θ = θ .- 0.1 .* gradient(reach, θ)[1]
    end
    return θ[1]
end
