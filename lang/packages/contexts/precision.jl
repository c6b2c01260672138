# Finds the functions for which Float32 is enough: the program runs once for each of its functions, with the operations of that one
# rounded to Float32, and the results are compared with that of Float64.
#
#     find_precision(simulate, state; tolerance = 1e-6)
#     function  error    Float32
#     step!     3.1e-08  enough
#     energy    2.4e-05  not enough
#
# The operations of a function are those in its own code and in what it calls of the library, not those of other functions of the program; their
# operands and results of type Float64 are rounded to Float32, so that they are what a computation in Float32 gives. Routines
# for large matrices are not rounded inside. The error is the largest difference between the results, relative to the largest of their numbers. The
# program runs on deep copies of the arguments; its result has to be numbers, in arrays or tuples or not. Takes one run more than there are functions.

Cassette.@context PrecisionChanger

# `value` is that of the program; `errors` has pairs of the names of functions and errors, the largest first; with all of
# them rounded, the error is `all_rounded`.
mutable struct PrecisionReport
    value::Any
    errors::Vector{Pair{String, Float64}}
    all_rounded::Float64
    tolerance::Float64
end

# What a run rounds: the operations of the functions of that name, of all for `nothing`. `names` are those that were called.
mutable struct Rounding
    target::Union{Nothing, String}
    names::Vector{String}
    is_on::Bool
end

_rounded(x) = x
_rounded(x::Float64) = Float64(Float32(x))

function Cassette.overdub(ctx::PrecisionChanger, f, args...)
    frame = ctx.metadata
    run = frame.run
    if from_library(frame, f, args...)
        is_rounded = run.is_on && frame.callee !== nothing && (run.target === nothing || callee_name(frame.callee) == run.target)
        is_rounded || return descend(ctx, f, args...)
        is_operation = f isa Core.IntrinsicFunction || args isa Tuple{Vararg{Number}}
        is_operation || return descend(ctx, f, args...)
        return _rounded(descend(ctx, f, map(_rounded, args)...))
    end
    name = callee_name(f)
    name in run.names || push!(run.names, name)
    return descend(ctx, f, args...)
end

function _run_rounded(rounding, f, args)
    return overdub(PrecisionChanger(metadata = Frame(rounding)), f, deepcopy(args)...)
end

function _relative_difference(x, y)
    xs, ys = Float64[], Float64[]
    each_float(v -> push!(xs, v), x)
    each_float(v -> push!(ys, v), y)
    length(xs) == length(ys) || return Inf
    isempty(xs) && return x == y ? 0.0 : Inf
    difference = maximum(abs.(xs .- ys))
    return difference == 0 ? 0.0 : difference / maximum(abs, ys)
end

function find_precision(f, args...; tolerance = 1.0e-6)
    plain = Rounding(nothing, String[], false)
    value = _run_rounded(plain, f, args)
    errors = Pair{String, Float64}[]
    for name in plain.names
        push!(errors, name => _relative_difference(_run_rounded(Rounding(name, String[], true), f, args), value))
    end
    all_rounded = _relative_difference(_run_rounded(Rounding(nothing, String[], true), f, args), value)
    return PrecisionReport(value, sort(errors; by = last, rev = true), all_rounded, tolerance)
end

function Base.show(io::IO, r::PrecisionReport)
    verdict(e) = e <= r.tolerance ? "enough" : "not enough"
    rows = [(name, string(round(e; sigdigits = 2)), verdict(e)) for (name, e) in r.errors]
    print(io, "Float32 within ", r.tolerance)
    print_table(io, [rows; [("all of them", string(round(r.all_rounded; sigdigits = 2)), verdict(r.all_rounded))]], 3)
end
