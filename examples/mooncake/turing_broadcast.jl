# A model of many observations that are all alike: the density of two parameters, each of a normal
# distribution that is cut off, and of observations with logarithms that are normally distributed.

struct LogNormal
    mean::Float64
    deviation::Float64
end

function logpdf(d::LogNormal, x)
    z = (log(x) - d.mean) / d.deviation
    return -0.5 * z^2 - log(x) - log(d.deviation) - 0.5 * log(2π)
end

# The density of a normal distribution with mean 1 and deviation 2 between two bounds, but for a
# constant factor.
logprior(x, low, high) = low <= x <= high ? -0.5 * ((x - 1) / 2)^2 : -Inf

function turing_broadcast(parameters, x)
    mean, deviation = parameters
    prior = logprior(mean, 0.1, 10.0) + logprior(deviation, 0.1, 10.0)
    return prior + sum(logpdf.(Ref(LogNormal(mean, deviation)), x))
end

parameters = [1.5, 2.0]
x = [exp(1.5 + 2 * sin(1.0i)) for i in 1:1000]
println(turing_broadcast(parameters, x))
