# Refuses calls: the error names the call that is refused, who makes it and where.
#
#     run_sandboxed(render, page; forbid = (println, eval))
#     ForbiddenCall: println("…") is forbidden here, called by render at page.jl:3
#
# Refused are the functions in `forbid`, or those for which it is true if it is a function: `forbid = (f, args...) -> …`.
# It is asked before each call, of those that the library makes as well: what prints in the end is refused whoever prints. Functions
# that have no code in the language do their work as one: what they do inside is not asked for. A program can catch the
# error, but the call is not made. Takes one comparison for each function in `forbid` per call.

Cassette.@context Sandbox

struct ForbiddenCall <: Exception
    callee::Any
    args::Tuple
    caller::Any
    file::String
    line::Int
end
function Base.showerror(io::IO, e::ForbiddenCall)
    print(io, "ForbiddenCall: ", call_text(e.callee, e.args...), " is forbidden here")
    e.caller === nothing || print(io, ", called by ", callee_name(e.caller))
    print(io, place_text(e.file, e.line))
end

# `value` is that of the program, `count` the number of calls that were let through.
mutable struct Sandboxed
    value::Any
    count::Int
    forbid::Any
end

_is_forbidden(forbid::Function, f, args) = forbid(f, args...)
_is_forbidden(forbid, f, args) = any(g -> g === f, forbid)

Cassette.linehook(ctx::Sandbox, file, line) = move!(ctx.metadata, file, line)
function Cassette.overdub(ctx::Sandbox, f, args...)
    frame = ctx.metadata
    if _is_forbidden(frame.run.forbid, f, args)
        throw(ForbiddenCall(f, args, frame.callee, frame.file, frame.line))
    end
    frame.run.count += 1
    return descend(ctx, f, args...)
end

function run_sandboxed(f, args...; forbid = (print, println, eval))
    r = Sandboxed(nothing, 0, forbid)
    r.value = overdub(Sandbox(metadata = Frame(r)), f, args...)
    return r
end

Base.show(io::IO, r::Sandboxed) = print(io, shorten(r.value), ", with ", r.count, " calls let through")
