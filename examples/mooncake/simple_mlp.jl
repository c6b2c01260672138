# The squared error of a perceptron with one hidden layer, for a batch of inputs.

relu(x) = max(x, zero(x))

simple_mlp(W2, W1, Y, X) = sum(abs2, Y - W2 * map(relu, W1 * X))

hidden, inputs, outputs, batch = 16, 8, 8, 5
W1 = [sin(1.0i * j) for i in 1:hidden, j in 1:inputs]
W2 = [cos(1.0i * j) for i in 1:outputs, j in 1:hidden]
X = [1.0 / (i + j) for i in 1:inputs, j in 1:batch]
Y = [1.0i - j for i in 1:outputs, j in 1:batch]
println(simple_mlp(W2, W1, Y, X))
