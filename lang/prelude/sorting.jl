# Sorting: a stable merge sort, O(n log n), over `isless`.

# Orders that are said by name. The methods without arguments by name take the place of those that these define.
sort(a::AbstractVector; by = identity, rev::Bool = false, lt = isless) =
    __sort!(collect(a), __order(by, rev, lt))
sort!(a::AbstractVector; by = identity, rev::Bool = false, lt = isless) = __sort!(a, __order(by, rev, lt))
sort(t::Tuple; by = identity, rev::Bool = false, lt = isless) = Tuple(sort(collect(t); by, rev, lt))
function sort(a::AbstractMatrix; dims::Int64, by = identity, rev::Bool = false, lt = isless)
    out = collect(a)
    for k in 1:size(a, 3 - dims)
        part = dims == 1 ? view(out, :, k) : view(out, k, :)
        part .= sort(part; by, rev, lt)
    end
    return out
end
function sortperm(a::AbstractVector; by = identity, rev::Bool = false, lt = isless)
    less = __order(by, rev, lt)
    return __sort!(collect(1:length(a)), (i, j) -> less(a[i], a[j]))
end
issorted(a; by = identity, rev::Bool = false, lt = isless) = __is_sorted(a, __order(by, rev, lt))
function __is_sorted(a, less)
    for k in 2:length(a)
        less(a[k], a[k - 1]) && return false
    end
    return true
end
searchsortedfirst(a::AbstractVector, x; by = identity, rev::Bool = false, lt = isless) =
    __search_first(a, x, __order(by, rev, lt))
searchsortedlast(a::AbstractVector, x; by = identity, rev::Bool = false, lt = isless) =
    __search_last(a, x, __order(by, rev, lt))
__search_first(a, x, less) = __search(y -> less(y, x), a)
__search_last(a, x, less) = __search(y -> !less(x, y), a) - 1
# The order of what `by` gives; the other way round with `rev`.
@inline __order(by, rev, lt) = rev ? ((x, y) -> lt(by(y), by(x))) : ((x, y) -> lt(by(x), by(y)))

sort(a::AbstractVector) = sort!(collect(a))
sort(t::Tuple) = Tuple(sort!(collect(t)))
sort!(a::AbstractVector) = __sort!(a, isless)
sortperm(a::AbstractVector) = __sort!(collect(1:length(a)), __ByValue(a))
struct __ByValue{A}
    a::A
end
@inline (b::__ByValue)(i, j) = isless(b.a[i], b.a[j])
function __sort!(a, less)
    n = length(a)
    # Short runs by insertion, then pairs of runs into each other.
    run = 16
    for lo in 1:run:n
        for i in lo+1:min(lo + run - 1, n)
            x = a[i]
            j = i
            while j > lo && less(x, a[j - 1])
                a[j] = a[j - 1]
                j -= 1
            end
            a[j] = x
        end
    end
    run >= n && return a
    buffer = copy(a)
    while run < n
        for lo in 1:2*run:n
            __merge!(a, buffer, less, lo, lo + run, min(lo + 2 * run, n + 1))
        end
        run *= 2
    end
    return a
end
# Merges `lo:mid-1` with `mid:hi-1`.
function __merge!(a, buffer, less, lo, mid, hi)
    mid >= hi && return nothing
    for k in lo:mid-1
        buffer[k] = a[k]
    end
    i, j, k = lo, mid, lo
    while i < mid
        if j < hi && less(a[j], buffer[i])
            a[k] = a[j]
            j += 1
        else
            a[k] = buffer[i]
            i += 1
        end
        k += 1
    end
    return nothing
end
function issorted(a)
    for k in 2:length(a)
        isless(a[k], a[k - 1]) && return false
    end
    return true
end
unique(a) = unique(identity, a)
function unique(f, a)
    T = __item_type(a)
    out = mem.alloc(__array_type(T, (1,)), 0)
    seen = Set{__return_type(f, T)}()
    for x in a
        y = f(x)
        if !in(y, seen)
            push!(seen, y)
            mem.push(out, x)
        end
    end
    return out
end
unique!(v::AbstractVector) = __refill(v, unique(v))
function __refill(v, items)
    resize!(v, length(items))
    return copyto!(v, items)
end
permute!(v::AbstractVector, p) = copyto!(v, v[p])
invpermute!(v::AbstractVector, p) = (v[p] = copy(v); v)
allunique(a) = length(unique(a)) == length(a)
searchsortedfirst(a::AbstractVector, x) = __search(y -> isless(y, x), a)
searchsortedlast(a::AbstractVector, x) = __search(y -> !isless(x, y), a) - 1
# The number after those at the start for which `before` holds.
function __search(before, a)
    lo, hi = 1, length(a) + 1
    while lo < hi
        mid = div(lo + hi, 2)
        if before(a[mid])
            lo = mid + 1
        else
            hi = mid
        end
    end
    return lo
end
