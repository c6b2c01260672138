# A layer of a neural network: each unit adds up its inputs and bends the sum. The slope of `tanh`
# follows from its value, so that nothing but the outputs is needed again.

function tanh_layer(w::Matrix{Float64}, b::Vector{Float64}, x::Vector{Float64})
    h = similar(b)
    for i in eachindex(b)
        s = b[i]
        for j in eachindex(x)
            s += w[i, j] * x[j]
        end
        h[i] = tanh(s)
    end
    return h
end

# Two layers: what the second one keeps is there between the two.
function two_layers(w1, b1, w2, b2, x)
    return sum(tanh_layer(w2, b2, tanh_layer(w1, b1, x)))
end

w = [0.5 -0.5; 1.0 1.0]
println(tanh_layer(w, [0.0, -3.0], [1.0, 2.0]) == [tanh(-0.5), 0.0])
println(two_layers(w, [0.5, -3.0], w, [1.0, 2.0], [1.0, 2.0]) == tanh(1.0) + tanh(2.0))
