# Log likelihood of a Gaussian mixture model, with a Wishart prior on its inverse covariances.
# Shapes: k clusters of dimension d; `icf` holds, for each cluster, log diagonal entries and then
# the strictly lower triangle of the factor, column by column.

function log_gamma_distrib(a::Float64, p::Int)
    out = 0.25 * p * (p - 1) * log(pi)
    for j in 1:p
        out += stirling(a + 0.5 * (1 - j))
    end
    out
end

# log Γ(x) by Stirling's series after steps of the recurrence.
function stirling(x::Float64)
    shift = 0.0
    while x < 25.0
        shift += log(x)
        x += 1.0
    end
    (x - 0.5) * log(x) - x + 0.5 * log(2pi) + 1 / 12x - 1 / 360x^3 + 1 / 1260x^5 - 1 / 1680x^7 - shift
end

logsumexp(x) = (m = maximum(x); m + log(sum(exp.(x .- m))))

function lower_times(d, q, l, x)
    y = q .* x
    at = 1
    for j in 1:d, i in j+1:d
        y[i] += l[at] * x[j]
        at += 1
    end
    y
end

struct Wishart
    gamma::Float64
    m::Int
end

function log_wishart_prior(prior::Wishart, d, k, q, sum_qs, icf)
    n = d + prior.m + 1
    c = n * d * (log(prior.gamma) - 0.5 * log(2)) - log_gamma_distrib(0.5n, d)
    out = 0.0
    for ik in 1:k
        frobenius = sum(abs2, q[:, ik]) + sum(abs2, icf[d+1:end, ik])
        out += 0.5 * prior.gamma^2 * frobenius - prior.m * sum_qs[ik]
    end
    out - k * c
end

function gmm_objective(alphas, means, icf, x, prior::Wishart)
    d, n = size(x)
    k = length(alphas)
    q = exp.(icf[1:d, :])
    sum_qs = [sum(icf[1:d, ik]) for ik in 1:k]
    slse = 0.0
    for ix in 1:n
        terms = [alphas[ik] + sum_qs[ik] -
                 0.5 * sum(abs2, lower_times(d, q[:, ik], icf[d+1:end, ik], x[:, ix] .- means[:, ik]))
                 for ik in 1:k]
        slse += logsumexp(terms)
    end
    constant = -n * d * 0.5 * log(2pi)
    constant + slse - n * logsumexp(alphas) + log_wishart_prior(prior, d, k, q, sum_qs, icf)
end

d, k, n = 3, 2, 5
alphas = [0.1, -0.3]
means = [0.1 * i - 0.2 * j for i in 1:d, j in 1:k]
icf = [0.05 * i + 0.1 * j for i in 1:(d * (d + 1)) ÷ 2, j in 1:k]
x = [sin(1.0 * i * j) for i in 1:d, j in 1:n]
println(gmm_objective(alphas, means, icf, x, Wishart(1.0, 0)))
println(gmm_objective(alphas, means, icf, x, Wishart(0.5, 2)))
