# A perceptron with two layers of tanh units, and the sum of what it puts out.
#
#     regraft grad examples/jl/tanh_mlp.jl 'tanh_mlp([0.5 0.25], [0.1], [0.5;;], [0.0], [1.0; 2.0;;])'

layer(W, b, X) = tanh.(W * X .+ b)

tanh_mlp(W1, b1, W2, b2, X) = sum(layer(W2, b2, layer(W1, b1, X)))

W1 = [0.5 -0.25; 0.0 1.0; 2.0 0.5]
W2 = [1.0 0.0 -1.0]
X = [0.0 1.0; 0.0 2.0]
println(tanh_mlp(W1, zeros(3), W2, [0.0], zero(X)))
println(tanh_mlp(W1, zeros(3), W2, [0.0], X) ≈ tanh(tanh(0.0) - tanh(3.0)))
