# Counts operations of floating point, by operation and by line of the program.
#
#     r = count_operations(horner, coefficients, 0.5)
#     r.flops, r[*]                   # (20, 10)
#
# A flop is an addition, subtraction, multiplication, division or root, two are a fused multiplication and addition; comparisons and
# changes of sign are none. Elementary functions of numbers (`exp`, `^`) are counted as calls by themselves. A product of
# large matrices, which is one routine, counts as the loops that it stands for; other routines of that kind are listed, and what they do
# is not counted. Operations within the library belong to the line of the program that called it. Takes a look into two tables per operation.

Cassette.@context OperationCounter

# `value` is that of the program, `flops` their number; `counts` goes from names of operations to numbers, `lines` from `(file, line)` to
# flops, `calls` from elementary functions and routines to numbers of calls.
mutable struct OperationCounts
    value::Any
    flops::Int
    counts::Dict{Symbol, Int}
    lines::Dict{Tuple{String, Int}, Int}
    calls::Dict{Any, Int}
end

const _flop_names = Dict{Any, Symbol}(
    Base.add_float => :+, Base.sub_float => :-, Base.mul_float => :*, Base.div_float => :/, Base.fma_float => :fma,
    Base.add_float_fast => :+, Base.sub_float_fast => :-, Base.mul_float_fast => :*, Base.div_float_fast => :/)
const _elementary = Any[
    cbrt, exp, exp2, exp10, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
    sinpi, cospi, hypot, ^, erf, erfc, gamma, loggamma]

function _count_flops!(frame, name, n, flops = n)
    r = frame.run
    r.flops += flops
    r.counts[name] = get(r.counts, name, 0) + n
    place = (frame.file, frame.line)
    r.lines[place] = get(r.lines, place, 0) + flops
    return
end
_count_call!(r, f) = (r.calls[f] = get(r.calls, f, 0) + 1; nothing)

Cassette.linehook(ctx::OperationCounter, file, line) = move!(ctx.metadata, file, line)
function Cassette.overdub(ctx::OperationCounter, f, args...)
    frame = ctx.metadata
    if f isa Core.Builtin
        name = get(_flop_names, f, :none)
        name === :none || _count_flops!(frame, name, 1, name === :fma ? 2 : 1)
        return fallback(ctx, f, args...)
    elseif args isa Tuple{Vararg{Real}} && any(x -> x isa AbstractFloat, args) && from_library(frame, f, args...)
        if f === sqrt
            _count_flops!(frame, :sqrt, 1)
            return fallback(ctx, f, args...)
        elseif any(g -> g === f, _elementary)
            _count_call!(frame.run, f)
            return fallback(ctx, f, args...)
        end
    elseif callee_name(f) == "#times_zero"
        # A product of zeros, for its type.
        return fallback(ctx, f, args...)
    elseif startswith(callee_name(f), "#dense_") || callee_name(f) == "#lu_factors"
        _count_routine!(frame, f, args)
    end
    return descend(ctx, f, args...)
end

function _count_routine!(frame, f, args)
    name = callee_name(f)
    if name == "#dense_outer"
        _count_flops!(frame, :*, length(args[1]) * length(args[2]))
    elseif name == "#dense_product!" || name == "#dense_times!"
        a, b = args[2], args[3]
        columns = name == "#dense_times!" ? 1 : args[5] ? size(b, 1) : size(b, 2)
        _count_flops!(frame, :*, length(a) * columns)
        _count_flops!(frame, :+, length(a) * columns)
    elseif name != "#dense_lu" && name != "#dense_product"
        _count_call!(frame.run, f)
    end
    return
end

function count_operations(f, args...)
    r = OperationCounts(nothing, 0, Dict{Symbol, Int}(), Dict{Tuple{String, Int}, Int}(), Dict{Any, Int}())
    r.value = overdub(OperationCounter(metadata = Frame(r)), f, args...)
    return r
end

Base.getindex(r::OperationCounts, f) = get(r.counts, Symbol(f), get(r.calls, f, 0))
function Base.show(io::IO, r::OperationCounts)
    print(io, r.flops, " flops")
    rows = [(string(name), string(n)) for (name, n) in sort(collect(r.counts); by = first)]
    append!(rows, sort([(string(callee_name(f), " (calls)"), string(n)) for (f, n) in r.calls]))
    print_table(io, rows)
    isempty(r.lines) && return
    print(io, "\nby line")
    print_table(io, [(string(file, ":", line), string(n)) for ((file, line), n) in sort(collect(r.lines); by = first)])
end
