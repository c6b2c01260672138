# Statistics: quantiles, covariances, correlations.

middle(x::Number) = float(x)
middle(x::Number, y::Number) = x / 2 + y / 2
middle(a::AbstractArray) = middle(minimum(a), maximum(a))
median(a; dims) = mapslices(median, a; dims)
median(a) = __median(sort(vec(collect(a))))
function __median(v)
    n = length(v)
    n == 0 && throw(ArgumentError("median of an empty array is undefined, []"))
    any(isnan, v) && return oftype(v[1] / 1, NaN)
    return isodd(n) ? v[div(n, 2) + 1] / 1 : middle(v[div(n, 2)], v[div(n, 2) + 1])
end
median!(a::AbstractVector) = __median(sort!(a))

# Between the neighbours of a position among the sorted numbers, by `alpha` and `beta` (Hyndman and Fan, "Sample
# quantiles in statistical packages", 1996).
quantile(a, p; sorted::Bool = false, alpha::Real = 1.0, beta::Real = alpha) = __quantiles(sorted ? a : sort(vec(collect(a))), p, alpha, beta)
quantile!(a::AbstractVector, p; sorted::Bool = false, alpha::Real = 1.0, beta::Real = alpha) = __quantiles(sorted ? a : sort!(a), p, alpha, beta)
__quantiles(v, p::Real, alpha, beta) = __quantile(v, p, alpha, beta)
__quantiles(v, p, alpha, beta) = map(x -> __quantile(v, x, alpha, beta), p)
function __quantile(v, p, alpha, beta)
    0 <= p <= 1 || throw(ArgumentError("input probability out of [0,1] range"))
    n = length(v)
    n == 0 && throw(ArgumentError("empty data vector"))
    m = alpha + p * (1 - alpha - beta)
    at = n * p + oftype(p, m)
    j = clamp(trunc(Int64, at), 1, max(n - 1, 1))
    n == 1 && return v[1] + zero(p) * v[1]
    return v[j] + clamp(at - j, 0, 1) * (v[j + 1] - v[j])
end

varm(a, m; dims = :, corrected::Bool = true) = var(a; dims, corrected, mean = m)
stdm(a, m; dims = :, corrected::Bool = true) = std(a; dims, corrected, mean = m)

cov(x; dims::Int64 = 1, corrected::Bool = true) = __cov_of(x, dims, corrected)
cov(x, y; dims::Int64 = 1, corrected::Bool = true) = __cov_of(x, y, dims, corrected)
cov(x) = __cov_of(x, 1, true)
cov(x, y) = __cov_of(x, y, 1, true)
__cov_of(x::AbstractVector, dims, corrected) = sum(abs2, x .- mean(x)) / (length(x) - corrected)
__cov_of(x::AbstractMatrix, dims, corrected) = __cov_of(x, x, dims, corrected)
function __cov_of(x::AbstractVector, y::AbstractVector, dims, corrected)
    length(x) == length(y) || throw(DimensionMismatch("the vectors have different lengths"))
    return sum((x .- mean(x)) .* (y .- mean(y))) / (length(x) - corrected)
end
# Of the columns, or of the rows for `dims = 2`.
__cov_of(x::Union{AbstractVector, AbstractMatrix}, y::AbstractMatrix, dims, corrected) = __cov_between(x, y, dims, corrected)
function __cov_between(x, y, dims, corrected)
    u, v = __centred(x, dims), __centred(y, dims)
    size(u, 1) == size(v, 1) || throw(DimensionMismatch("the arrays have different lengths"))
    return (transpose(u) * v) ./ (size(u, 1) - corrected)
end
__cov_of(x::AbstractMatrix, y::AbstractVector, dims, corrected) = vec(__cov_between(x, y, dims, corrected))
__cor_of(x::AbstractMatrix, y::AbstractVector, dims) = vec(__cor_between(x, y, dims))
__centred(x::AbstractVector, dims) = reshape(x .- mean(x), length(x), 1)
function __centred(x::AbstractMatrix, dims)
    u = dims == 1 ? float.(collect(x)) : float.(collect(transpose(x)))
    return u .- mean(u; dims = 1)
end
cor(x; dims::Int64 = 1) = __cor_of(x, dims)
cor(x, y; dims::Int64 = 1) = __cor_of(x, y, dims)
cor(x) = __cor_of(x, 1)
cor(x, y) = __cor_of(x, y, 1)
__cor_of(x::AbstractVector, dims) = one(float(real(eltype(x))))
function __cor_of(x::AbstractVector, y::AbstractVector, dims)
    length(x) == length(y) || throw(DimensionMismatch("the vectors have different lengths"))
    u, v = x .- mean(x), y .- mean(y)
    return clamp(sum(u .* v) / (sqrt(sum(abs2, u)) * sqrt(sum(abs2, v))), -1, 1)
end
function __cor_of(x::AbstractMatrix, dims)
    c = __cor_of(x, x, dims)
    for k in 1:size(c, 1)
        c[k, k] = isnan(c[k, k]) ? c[k, k] : one(c[k, k])
    end
    return c
end
__cor_of(x::Union{AbstractVector, AbstractMatrix}, y::AbstractMatrix, dims) = __cor_between(x, y, dims)
function __cor_between(x, y, dims)
    u, v = __centred(x, dims), __centred(y, dims)
    u = u ./ sqrt.(sum(abs2.(u); dims = 1))
    v = v ./ sqrt.(sum(abs2.(v); dims = 1))
    return clamp.(transpose(u) * v, -1, 1)
end
