# Tuples, structs and complex numbers that functions return and arrays hold. Each function takes the number of iterations.

const floats = [sin(0.3i) for i in 1:64]

function bezout(a, b)
    b == 0 && return (a, 1, 0)
    g, x, y = bezout(b, a % b)
    return (g, y, x - (a ÷ b) * y)
end

# 24 calls each.
function results(n)
    s = 0
    for k in 1:n
        g, x, y = bezout(832040 + k, 514229)
        s += g + x * y
    end
    return s
end

power(x) = sum(abs2, [complex(v, -v) for v in x])

function complexes(n)
    s = 0.0
    for k in 1:n
        s += power(floats)
    end
    return s
end

function complex_gradients(n)
    s = 0.0
    for k in 1:n
        s += gradient(power, floats)[1][3]
    end
    return s
end

struct Node
    value::Float64
    left::Union{Node,Nothing}
    right::Union{Node,Nothing}
end

grown(depth, x) = depth == 0 ? nothing : Node(x * depth, grown(depth - 1, 0.9x), grown(depth - 1, 1.1x))
energy(::Nothing) = 0.0
energy(t) = t.value^2 + energy(t.left) + energy(t.right)
tree(x) = energy(grown(6, x))

# 63 nodes each.
function trees(n)
    s = 0.0
    for k in 1:n
        s += tree(0.001k)
    end
    return s
end

function tree_gradients(n)
    s = 0.0
    for k in 1:n
        s += gradient(tree, 0.001k)[1]
    end
    return s
end

function sums(x)
    d = Dict{Int,Float64}()
    for (i, v) in enumerate(x)
        k = i % 7
        d[k] = get(d, k, 0.0) + v^2
    end
    return sum(values(d))
end

function table_gradients(n)
    s = 0.0
    for k in 1:n
        s += gradient(sums, floats)[1][3]
    end
    return s
end
