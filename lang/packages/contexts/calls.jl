# What the contexts of this package share: in which function and at which line a program is, and which calls are its own.
#
# A call of the program is one that code outside the library makes, or that the library makes of a function outside it, as
# `map` does. The others are within the library: most contexts look at them without showing them.

using Cassette
using Cassette: Context, overdub, recurse, fallback, canrecurse, similarcontext, tag, untag, metadata, istagged, enabletagging

# The metadata of the contexts: `run` is what one of them collects, the rest is where the program is. Each call of a function
# of the program has a frame of its own, so that an exception that leaves the function leaves nothing behind.
mutable struct Frame{R}
    run::R
    # The function of the program that runs, or `nothing` before the first.
    callee::Any
    # True within a call of the library that the function makes.
    in_library::Bool
    # The line that it is at; that of the call until `is_moved`.
    file::String
    line::Int
    is_moved::Bool
    # What `from_library` found, by the types of calls.
    known::Dict{Any, Bool}
end
Frame(run) = Frame(run, nothing, false, "", 0, false, Dict{Any, Bool}())

# Returns whether a call is of a method of the library.
function from_library(frame::Frame, f, args...)
    f isa Core.Builtin && return true
    types = typeof((f, args...))
    known = get(frame.known, types, nothing)
    known === nothing || return known
    return frame.known[types] = _from_library(f, args)
end
function _from_library(f, args)
    method = try string(which(f, typeof(args))) catch; " @ Base prelude/" end
    return occursin(" @ Base prelude/", method)
end

# The frame of a call: that of its caller within the library, else one of its own.
function frame_of(frame::Frame, f, args...)
    in_library = from_library(frame, f, args...)
    frame.in_library && in_library && return frame
    callee = in_library ? frame.callee : f
    return Frame(frame.run, callee, in_library, frame.file, frame.line, false, frame.known)
end
# The same place for another run.
with_run(frame::Frame, run) =
    Frame(run, frame.callee, frame.in_library, frame.file, frame.line, frame.is_moved, frame.known)

# Returns whether a call is one of the program: the frame is that of the caller. Functions that the library calls by
# internal names are none, whoever calls them.
is_own(frame::Frame, f, args...) = from_library(frame, f, args...) ? !frame.in_library && !_is_internal(f) : true
_is_internal(f) = startswith(callee_name(f), "#") && !_is_keyword_call(f)

# Goes on into a call, in its frame.
function descend(ctx::Context, f, args...)
    canrecurse(ctx, f, args...) || return fallback(ctx, f, args...)
    return recurse(similarcontext(ctx; metadata = frame_of(ctx.metadata, f, args...)), f, args...)
end

# To be called by line hooks.
function move!(frame::Frame, file, line)
    frame.in_library && return
    frame.file = file
    frame.line = line
    frame.is_moved = true
    return
end

# The key of a callee in tables: what is of one type (closures of one function, callable structs) is one.
struct Instances{T} end
callee_key(f) = f isa Type || nfields(f) == 0 ? f : Instances{typeof(f)}()
callee_name(f) = f isa Function || f isa Type ? string(f) : string(typeof(f))
callee_name(::Instances{T}) where T = string(T)
_is_keyword_call(f) = f isa Function && callee_name(f) == "#kwcall"

# A text of a value that is at most `width` characters long.
function shorten(x, width = 40)
    text = repr(x)
    return length(text) <= width ? text : string(first(text, width - 1), "…")
end

# A call as it is written, `f(1, 2; k = 3)`.
function call_text(f, args...)
    if _is_keyword_call(f)
        options, callee, rest... = args
        named = join([string(name, " = ", shorten(options[name])) for name in keys(options)], ", ")
        return string(callee_name(callee), "(", join(map(shorten, rest), ", "), "; ", named, ")")
    end
    return string(callee_name(f), "(", join(map(shorten, args), ", "), ")")
end

place_text(file, line) = isempty(file) ? "" : string(" at ", file, ":", line)

# Rows of texts, each column as wide as its widest one; the first `left` columns begin at the left.
function print_table(io::IO, rows, left = 1)
    isempty(rows) && return
    widths = [maximum(length(row[k]) for row in rows) for k in 1:length(rows[1])]
    for row in rows
        cells = [k <= left ? rpad(row[k], widths[k]) : lpad(row[k], widths[k]) for k in 1:length(row)]
        print(io, "\n  ", rstrip(join(cells, "  ")))
    end
end

# The numbers of floating point in a value, of arrays, tuples and complex numbers too, go to `found`.
each_float(found, x) = nothing
each_float(found, x::AbstractFloat) = (found(x); nothing)
each_float(found, x::Complex) = (each_float(found, real(x)); each_float(found, imag(x)))
each_float(found, x::Union{AbstractArray, Tuple, NamedTuple}) = (foreach(y -> each_float(found, y), x); nothing)
