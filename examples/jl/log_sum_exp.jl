# The logarithm of the sum of the exponentials of each row, the largest element taken out first:
# an exponential of that would soon be infinite.

function log_sum_exp_rows(x::Matrix{Float64})
    total = 0.0
    for i in axes(x, 1)
        m = x[i, 1]
        for j in axes(x, 2)
            m = max(m, x[i, j])
        end
        s = 0.0
        for j in axes(x, 2)
            s += exp(x[i, j] - m)
        end
        total += m + log(s)
    end
    return total
end

x = [1000.0 1000.0; -1000.0 -1000.0]
println(isapprox(log_sum_exp_rows(x), 2 * log(2.0)))
println(log_sum_exp_rows([0.5 0.5]) == 0.5 + log(2.0))
