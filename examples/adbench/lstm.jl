# ADBench's language model: layers of LSTM units read a text character by character, a character
# being b bits; the objective is the mean of how unlikely the model finds what comes next. In the
# model, unit i is connected to unit i of its layer and of the layer below only. Each layer has
# eight columns in `main`: the weights of its forget, input, output and change gates, then their
# biases; and two in `state`: what it puts out, and what is in its cells. `extra` has the weights
# of the input, those of the output, and the biases of the output.
#
#     regraft grad examples/adbench/lstm.jl 'lstm_objective(main, extra, state, sequence)'

sigmoid(x) = 1 / (1 + exp(-x))

# One layer reads `x`, and leaves what it puts out there.
function lstm_layer!(main, state, layer, x)
    w, s = 8 * (layer - 1), 2 * (layer - 1)
    for i in eachindex(x)
        hidden, cell = state[i, s+1], state[i, s+2]
        forget = sigmoid(x[i] * main[i, w+1] + main[i, w+5])
        ingate = sigmoid(hidden * main[i, w+2] + main[i, w+6])
        outgate = sigmoid(x[i] * main[i, w+3] + main[i, w+7])
        change = tanh(hidden * main[i, w+4] + main[i, w+8])
        cell = cell * forget + ingate * change
        hidden = outgate * tanh(cell)
        state[i, s+1] = hidden
        state[i, s+2] = cell
        x[i] = hidden
    end
end

# What the model expects after a character, from what it remembers.
function lstm_predict!(y, main, extra, state, input)
    for i in eachindex(y)
        y[i] = input[i] * extra[i, 1]
    end
    for layer in 1:size(state, 2)÷2
        lstm_layer!(main, state, layer, y)
    end
    for i in eachindex(y)
        y[i] = y[i] * extra[i, 2] + extra[i, 3]
    end
end

function lstm_objective(main, extra, state, sequence)
    state = copy(state)
    b, steps = size(sequence)
    y = zeros(b)
    total = 0.0
    for t in 1:steps-1
        lstm_predict!(y, main, extra, state, view(sequence, :, t))
        normalizer = log(sum(exp, y) + 2)
        for i in 1:b
            total += sequence[i, t+1] * (y[i] - normalizer)
        end
    end
    return -total / ((steps - 1) * b)
end

b, layers = 3, 2
main = [0.1 * i - 0.05 * j for i in 1:b, j in 1:8*layers]
extra = [0.3 * i - 0.1 * j for i in 1:b, j in 1:3]
state = [0.1 * j for i in 1:b, j in 1:2*layers]
sequence = [(i + t) % 2 == 0 ? 1.0 : 0.0 for i in 1:b, t in 1:6]
println(lstm_objective(main, extra, state, sequence))
