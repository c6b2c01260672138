# A perceptron with one hidden layer, and its squared error; the same by broadcasting.

relu(x) = max(x, zero(x))

simple_mlp(W2, W1, Y, X) = sum(abs2, Y - W2 * map(relu, W1 * X))
dotted_mlp(W2, W1, Y, X) = sum(abs2.(Y .- W2 * relu.(W1 * X)))

W1 = [sin(1.0i * j) for i in 1:4, j in 1:3]
W2 = [cos(1.0i * j) for i in 1:3, j in 1:4]
X = [1.0 / (i + j) for i in 1:3, j in 1:5]
Y = [1.0i - j for i in 1:3, j in 1:5]
println(simple_mlp(W2, W1, Y, X))
println(isapprox(dotted_mlp(W2, W1, Y, X), simple_mlp(W2, W1, Y, X)))
