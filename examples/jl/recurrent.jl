# A recurrent network whose states are the columns of one matrix: the derivative in reverse mode reads them there.
#
#     regraft grad examples/jl/recurrent.jl 'recurrent([0.5 0.1; -0.2 0.3], [1.0 0.0; 0.0 1.0], [0.5 -1.0; 1.0 0.25])'

function recurrent(w, u, x)
    n, steps = size(w, 1), size(x, 2)
    h = zeros(n, steps + 1)
    for t in 1:steps, i in 1:n
        s = 0.0
        for j in 1:n
            s += w[i, j] * h[j, t]
        end
        for j in 1:size(x, 1)
            s += u[i, j] * x[j, t]
        end
        h[i, t+1] = tanh(s)
    end
    sum(h)
end

one = ones(1, 1)
println(recurrent(zero(one), one, [0.5 1.0]) ≈ tanh(0.5) + tanh(1.0))
println(recurrent(one, one, [0.5 1.0]) ≈ tanh(0.5) + tanh(1.0 + tanh(0.5)))
