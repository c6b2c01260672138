# Folds, and what goes through arrays, along dimensions. Each stands before the method without arguments by
# name, which takes the place of the one that this would define.

struct __NotGiven end

sum(it; dims = :, init = __NotGiven()) = __reduce_with(identity, __add, it, dims, init, sum)
sum(f, it; dims = :, init = __NotGiven()) = __reduce_with(f, __add, it, dims, init, sum)
prod(it; dims = :, init = __NotGiven()) = __reduce_with(identity, __multiply, it, dims, init, prod)
prod(f, it; dims = :, init = __NotGiven()) = __reduce_with(f, __multiply, it, dims, init, prod)
maximum(it; dims = :, init = __NotGiven()) = __reduce_with(identity, max, it, dims, init, maximum)
maximum(f, it; dims = :, init = __NotGiven()) = __reduce_with(f, max, it, dims, init, maximum)
minimum(it; dims = :, init = __NotGiven()) = __reduce_with(identity, min, it, dims, init, minimum)
minimum(f, it; dims = :, init = __NotGiven()) = __reduce_with(f, min, it, dims, init, minimum)
any(it; dims = :) = __reduce_with(identity, |, it, dims, __NotGiven(), any)
any(f, it; dims = :) = __reduce_with(f, |, it, dims, __NotGiven(), any)
all(it; dims = :) = __reduce_with(identity, &, it, dims, __NotGiven(), all)
all(f, it; dims = :) = __reduce_with(f, &, it, dims, __NotGiven(), all)
count(it; dims = :, init = 0) = __reduce_with(x -> Int64(x), __add, it, dims, init, nothing)
count(f, it; dims = :, init = 0) = __reduce_with(x -> Int64(f(x)), __add, it, dims, init, nothing)
extrema(f, it; dims) = map(tuple, minimum(f, it; dims), maximum(f, it; dims))
extrema(it; dims) = map(tuple, minimum(it; dims), maximum(it; dims))
reduce(op, it; dims = :, init = __NotGiven()) = __reduce_with(identity, op, it, dims, init, __Whole(op))
mapreduce(f, op, it; dims = :, init = __NotGiven()) = __reduce_with(f, op, it, dims, init, __Whole(op))
mapreduce(f, op, a, b, more...; dims = :, init = __NotGiven()) = reduce(op, map(f, a, b, more...); dims, init)
foldl(op, it; init = __NotGiven()) = __reduce_with(identity, op, it, :, init, __Whole(op))
mapfoldl(f, op, it; init = __NotGiven()) = __reduce_with(f, op, it, :, init, __Whole(op))
foldr(op, it; init) = __fold_from(identity, (x, y) -> op(y, x), init, reverse(collect(it)))
mapfoldr(f, op, it; init = __NotGiven()) = __fold_right(f, op, it, init)
__fold_right(f, op, it, ::__NotGiven) = foldr(op, [f(x) for x in it])
__fold_right(f, op, it, init) = foldr(op, [f(x) for x in it]; init)
struct __Whole{O}
    op::O
end
(w::__Whole)(f, it) = __reduce(f, w.op, it)
mean(it; dims) = mean(identity, it; dims)
mean(f, it; dims) = sum(f, it; dims) ./ __length_along(it, dims)
var(a; dims = :, corrected::Bool = true, mean = nothing) = __var_with(a, dims, corrected, mean)
std(a; dims = :, corrected::Bool = true, mean = nothing) = map(__std, __var_with(a, dims, corrected, mean))

@inline __reduce_with(f, op, it, ::Colon, ::__NotGiven, whole) = whole(f, it)
@inline __reduce_with(f, op, it, ::Colon, init, whole) = __fold_from(f, op, __widen_for(op, init), it)
@inline __reduce_with(f, op, it, dims, init, whole) = __along(f, op, it, dims, init)
function __along(f, op, a, dims::Tuple, init)
    out = __along(f, op, a, dims[1], init)
    for d in Base.tail(dims)
        out = __along(identity, op, out, d, __NotGiven())
    end
    return out
end
function __along(f, op, a, dims::AbstractVector, init)
    out = __along(f, op, a, dims[1], init)
    for k in 2:length(dims)
        out = __along(identity, op, out, dims[k], __NotGiven())
    end
    return out
end
# One array in place of the elements along a dimension: of an array seen as `before` × `n` × `after`.
function __along(f, op, a::AbstractArray, d::Int64, init)
    d >= 1 || throw(ArgumentError(string("region dimension(s) must be ≥ 1, got ", d)))
    sizes = size(a)
    out = __reduced_array(f, op, a, sizes, d, init)
    n = d <= data.fieldcount(sizes) ? sizes[d] : 1
    before, after = __around(sizes, d)
    for q in 0:after-1
        for p in 1:before
            at = p + before * n * q
            acc = __first_along(f, op, a, at, n, init)
            for j in __begin_along(init):n-1
                acc = op(acc, f(a[at + before * j]))
            end
            out[p + before * q] = acc
        end
    end
    return out
end
@inline __begin_along(::__NotGiven) = 1
@inline __begin_along(init) = 0
@inline __first_along(f, op, a, at, n, init) = __widen_for(op, init)
@inline __first_along(f, op, a, at, n, ::__NotGiven) =
    n == 0 ? __empty_along(op, __value_type(f, a)) : __widen_for(op, f(a[at]))
function __around(sizes, d)
    before, after = 1, 1
    for k in 1:data.fieldcount(sizes)
        if k < d
            before *= sizes[k]
        elseif k > d
            after *= sizes[k]
        end
    end
    return (before, after)
end
@inline function __reduced_array(f, op, a, sizes, d, init)
    T = __value_type(f, a)
    S = __return_type(op, __return_type(__first_of(op), __sample_type(T, init)), T)
    dims = __ntuple(k -> k == d ? 1 : sizes[k], __val(data.fieldcount(sizes)))
    return Array{S, data.fieldcount(dims)}(undef, dims)
end
@inline __sample_type(T, ::__NotGiven) = T
@inline __sample_type(T, init) = typeof(init)
@inline __first_of(op) = x -> __widen_for(op, x)
__length_along(a, ::Colon) = length(a)
__length_along(a, d::Int64) = size(a, d)
__length_along(a, dims::Union{Tuple, AbstractVector}) = prod(d -> size(a, d), dims)
__var_with(a, ::Colon, corrected, ::Nothing) = __var_with(a, :, corrected, mean(a))
__var_with(a, ::Colon, corrected, m) = sum(x -> abs2(x - m), a) / (length(a) - Int64(corrected))
__var_with(a, dims, corrected, ::Nothing) = __var_with(a, dims, corrected, mean(a; dims))
__var_with(a, dims, corrected, m) = sum(abs2.(a .- m); dims) ./ (__length_along(a, dims) - Int64(corrected))

cumsum(a::AbstractArray; dims::Int64) = __accumulate_along(__add, a, dims)
cumprod(a::AbstractArray; dims::Int64) = __accumulate_along(__multiply, a, dims)
accumulate(op, a; dims = nothing, init = __NotGiven()) = __accumulate_with(op, a, dims, init)
__accumulate_with(op, a, dims::Int64, ::__NotGiven) = __accumulate_along(op, a, dims)
__accumulate_with(op, a, ::Nothing, ::__NotGiven) = accumulate(op, a)
function __accumulate_with(op, a, ::Nothing, init)
    out = Array{__return_type(op, typeof(init), eltype(a)), 1}(undef, length(a))
    acc = init
    for k in 1:length(a)
        acc = op(acc, a[k])
        out[k] = acc
    end
    return out
end
function __accumulate_along(op, a, d)
    sizes = size(a)
    T = eltype(a)
    S = __return_type(op, __return_type(__first_of(op), T), T)
    out = Array{S, data.fieldcount(sizes)}(undef, sizes)
    n = d <= data.fieldcount(sizes) ? sizes[d] : 1
    before, after = __around(sizes, d)
    n == 0 && return out
    for q in 0:after-1
        for p in 1:before
            at = p + before * n * q
            acc = __widen_for(op, a[at])
            out[at] = acc
            for j in 1:n-1
                acc = op(acc, a[at + before * j])
                out[at + before * j] = acc
            end
        end
    end
    return out
end
function reverse(a::AbstractArray; dims = :)
    out = similar(a)
    if dims === (:)
        for k in 1:length(a)
            out[k] = a[length(a) - k + 1]
        end
        return out
    end
    sizes = size(a)
    n = sizes[dims]
    before, after = __around(sizes, dims)
    for q in 0:after-1
        for j in 0:n-1
            for p in 1:before
                out[p + before * (j + n * q)] = a[p + before * (n - 1 - j + n * q)]
            end
        end
    end
    return out
end
diff(a::AbstractMatrix; dims::Int64) =
    dims == 1 ? a[2:end, :] .- a[1:end-1, :] : a[:, 2:end] .- a[:, 1:end-1]
dropdims(a; dims) = reshape(a, __without(size(a), dims))
function __without(sizes::Tuple, d)
    kept = __ntuple(k -> k, __val(data.fieldcount(sizes) - __number_of(d)))
    return map(k -> sizes[__kept(k, d, data.fieldcount(sizes))], kept)
end
@inline __number_of(d::Int64) = 1
@inline __number_of(d::Tuple) = data.fieldcount(d)
# The `k`th dimension that is not dropped.
function __kept(k, d, n)
    seen = 0
    for i in 1:n
        if !(i in d)
            seen += 1
            seen == k && return i
        end
    end
    return n
end
