# The log marginal likelihood of a Gaussian process with a squared exponential kernel, by the
# Cholesky factorisation of its covariance.

using LinearAlgebra

# `s` holds the logarithms of the length scale, the standard deviation, and that of the noise.
function gp_lml(x, y, s)
    scale, deviation, noise = exp.(s)
    n = length(x)
    covariance = [deviation^2 * exp(-0.5 * ((x[i] - x[j]) / scale)^2) for i in 1:n, j in 1:n]
    factor = cholesky(Symmetric(covariance + noise^2 * I))
    return -0.5 * dot(y, factor \ y) - 0.5 * logdet(factor) - 0.5 * n * log(2π)
end

x = collect(range(0, 4, 32))
y = sin.(3 .* x)
s = [-0.5, 0.2, -1.0]
println(gp_lml(x, y, s))
