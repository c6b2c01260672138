# ADBench's Gaussian mixture model: the log likelihood of points under k clusters of dimension d,
# with a Wishart prior on the inverse covariances. Of each cluster, `icf` holds in one column the
# logarithms of the diagonal of a factor of that inverse, and then the factor's strictly lower
# triangle, column by column.
#
#     regraft grad examples/adbench/gmm.jl 'gmm_objective(alphas, means, icf, x, prior)'

using SpecialFunctions

struct Wishart
    gamma::Float64
    m::Int
end

# The logarithm of the multivariate gamma function.
function log_gamma_distrib(a::Float64, p::Int)
    out = 0.25 * p * (p - 1) * log(π)
    for j in 1:p
        out += loggamma(a + 0.5 * (1 - j))
    end
    return out
end

function logsumexp(x)
    m = maximum(x)
    s = 0.0
    for v in x
        s += exp(v - m)
    end
    return m + log(s)
end

# The square of the length of the factor of cluster `k` times (point `n` minus the mean of `k`).
function squared_distance!(y, q, means, icf, x, k, n)
    d = size(x, 1)
    for i in 1:d
        y[i] = q[i, k] * (x[i, n] - means[i, k])
    end
    at = d
    for i in 1:d
        center = x[i, n] - means[i, k]
        for j in i+1:d
            at += 1
            y[j] += icf[at, k] * center
        end
    end
    s = 0.0
    for i in 1:d
        s += y[i]^2
    end
    return s
end

function log_wishart_prior(prior::Wishart, q, sums, icf)
    d, k = size(q)
    n = d + prior.m + 1
    c = n * d * (log(prior.gamma) - 0.5 * log(2)) - log_gamma_distrib(0.5 * n, d)
    out = 0.0
    for j in 1:k
        frobenius = 0.0
        for i in 1:d
            frobenius += q[i, j]^2
        end
        for i in d+1:size(icf, 1)
            frobenius += icf[i, j]^2
        end
        out += 0.5 * prior.gamma^2 * frobenius - prior.m * sums[j]
    end
    return out - k * c
end

function gmm_objective(alphas, means, icf, x, prior::Wishart)
    d, n = size(x)
    k = length(alphas)
    q = zeros(d, k)
    sums = zeros(k)
    for j in 1:k, i in 1:d
        q[i, j] = exp(icf[i, j])
        sums[j] += icf[i, j]
    end
    y = zeros(d)
    terms = zeros(k)
    likelihood = 0.0
    for p in 1:n
        for j in 1:k
            distance = squared_distance!(y, q, means, icf, x, j, p)
            terms[j] = alphas[j] + sums[j] - 0.5 * distance
        end
        likelihood += logsumexp(terms)
    end
    constant = -n * d * 0.5 * log(2π)
    return constant + likelihood - n * logsumexp(alphas) + log_wishart_prior(prior, q, sums, icf)
end

d, k, n = 2, 3, 6
alphas = [0.1 * j - 0.3 for j in 1:k]
means = [0.2 * i - 0.3 * j for i in 1:d, j in 1:k]
icf = [0.1 * i - 0.05 * j for i in 1:(d * (d + 1)) ÷ 2, j in 1:k]
x = [sin(1.0 * i * j) for i in 1:d, j in 1:n]
prior = Wishart(1.0, 0)
println(gmm_objective(alphas, means, icf, x, prior))
