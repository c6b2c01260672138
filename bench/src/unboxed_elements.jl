# Loops over arrays of complex numbers, tuples and structs. Each function takes the number of iterations.

# A Fourier transform in place, of 2^k numbers whose order is that of their reversed bits.
function transform!(x)
    n = length(x)
    len = 2
    while len <= n
        root = exp(-2im * pi / len)
        for first in 1:len:n
            w = 1.0 + 0.0im
            for k in first:first+len÷2-1
                a = x[k]
                b = x[k+len÷2] * w
                x[k] = a + b
                x[k+len÷2] = a - b
                w *= root
            end
        end
        len *= 2
    end
    return x
end

# 192 butterflies.
function transforms(n)
    x = [complex(sin(1.0k), 0.0) for k in 1:64]
    for _ in 1:n
        transform!(x)
        for k in 1:64
            x[k] *= 0.125
        end
    end
    return abs2(x[3])
end

power(t) = sum(abs2, transform!([complex(v, 0.0) for v in t]))

# 32 butterflies there, and as many back.
function transform_gradients(n)
    t = [sin(1.0k) for k in 1:16]
    s = 0.0
    for _ in 1:n
        s += gradient(power, t)[1][2]
    end
    return s
end

# A product of a matrix of 8 x 8 and a vector.
function products(n)
    a = [complex(sin(i * j), cos(i)) for i in 1:8, j in 1:8]
    x, y = [complex(1.0k, -1.0) for k in 1:8], zeros(ComplexF64, 8)
    for _ in 1:n
        for j in 1:8, i in 1:8
            y[i] += a[i, j] * x[j]
        end
    end
    return abs2(y[2])
end

# 190 pairs of points.
function pairs_of_points(n)
    p = [(sin(1.0k), cos(1.0k), sin(2.0k)) for k in 1:20]
    s = 0.0
    for _ in 1:n
        least = Inf
        for i in 1:20, j in i+1:20
            least = min(least, (p[i][1] - p[j][1])^2 + (p[i][2] - p[j][2])^2 + (p[i][3] - p[j][3])^2)
        end
        s += least
        p[20] = (s, least, 0.5)
    end
    return s
end

# A stack of pairs, to which 15 nodes come and go.
function stacks(n)
    stack = Tuple{Int64,Int64}[]
    s = 0
    for _ in 1:n
        push!(stack, (1, 0))
        while !isempty(stack)
            node, depth = pop!(stack)
            s += depth
            for child in (2node, 2node + 1)
                child <= 15 && push!(stack, (child, depth + 1))
            end
        end
    end
    return s
end

# 20 pairs, by the first and then the second.
function sorted_pairs(n)
    s = 0
    for k in 1:n
        s += sort!([((7i + k) % 5, i) for i in 1:20])[3][2]
    end
    return s
end

struct Vec3
    x::Float64
    y::Float64
    z::Float64
end
Base.:+(a::Vec3, b::Vec3) = Vec3(a.x + b.x, a.y + b.y, a.z + b.z)
Base.:-(a::Vec3, b::Vec3) = Vec3(a.x - b.x, a.y - b.y, a.z - b.z)
Base.:*(s::Float64, a::Vec3) = Vec3(s * a.x, s * a.y, s * a.z)
squared(a::Vec3) = a.x^2 + a.y^2 + a.z^2

struct Body
    position::Vec3
    velocity::Vec3
    mass::Float64
end

# A step of bodies that attract one another.
function move!(bodies)
    for i in eachindex(bodies)
        b = bodies[i]
        force = Vec3(0.0, 0.0, 0.0)
        for j in eachindex(bodies)
            if i != j
                d = bodies[j].position - b.position
                r2 = squared(d) + 0.01
                force = force + (bodies[j].mass / (r2 * sqrt(r2))) * d
            end
        end
        bodies[i] = Body(b.position + 0.01 * b.velocity, b.velocity + 0.01 * force, b.mass)
    end
    return bodies
end

some_bodies(v) = [Body(Vec3(sin(1.0k), cos(2.0k), 0.1k), Vec3(0.0, v, 0.1k), 1.0 + 0.1k) for k in 1:10]

# 90 pairs of bodies.
function bodies(n)
    all = some_bodies(0.5)
    for _ in 1:n
        move!(all)
    end
    return all[3].position.y
end

energy(v) = sum(b -> b.mass * squared(b.velocity), move!(some_bodies(v)))

# 90 pairs there, and as many back.
function bodies_gradients(n)
    s = 0.0
    for k in 1:n
        s += gradient(energy, 0.5 + 0.001k)[1]
    end
    return s
end
