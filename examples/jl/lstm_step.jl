# The step of a unit with a memory, in a loop over time: what it remembers is overwritten in each
# iteration, but the derivative of that iteration needs what was there before.

sigmoid(x) = 1 / (1 + exp(-x))

function remember(w::Vector{Float64}, h::Vector{Float64}, c::Vector{Float64}, x::Matrix{Float64})
    h, c = copy(h), copy(c)
    total = 0.0
    for t in axes(x, 2)
        for i in axes(x, 1)
            forget = sigmoid(w[1] * x[i, t] + w[2] * h[i])
            change = tanh(w[3] * x[i, t] + w[4] * h[i])
            c[i] = forget * c[i] + (1 - forget) * change
            h[i] = tanh(c[i])
            total += h[i]
        end
    end
    return total
end

x = [1.0 0.0 -1.0; 0.5 0.5 0.5]
println(remember([0.0, 0.0, 0.0, 0.0], [3.0, 4.0], [8.0, 0.0], x) == tanh(4.0) + tanh(2.0) + tanh(1.0))
println(remember([0.5, -0.25, 1.0, 0.5], [0.0, 0.0], [0.0, 0.0], x))
