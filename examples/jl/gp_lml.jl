# The log marginal likelihood of a Gaussian process, by the Cholesky factor of its covariance.

function cholesky_lower(a)
    n = size(a, 1)
    l = zeros(n, n)
    for j in 1:n
        pivot = a[j, j] - sum(abs2, l[j, 1:j-1])
        pivot <= 0 && throw(DomainError(pivot, "the matrix is not positive definite"))
        l[j, j] = sqrt(pivot)
        for i in j+1:n
            l[i, j] = (a[i, j] - sum(l[i, 1:j-1] .* l[j, 1:j-1])) / l[j, j]
        end
    end
    l
end

# Solves l * x = b.
function forward_substitution(l, b)
    x = copy(b)
    for i in eachindex(x)
        for j in 1:i-1
            x[i] -= l[i, j] * x[j]
        end
        x[i] /= l[i, i]
    end
    x
end

function gp_lml(x, y, scale, noise)
    n = length(x)
    covariance = [exp(-0.5 * ((a - b) / scale)^2) for a in x, b in x]
    for i in 1:n
        covariance[i, i] += noise
    end
    l = cholesky_lower(covariance)
    z = forward_substitution(l, y)
    -0.5 * sum(abs2, z) - sum(log(l[i, i]) for i in 1:n) - 0.5 * n * log(2π)
end

x = collect(0:0.2:1)
println(cholesky_lower([4.0 2.0; 2.0 5.0]))
println(gp_lml(x, sin.(3 .* x), 0.7, 0.1))
