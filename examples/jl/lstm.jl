# A language model by LSTM layers: the mean log likelihood of a sequence.

sigmoid(x) = 1 / (1 + exp(-x))

# One layer: `weight` and `bias` hold four gates each, one a column.
function lstm_layer(weight, bias, hidden, cell, input)
    forget = sigmoid.(input .* weight[:, 1] .+ bias[:, 1])
    ingate = sigmoid.(hidden .* weight[:, 2] .+ bias[:, 2])
    outgate = sigmoid.(input .* weight[:, 3] .+ bias[:, 3])
    change = tanh.(hidden .* weight[:, 4] .+ bias[:, 4])
    cell = cell .* forget .+ ingate .* change
    outgate .* tanh.(cell), cell
end

function predict!(main, extra, state, input)
    x = input .* extra[:, 1]
    for (layer, (weight, bias)) in enumerate(main)
        h, c = lstm_layer(weight, bias, state[layer].hidden, state[layer].cell, x)
        state[layer] = (hidden = h, cell = c)
        x = h
    end
    x .* extra[:, 2] .+ extra[:, 3]
end

function objective(main, extra, state, sequence)
    state = copy(state)
    total, count = 0.0, 0
    for t in 1:size(sequence, 2)-1
        y = predict!(main, extra, state, sequence[:, t])
        normalised = y .- log(sum(exp, y) + 2)
        total += sum(sequence[:, t + 1] .* normalised)
        count += length(y)
    end
    -total / count
end

b, layers = 3, 2
main = [([0.1 * i - 0.05 * j * l for i in 1:b, j in 1:4], [0.02 * i * j * l for i in 1:b, j in 1:4])
        for l in 1:layers]
extra = [0.3 * i - 0.1 * j for i in 1:b, j in 1:3]
state = [(hidden = fill(0.1l, b), cell = fill(-0.2l, b)) for l in 1:layers]
sequence = [(i + t) % 2 == 0 ? 1.0 : 0.0 for i in 1:b, t in 1:6]
println(objective(main, extra, state, sequence))
println(state[1].hidden)
