# Results that go into arrays that are there: reductions, copies of parts, and what is done in place.

# Reduces along the dimensions in which `out` has one element.
function __reduce!(f, op, out, a)
    found = fill(false, length(out))
    for at in CartesianIndices(a)
        k = __place_within(out, at.I)
        x = f(a[at])
        out[k] = found[k] ? op(out[k], x) : x
        found[k] = true
    end
    return out
end
@inline __place_within(out::AbstractArray{T, N}, at) where {T, N} =
    __position(size(out), __ntuple(k -> size(out, k) == 1 ? 1 : at[k], __val(N))) + 1
sum!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, +, fill!(out, zero(eltype(out))), a)
sum!(f::Function, out::AbstractArray, a::AbstractArray) = __reduce!(f, +, fill!(out, zero(eltype(out))), a)
prod!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, *, fill!(out, one(eltype(out))), a)
prod!(f::Function, out::AbstractArray, a::AbstractArray) = __reduce!(f, *, fill!(out, one(eltype(out))), a)
maximum!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, max, out, a)
maximum!(f::Function, out::AbstractArray, a::AbstractArray) = __reduce!(f, max, out, a)
minimum!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, min, out, a)
minimum!(f::Function, out::AbstractArray, a::AbstractArray) = __reduce!(f, min, out, a)
count!(f::Function, out::AbstractArray, a::AbstractArray) = __reduce!(x -> f(x) ? 1 : 0, +, fill!(out, 0), a)
all!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, &, fill!(out, true), a)
any!(out::AbstractArray, a::AbstractArray) = __reduce!(identity, |, fill!(out, false), a)
extrema!(out::AbstractArray, a::AbstractArray) = extrema!(identity, out, a)
function extrema!(f::Function, out::AbstractArray, a::AbstractArray)
    return __reduce!(x -> (y = f(x); (y, y)), (p, q) -> (min(p[1], q[1]), max(p[2], q[2])), out, a)
end
cumsum!(out::AbstractArray, a::AbstractVector) = copyto!(out, cumsum(a))
cumsum!(out::AbstractArray, a::AbstractArray; dims::Int64) = copyto!(out, cumsum(a; dims = dims))
cumprod!(out::AbstractArray, a::AbstractVector) = copyto!(out, cumprod(a))
cumprod!(out::AbstractArray, a::AbstractArray; dims::Int64) = copyto!(out, cumprod(a; dims = dims))
circshift!(out::AbstractArray, a::AbstractArray, shift) = copyto!(out, circshift(a, shift))
permutedims!(out::AbstractArray, a::AbstractArray, order) = copyto!(out, permutedims(a, order))
function clamp!(a::AbstractArray, low, high)
    for i in eachindex(a)
        a[i] = clamp(a[i], low, high)
    end
    return a
end

# --- copies of parts --------------------------------------------------------------------------

function copy!(out::AbstractArray, a::AbstractArray)
    size(out) == size(a) || throw(ArgumentError("arrays must have the same axes for copy! (consider using `copyto!`)"))
    return copyto!(out, a)
end
copy!(out::Vector, a::AbstractVector) = copyto!(resize!(out, length(a)), a)
copyto!(out::AbstractArray, at::Integer, a::AbstractArray) = copyto!(out, at, a, 1, length(a))
copyto!(out::AbstractArray, at::Integer, a::AbstractArray, from::Integer) = copyto!(out, at, a, from, length(a) - from + 1)
function copyto!(out::AbstractArray, at::Integer, a::AbstractArray, from::Integer, n::Integer)
    n >= 0 || throw(ArgumentError(string("tried to copy n=", n, " elements, but n should be nonnegative")))
    part = a[from:from+n-1]
    out[at:at+n-1] = part
    return out
end
function copyto!(out::AbstractArray, places::CartesianIndices, a::AbstractArray, from::CartesianIndices)
    size(places) == size(from) || throw(ArgumentError("source and destination must have the same size"))
    part = [a[i] for i in from]
    for k in 1:length(part)
        out[places[k]] = part[k]
    end
    return out
end
function deleteat!(a::Vector, is::AbstractArray)
    list = __indices(is, length(a))
    __check_list(list, length(a))
    return __refill(a, a[filter(i -> !(i in list), 1:length(a))])
end
popat!(a::Vector, i::Integer, default) = 1 <= i <= length(a) ? popat!(a, i) : default
empty(a::Vector{T}) where T = T[]
