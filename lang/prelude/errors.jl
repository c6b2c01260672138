# Exceptions: what is thrown, how it is told, and what becomes of the traps of ops where they are caught.

struct ErrorException <: Exception
    msg
end
struct ArgumentError <: Exception
    msg
end
struct DimensionMismatch <: Exception
    msg
end
DimensionMismatch() = DimensionMismatch("")
struct AssertionError <: Exception
    msg
end
AssertionError() = AssertionError("")
struct OverflowError <: Exception
    msg
end
struct DomainError <: Exception
    val
    msg
end
DomainError(val) = DomainError(val, nothing)
struct BoundsError <: Exception
    a
    i
end
BoundsError(a) = BoundsError(a, nothing)
BoundsError() = BoundsError(nothing, nothing)
struct UndefVarError <: Exception
    var
end
struct UndefKeywordError <: Exception
    var::Symbol
end
struct TypeError <: Exception
    func
    context
    expected
    got
end
struct KeyError <: Exception
    key
end
struct InexactError <: Exception
    func
    T
    val
end
struct MethodError <: Exception
    f
    args
end
MethodError(f) = MethodError(f, ())
struct FieldError <: Exception
    type
    field
end
struct SingularException <: Exception
    info::Int64
end
struct PosDefException <: Exception
    info::Int64
end
struct UndefRefError <: Exception end
struct DivideError <: Exception end
struct StackOverflowError <: Exception end
struct OutOfMemoryError <: Exception end
struct InterruptException <: Exception end
struct CapturedException <: Exception
    ex
    processed_bt
end

# --- throwing and catching ------------------------------------------------------------------

# A string or tuple that was thrown: an op throws messages as strings, and a handler gets those of ops
# as tuples of a name, a message and values.
struct __Thrown
    value
end
@inline throw(e) = core.throw(e)
@inline throw(e::Union{String, Tuple}) = core.throw(__Thrown(e))
error(parts...) = core.throw(ErrorException(string(parts...)))
rethrow() = core.rethrow(core.caught())
@inline rethrow(e) = core.rethrow(__as_thrown(e))
__as_thrown(e) = e
__as_thrown(e::Union{String, Tuple}) = __Thrown(e)
catch_backtrace() = core.backtrace()
stacktrace(trace) = trace
@noinline __out_of_bounds(a, i) = throw(BoundsError(a, i))
__assert_failed(msg) = throw(AssertionError(msg))

__try_body(body, handler) = body()
__try_handler(e, body, handler) = handler(e)
@inline function __caught(e)
    if e isa Tuple{Symbol, String, Any}
        # Ops do not differentiate what they trap for.
        trap = ad.ignore(e::Tuple{Symbol, String, Any})
        return __exception(core.get(trap, 1), core.get(trap, 2), core.get(trap, 3))
    end
    return e isa __Thrown ? (e::__Thrown).value : e
end

# The message of an error of which nothing else is known.
struct __Message
    text::String
end
@inline function __exception(name, message, values)
    name === :ErrorException && return ErrorException(message)
    name === :ArgumentError && return ArgumentError(message)
    name === :DimensionMismatch && return DimensionMismatch(message)
    name === :AssertionError && return AssertionError(message)
    name === :OverflowError && return OverflowError(message)
    name === :DivideError && return DivideError()
    name === :UndefRefError && return UndefRefError()
    name === :StackOverflowError && return StackOverflowError()
    name === :OutOfMemoryError && return OutOfMemoryError()
    name === :InterruptException && return InterruptException()
    name === :DomainError && return DomainError(__value(values, 1, nothing), __Message(message))
    name === :InexactError && return InexactError(__Message(message), __value(values, 1, Any), __value(values, 2, nothing))
    name === :BoundsError && data.fieldcount(values) == 2 && return BoundsError(data.getfield(values, 1), data.getfield(values, 2))
    name === :BoundsError && return BoundsError(__Message(message), nothing)
    name === :UndefVarError && return UndefVarError(__value(values, 1, __Message(message)))
    name === :KeyError && return KeyError(__Message(message))
    name === :TypeError && return TypeError(__Message(message), "", Any, nothing)
    name === :MethodError && return MethodError(__Message(message), ())
    name === :FieldError && return FieldError(__Message(message), nothing)
    return ErrorException(core.string(name, ": ", message))
end
@inline __value(values, i, default) = data.fieldcount(values) < i ? default : data.getfield(values, i)

# The closure of a `finally`, as the handler of what it is behind.
struct __Cleanup{F, E}
    last::F
    exit::E
end
@inline function (h::__Cleanup)(e)
    value = h.last()
    __has_exited(h.exit) || core.rethrow(e)
    return value
end
@inline __cleanup(last, exit) = __Cleanup(last, exit)

# A call of which the callee is known when it runs: whether it comes to its end, the result, the error.
__tried_call(f, args...) = __try(__TriedCall(f, args), __failed)
struct __TriedCall{F, A}
    f::F
    args::A
end
@inline (c::__TriedCall)() = core.tuple(true, core.convert(Any, c.f(c.args...)), core.convert(Any, nothing))
@inline __failed(e) = core.tuple(false, core.convert(Any, nothing), e)

# How control left a part of a `try`.
@inline __new_exit() = Ref(0)
@inline __set_exit(exit, number) = mem.ref_set(exit, number)
@inline __exited_by(exit, number) = mem.ref_get(exit) == number
@inline __has_exited(exit::Nothing) = false
@inline __has_exited(exit) = mem.ref_get(exit) != 0

# --- what is told ---------------------------------------------------------------------------

# The text of an exception that nobody caught.
__error_text(e) = sprint(showerror, __caught(e))

showerror(io::IO, e) = print(io, __repr(e))
showerror(io::IO, e::ErrorException) = print(io, e.msg)
showerror(io::IO, e::ArgumentError) = print(io, "ArgumentError: ", e.msg)
showerror(io::IO, e::DimensionMismatch) = print(io, "DimensionMismatch: ", e.msg)
showerror(io::IO, e::AssertionError) = print(io, "AssertionError: ", e.msg)
showerror(io::IO, e::OverflowError) = print(io, "OverflowError: ", e.msg)
showerror(io::IO, e::UndefKeywordError) =
    print(io, "UndefKeywordError: keyword argument `", e.var, "` not assigned")
showerror(io::IO, e::UndefRefError) = print(io, "UndefRefError: access to undefined reference")
showerror(io::IO, e::DivideError) = print(io, "DivideError: integer division error")
showerror(io::IO, e::StackOverflowError) = print(io, "StackOverflowError:")
showerror(io::IO, e::OutOfMemoryError) = print(io, "OutOfMemoryError()")
showerror(io::IO, e::InterruptException) = print(io, "InterruptException:")
showerror(io::IO, e::SingularException) = print(io, "SingularException(", e.info, ")")
showerror(io::IO, e::PosDefException) =
    print(io, "PosDefException: matrix is not positive definite; Factorization failed.")
function showerror(io::IO, e::UndefVarError)
    e.var isa __Message && return print(io, "UndefVarError: ", e.var.text)
    print(io, "UndefVarError: `", e.var, "` not defined")
end
function showerror(io::IO, e::KeyError)
    e.key isa __Message && return print(io, "KeyError: ", e.key.text)
    print(io, "KeyError: key ", __repr(e.key), " not found")
end
function showerror(io::IO, e::InexactError)
    e.func isa __Message && return print(io, "InexactError: ", e.func.text)
    print(io, "InexactError: ", e.func, "(", e.func === nameof(e.T) ? "" : string(e.T, ", "), e.val, ")")
end
function showerror(io::IO, e::TypeError)
    e.func isa __Message && return print(io, "TypeError: ", e.func.text)
    print(io, "TypeError: in ", e.func, e.context == "" ? "" : " ", e.context, ", expected ", e.expected, ", got a value of type ", typeof(e.got))
end
function showerror(io::IO, e::FieldError)
    e.type isa __Message && return print(io, "FieldError: ", e.type.text)
    print(io, "FieldError: type ", e.type, " has no field `", e.field, "`")
end
function showerror(io::IO, e::MethodError)
    e.f isa __Message && return print(io, "MethodError: ", e.f.text)
    print(io, "MethodError: no method matching ", e.f, "(", join(map(__of_type, e.args), ", "), ")")
end
__of_type(x) = string("::", Typeof(x))
function showerror(io::IO, e::DomainError)
    e.msg isa __Message && return print(io, "DomainError ", e.msg.text)
    print(io, "DomainError with ", e.val)
    e.msg === nothing || print(io, ":\n", e.msg)
    return nothing
end
function showerror(io::IO, e::BoundsError)
    e.a isa __Message && return print(io, "BoundsError: ", e.a.text)
    print(io, "BoundsError")
    e.a === nothing || print(io, ": attempt to access ", __summary(e.a))
    e.i === nothing || print(io, " at index [", __index_text(e.i), "]")
    return nothing
end
function showerror(io::IO, e, trace)
    showerror(io, e)
    isempty(trace) && return nothing
    print(io, "\nStacktrace:")
    for (i, place) in enumerate(trace)
        print(io, "\n [", i, "] ", place)
    end
end
__index_text(i) = string(i)
__index_text(i::Tuple) = join(i, ", ")
__summary(a) = string(typeof(a))
__summary(a::AbstractVector) = string(length(a), "-element ", typeof(a))
__summary(a::AbstractMatrix) = string(size(a, 1), "×", size(a, 2), " ", typeof(a))
