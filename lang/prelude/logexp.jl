# Exponentials, logarithms and what is made of them, where the plain formula loses digits or overflows.

softplus(x::Real) = log1pexp(x)
invsoftplus(x::Real) = logexpm1(x)
log1mexp(x::Real) = x < -oftype(float(x), 0.6931471805599453) ? log1p(-exp(x)) : log(-expm1(x))
log2mexp(x::Real) = log1p(-expm1(x))
logexpm1(x::Real) = x <= 18 ? log(expm1(x)) : x - exp(-x)
log1psq(x::Real) = (a = abs(float(x)); a < 9007199254740992 ? log1p(a * a) : 2 * log(a))
log1pmx(x::Real) = log1p(x) - x
logmxp1(x::Real) = log(x) - x + 1
xexpx(x::Real) = isfinite(x) || x > 0 ? x * exp(x) : zero(float(x))
xexpy(x::Real, y::Real) = iszero(x) && !isnan(y) ? zero(float(x)) : x * exp(y)
loglogistic(x::Real) = -log1pexp(-float(x))
logitexp(x::Real) = x - log1mexp(x)
log1mlogistic(x::Real) = -log1pexp(x)
logit1mexp(x::Real) = log1mexp(x) - x
cloglog(x::Real) = log(-log1p(-x))
cexpexp(x::Real) = -expm1(-exp(x))
sigmoid(x::Real) = logistic(x)
σ(x::Real) = logistic(x)
relu(x::Real) = max(zero(x), x)
logaddexp(x::Real, y::Real) = __log_of_two(log1pexp, promote(float(x), float(y))...)
logsubexp(x::Real, y::Real) = __log_of_two(log1mexp, promote(float(x), float(y))...)
__log_of_two(f, x, y) = x >= y ? __add_log(f, x, y) : __add_log(f, y, x)
__add_log(f, high, low) = isfinite(high) ? high + f(low - high) : high
logsumexp(xs; dims = :) = __log_of_sum(xs, dims)
logsumexp(x::Number; dims = :) = float(x)
function __log_of_sum(xs, ::Colon)
    m = __highest(xs)
    isfinite(m) || return m
    return m + log(sum(x -> exp(x - m), xs))
end
__highest(xs) = ignore_derivatives(float(reduce(max, xs; init = -Inf)))
function __log_of_sum(xs, dims)
    m = ignore_derivatives(maximum(xs; dims = dims))
    return log.(sum(exp.(xs .- m); dims = dims)) .+ m
end
softmax(xs; dims = :) = __softmax(float.(xs), dims)
__softmax(xs, dims) = (e = exp.(xs .- __maximum_of(xs, dims)); e ./ __sum_of_dims(e, dims))
logsoftmax(xs; dims = :) = xs .- logsumexp(xs; dims)
__maximum_of(xs, ::Colon) = ignore_derivatives(maximum(xs))
__maximum_of(xs, dims) = ignore_derivatives(maximum(xs; dims = dims))
__sum_of_dims(xs, ::Colon) = sum(xs)
__sum_of_dims(xs, dims) = sum(xs; dims = dims)
