//! Loops whose iterations make arrays for themselves: reverse mode, which makes their shadows on the way back and keeps no copy
//! of what is still in them, against forward mode.

use super::modes_agree;

/// Functions of a vector and a number.
const PROGRAM: &str = "
# All uses of the array are in one loop within the iteration.
function recurrence(x, m)
    s = 0.0
    for i in 1:m
        t = zeros(length(x) + 1)
        t[1] = 0.1i
        for j in 1:length(x)
            t[j+1] = sin(t[j] * x[j]) + 0.5
            s += t[j+1]^2
        end
    end
    s
end

# The array is made in the block that the loop is left from: once more than there are iterations.
function made_for_the_test(x, m)
    s, k, n = 0.0, 0, length(x)
    while (t = zeros(n); t[1] = x[1] * (k + 1); t[n] = sin(x[2]) + t[1]; s += t[1] * t[n]; k < m)
        k += 1
        for j in 1:n
            s += t[j]^2 * j
        end
    end
    s
end

# The loop is left in its middle, and the array is used before that and after it.
function left_in_the_middle(x, m)
    s, k = 0.0, 1
    while true
        t = zeros(length(x))
        for j in 1:length(x)
            t[j] = tanh(x[j] * k)
        end
        s += t[1] * t[2]
        k >= m && break
        for j in 1:length(x)
            s += t[j]^2
        end
        k += 1
    end
    s
end

# The array of the iteration before is written to, which is handed on. How long arrays are is not known before the loop.
function written_to_later(x, m)
    s, before = 0.0, zeros(length(x))
    for i in 1:m
        n = length(x) - i % 2
        t = zeros(n)
        for j in 1:n
            t[j] = tanh(x[j] * i)
        end
        before[1] = 0.5s
        for j in 1:n
            s += t[j]^3
        end
        s += before[1]^2 * t[1]
        before = t
    end
    s + before[1]
end
function written_to_where_it_is_handed_on(x, m)
    s, t = 0.0, zeros(length(x))
    for i in 1:m
        u = i % 2 == 0 ? t : zeros(length(x))
        for j in 1:length(x)
            u[j] += tanh(x[j] * i)
        end
        for j in 1:length(x)
            s += u[j]^3
        end
        t = u
    end
    s
end

# One way of a branch uses the array, or both do, in loops.
function on_some_ways(x, m)
    s = 0.0
    for i in 1:m
        t = [sin(v * i) for v in x]
        if i % 3 == 0
            for v in t
                s += v^2
            end
        elseif i % 3 == 1
            s += t[1]^3
        end
        s += t[end] * i
    end
    s
end

# Arrays as long as the counters say, two loops deep.
function triangles(x, m)
    s = 0.0
    for i in 1:m
        t = zeros(i)
        for j in 1:i
            t[j] = exp(0.1x[1] * j)
            u = zeros(j)
            for k in 1:j
                u[k] = t[j] * x[2] * k
            end
            for k in 1:j
                s += u[k]^2
            end
        end
        for j in 1:i
            s += sin(t[j])
        end
    end
    s
end

# What is stored is overwritten in the same iteration before it is read, or after.
function stored_twice(x, m)
    s = 0.0
    for i in 1:m
        t = zeros(length(x))
        for j in 1:length(x)
            t[j] = tanh(x[j] * i)
            s += t[j]^2
        end
        for j in 1:length(x)
            s += t[j]^3
            t[j] = 0.5s
        end
        s = tanh(s + t[1]^2)
    end
    s
end

# Layers of a network for one point at a time, small and large.
function layers(x, m)
    n = length(x)
    w = [sin(0.1i * j) * x[1 + (i + j) % n] for i in 1:m, j in 1:m]
    b = [x[1 + i % n] for i in 1:m]
    s = 0.0
    for p in 1:5
        h = tanh.(w * [cos(0.3p * j) for j in 1:m] .+ b)
        g = w * h
        z = exp.(g .- maximum(g))
        s += sum(abs2, h .- b) - log(sum(z ./ 2)) + z[1 + p % m]
    end
    s
end

# Calls give back arrays from before them, which are written to.
pick(x, n) = n <= 0 ? x : (pick(x, n - 1); pick(x, n - 2))
function given_back(x, m)
    x, s = copy(x), 0.0
    for i in 1:m
        s += sin(x[1]) * x[1]
        y = pick(x, i)
        y[1] = 0.5s
    end
    s
end
function grown_where_it_is_given_back(x, m)
    z, s = copy(x), 0.0
    for i in 1:m
        s += z[end]^2
        push!(pick(z, i), 0.5s)
    end
    s
end
function given_back_in_the_end(x, m)
    x, s = copy(x), 0.0
    for i in 1:m
        s += sin(x[1] * i) * x[1]
    end
    y = pick(x, m)
    y[1] = 0.5s
    s + y[1]^2
end

# Only the first elements are read again.
function read_in_part(x, m)
    s = 0.0
    for i in 1:m
        t = [exp(sin(x[1 + k % length(x)])) for k in 1:50]
        for k in 1:3
            s += tanh(t[k] * i)
        end
    end
    s
end
";

const CALLS: [&str; 23] = [
    "recurrence([0.3, 0.7, 1.1], 4)",
    "made_for_the_test([0.3, 0.7], 0)",
    "made_for_the_test([0.3, 0.7], 5)",
    "left_in_the_middle([0.3, 0.7, 1.1], 1)",
    "left_in_the_middle([0.3, 0.7, 1.1], 4)",
    "written_to_later([0.3, 0.7, 1.1], 1)",
    "written_to_later([0.3, 0.7, 1.1], 4)",
    "written_to_where_it_is_handed_on([0.3, 0.7, 1.1], 5)",
    "on_some_ways([0.3, 0.7, 1.1], 7)",
    "triangles([0.3, 0.7], 4)",
    "stored_twice([0.3, 0.7, 1.1], 3)",
    "layers([0.3, 0.7, 1.1], 3)",
    "layers([0.3, 0.7, 1.1], 17)",
    "read_in_part([0.3, 0.7, 1.1], 4)",
    "given_back([0.3, 0.7], 4)",
    "grown_where_it_is_given_back([0.3, 0.7], 4)",
    "given_back_in_the_end([0.3, 0.7], 4)",
    // One iteration, or one element.
    "recurrence([0.3, 0.7, 1.1], 1)",
    "on_some_ways([0.3, 0.7, 1.1], 1)",
    "triangles([0.3, 0.7], 1)",
    "stored_twice([0.3], 2)",
    "written_to_where_it_is_handed_on([0.3], 2)",
    "left_in_the_middle([0.3, 0.7], 2)",
];

#[test]
fn arrays_that_iterations_make_for_themselves() {
    modes_agree(PROGRAM, &CALLS);
}
