# Prints the calls of functions as they are made, with their results.
#
#     log_calls(fib, 2)
#     fib(2) at fib.jl:1
#       fib(1) at fib.jl:1
#       = 1
#       ...
#
# Printed to `io` are the calls of the program (calls.jl), with `functions = (f, g)` the calls of these alone wherever they are made.
# A call that an exception leaves has no line with a result. Takes the time of printing.

Cassette.@context CallLogger

# `value` is that of the program, `count` the number of calls that were printed.
mutable struct CallLog
    value::Any
    count::Int
    functions::Any
    io::Any
end

struct LogPosition
    log::CallLog
    indent::Int
end

Cassette.linehook(ctx::CallLogger, file, line) = move!(ctx.metadata, file, line)
function Cassette.overdub(ctx::CallLogger, f, args...)
    frame = ctx.metadata
    log, indent = frame.run.log, frame.run.indent
    functions = log.functions
    callee = _is_keyword_call(f) ? args[2] : f
    is_shown = functions === nothing ? is_own(frame, f, args...) : any(g -> g === callee, functions)
    is_shown || return descend(ctx, f, args...)
    log.count += 1
    println(log.io, "  "^indent, call_text(f, args...), place_text(frame.file, frame.line))
    inner = with_run(frame, LogPosition(log, indent + 1))
    value = descend(similarcontext(ctx; metadata = inner), f, args...)
    println(log.io, "  "^indent, "= ", shorten(value))
    return value
end

function log_calls(f, args...; functions = nothing, io = stdout)
    r = CallLog(nothing, 0, functions, io)
    r.value = overdub(CallLogger(metadata = Frame(LogPosition(r, 0))), f, args...)
    return r
end

Base.show(io::IO, r::CallLog) = print(io, shorten(r.value), ", with ", r.count, " calls logged")
