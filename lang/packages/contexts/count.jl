# Counts calls, by function.
#
#     r = count_calls(fib, 10)
#     r[fib], r.value                 # (177, 55)
#
# Counted are the calls of the program (calls.jl), with `library = true` all that the library makes as well, down to the
# intrinsics. Takes one look into a table per call; the table has an entry per function.

Cassette.@context CallCounter

# `value` is that of the program, `counts` goes from functions to numbers of calls.
mutable struct CallCounts
    value::Any
    counts::Dict{Any, Int}
    library::Bool
end

function Cassette.overdub(ctx::CallCounter, f, args...)
    r = ctx.metadata.run
    if r.library || is_own(ctx.metadata, f, args...)
        key = _is_keyword_call(f) ? callee_key(args[2]) : callee_key(f)
        r.counts[key] = get(r.counts, key, 0) + 1
    end
    return descend(ctx, f, args...)
end

function count_calls(f, args...; library = false)
    r = CallCounts(nothing, Dict{Any, Int}(), library)
    r.value = overdub(CallCounter(metadata = Frame(r)), f, args...)
    return r
end

Base.getindex(r::CallCounts, f) = get(r.counts, callee_key(f), 0)
function Base.show(io::IO, r::CallCounts)
    print(io, sum(values(r.counts); init = 0), " calls of ", length(r.counts), " functions")
    rows = sort([(-n, callee_name(f)) for (f, n) in r.counts])
    print_table(io, [(name, string(-n)) for (n, name) in rows])
end
