# Loops that hand arrays on, and calls of what is known only when it runs. Each function takes the number of iterations.

const start = [sin(0.3i) for i in 1:100]

function step!(v, u)
    v[1], v[end] = u[1], u[end]
    for i in 2:length(u)-1
        v[i] = u[i] + 0.2 * (u[i-1] - 2u[i] + u[i+1])
    end
end

# Two arrays that take turns.
function in_turn(n)
    u, v = copy(start), similar(start)
    for k in 1:n
        step!(v, u)
        u, v = v, u
    end
    return u[50]
end

function stepped(u)
    v = similar(u)
    step!(v, u)
    return v
end

# A new array for each step.
function handed_on(n)
    u = start
    for k in 1:n
        u = stepped(u)
    end
    return u[50]
end

# A variable that a comprehension and generators in it capture, and that is assigned again.
function refined(n)
    x = [0.1i for i in 1:6]
    for k in 1:n
        x = [0.5x[i] + sum(x[j] for j in 1:length(x)) / 20 for i in 1:length(x)]
    end
    return sum(x)
end

function orbit(n)
    z, c = 0.0im, -0.1 + 0.65im
    for k in 1:n
        z = z^2 + c
    end
    return abs(z)
end

abstract type Shape end
struct Disc <: Shape
    r::Float64
end
struct Box <: Shape
    a::Float64
    b::Float64
end
struct Line <: Shape end
area(d::Disc) = 3.14 * d.r^2
area(b::Box) = b.a * b.b
area(::Line) = 0.0

const shapes = Shape[k % 3 == 0 ? Disc(0.1k) : k % 3 == 1 ? Box(0.2k, 0.3) : Line() for k in 1:64]

function areas(n)
    s = 0.0
    for k in 1:n
        s += area(shapes[k%64+1])
    end
    return s
end

struct Layer
    weights::Matrix{Float64}
    bias::Vector{Float64}
    activation::Function
end
(l::Layer)(x) = l.activation.(l.weights * x .+ l.bias)

const layers = [Layer([0.1sin(1.0i * j) for i in 1:16, j in 1:16], [0.01i for i in 1:16], f) for f in (tanh, x -> max(x, 0.0), identity)]

function through(layers, x)
    for layer in layers
        x = layer(x)
    end
    return sum(x)
end

function layered(n)
    s = 0.0
    for k in 1:n
        s += through(layers, [0.1i * k for i in 1:16])
    end
    return s
end

function layer_gradients(n)
    s = 0.0
    for k in 1:n
        s += gradient(through, layers, [0.1i * k for i in 1:16])[2][3]
    end
    return s
end
