# Finds the operation that makes the first value that is not finite (`Inf`, `NaN`) out of finite ones.
#
#     find_nonfinite(x -> log(x) + 1, 0.0)
#     the first value that is not finite is -Inf, of log(0.0) in #1 at log.jl:1
#
# Looked at are the operations on numbers of floating point, and functions that give such a number, as `log`. What the library
# makes on the way does not count where the result of the call of the program is finite again. Arrays are not looked
# through, so that what comes out of a library of matrices is found at the first number that is read and computed with: not at all if
# none is. The program goes on. Takes two tests per call.

Cassette.@context NonFiniteFinder

# `value` is that of the program. If `found`, `result` came of `callee(args...)`, in the call `outer` of the library that `caller`
# made at `file`, `line`.
mutable struct NonFinite
    value::Any
    found::Bool
    # True while the call of the library in which it was found may still give something finite.
    pending::Bool
    result::Any
    callee::Any
    args::Tuple
    outer::Any
    caller::Any
    file::String
    line::Int
end

_is_nonfinite(x) = false
_is_nonfinite(x::AbstractFloat) = !isfinite(x)
_is_nonfinite(x::Complex) = !isfinite(x)
_is_number(x) = x isa AbstractFloat || x isa Complex
function _arises(value, args)
    _is_nonfinite(value) || return false
    return any(_is_number, args) && !any(_is_nonfinite, args)
end

Cassette.linehook(ctx::NonFiniteFinder, file, line) = move!(ctx.metadata, file, line)
function Cassette.overdub(ctx::NonFiniteFinder, f, args...)
    frame = ctx.metadata
    value = descend(ctx, f, args...)
    r = frame.run
    r.found && !r.pending && return value
    in_library = from_library(frame, f, args...)
    if r.pending && !frame.in_library
        if _is_number(value) && !_is_nonfinite(value)
            r.found = false
        else
            r.outer = call_text(f, args...)
        end
        r.pending = false
    elseif !r.found && in_library && _arises(value, args)
        r.found, r.pending, r.result, r.callee, r.args = true, frame.in_library, value, f, args
        r.caller, r.file, r.line = frame.callee, frame.file, frame.line
    end
    return value
end

function find_nonfinite(f, args...)
    r = NonFinite(nothing, false, false, nothing, nothing, (), nothing, nothing, "", 0)
    r.value = overdub(NonFiniteFinder(metadata = Frame(r)), f, args...)
    return r
end

function Base.show(io::IO, r::NonFinite)
    r.found || return print(io, "all values are finite")
    print(io, "the first value that is not finite is ", r.result, ", of ", call_text(r.callee, r.args...))
    r.outer === nothing || print(io, " within ", r.outer)
    r.caller === nothing || print(io, " in ", callee_name(r.caller))
    print(io, place_text(r.file, r.line))
end
