# Remembers results: a call of a function with arguments that it was called with before is not made again.
#
#     r = memoize_calls(fib, 80)
#     r.value, r.hits, r.misses       # (23416728348467685, 78, 81)
#
# Remembered are the calls of `functions`, of `f` alone if nothing is said, by `isequal` arguments. Right for functions
# whose results depend on nothing but their arguments, and that change nothing: the program has to know. Arrays are remembered as they
# are, so that one which changes later is not found again. Takes a look into a table per call of these functions and the memory
# of all arguments and results.

Cassette.@context Memoizer

# `value` is that of the program; `table` goes from `(function, arguments)` to results.
mutable struct Memoized{F}
    value::Any
    hits::Int
    misses::Int
    table::Dict{Any, Any}
    functions::F
end
# Decided by the types of functions, so that calls of others have results of known types.
_is_one_of(f, functions::Tuple{}) = false
_is_one_of(f, functions::Tuple) = f === functions[1] || _is_one_of(f, Base.tail(functions))

function Cassette.overdub(ctx::Memoizer, f, args...)
    canrecurse(ctx, f, args...) || return fallback(ctx, f, args...)
    r = ctx.metadata
    _is_one_of(f, r.functions) || return recurse(ctx, f, args...)
    key = (callee_key(f), args)
    if haskey(r.table, key)
        r.hits += 1
        return r.table[key]
    end
    r.misses += 1
    value = recurse(ctx, f, args...)
    r.table[key] = value
    return value
end

function memoize_calls(f, args...; functions = (f,))
    r = Memoized(nothing, 0, 0, Dict{Any, Any}(), Tuple(functions))
    r.value = overdub(Memoizer(metadata = r), f, args...)
    return r
end

Base.show(io::IO, r::Memoized) =
    print(io, shorten(r.value), ", with ", r.misses, " calls made and ", r.hits, " remembered")
