# Records the calls as a tree.
#
#     r = trace_calls(hypotenuse, 3.0, 4.0)
#     hypotenuse(3.0, 4.0) = 5.0
#       *(3.0, 3.0) = 9.0
#       ...
#     r.calls[1].calls[1].callee      # *
#
# Recorded are the calls of the program (calls.jl), with `library = true` those that the library makes as well; below
# `depth` none. A call that an exception left has no result. Takes memory for each call and keeps arguments and results alive: these
# are the objects themselves, and show what they hold in the end.

Cassette.@context Tracer

mutable struct TracedCall
    callee::Any
    args::Tuple
    value::Any
    returned::Bool
    calls::Vector{Any}
end

# `value` is that of the program, `calls` are `TracedCall`s.
mutable struct CallTree
    value::Any
    calls::Vector{Any}
end

struct TracePosition
    calls::Vector{Any}
    depth::Int
    library::Bool
end

function Cassette.overdub(ctx::Tracer, f, args...)
    frame = ctx.metadata
    position = frame.run
    if position.depth == 0 || !(position.library || is_own(frame, f, args...))
        return descend(ctx, f, args...)
    end
    call = TracedCall(f, args, nothing, false, Any[])
    push!(position.calls, call)
    below = TracePosition(call.calls, position.depth - 1, position.library)
    inner = with_run(frame, below)
    value = descend(similarcontext(ctx; metadata = inner), f, args...)
    call.value = value
    call.returned = true
    return value
end

function trace_calls(f, args...; depth = typemax(Int), library = false)
    r = CallTree(nothing, Any[])
    r.value = overdub(Tracer(metadata = Frame(TracePosition(r.calls, depth, library))), f, args...)
    return r
end

function Base.show(io::IO, r::CallTree)
    for (k, call) in enumerate(r.calls)
        k == 1 || println(io)
        _show_call(io, call, 0)
    end
end
Base.show(io::IO, call::TracedCall) = _show_call(io, call, 0)
function _show_call(io, call, indent)
    print(io, "  "^indent, call_text(call.callee, call.args...), call.returned ? string(" = ", shorten(call.value)) : " did not return")
    for inner in call.calls
        println(io)
        _show_call(io, inner, indent + 1)
    end
end
