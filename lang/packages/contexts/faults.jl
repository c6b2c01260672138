# Injects faults: with a given probability, one bit of the result of an operation of floating point is flipped.
#
#     r = inject_faults(solve, a, b; rate = 1e-4, seed = 1)
#     r.value, r.faults               # the result with these faults
#
# The operations are additions, subtractions, multiplications, divisions and fused ones of Float64 and Float32, of the program and within
# the library. The same seed gives the same faults; the random numbers of the program are not touched. A program that goes round until it
# converges may not end. Takes one random number per operation.

Cassette.@context FaultInjector

# An operation gave `faulty` in the place of `correct`.
struct Fault
    operation::Any
    correct::Any
    faulty::Any
    file::String
    line::Int
end
# `value` is that of the program with these faults, of `operations` operations.
mutable struct FaultyRun
    value::Any
    faults::Vector{Any}
    operations::Int
    rate::Float64
    random::Any
end

_flip(x::Float64, bit) = reinterpret(Float64, reinterpret(UInt64, x) ⊻ (UInt64(1) << (bit % 64)))
_flip(x::Float32, bit) = reinterpret(Float32, reinterpret(UInt32, x) ⊻ (UInt32(1) << (bit % 32)))

Cassette.linehook(ctx::FaultInjector, file, line) = move!(ctx.metadata, file, line)
Cassette.overdub(ctx::FaultInjector, f, args...) = descend(ctx, f, args...)
function Cassette.overdub(ctx::FaultInjector, f::Core.IntrinsicFunction, args...)
    value = fallback(ctx, f, args...)
    haskey(_flop_names, f) || return value
    frame = ctx.metadata
    r = frame.run
    r.operations += 1
    rand(r.random) < r.rate || return value
    faulty = _flip(value, rand(r.random, 0:63))
    push!(r.faults, Fault(f, value, faulty, frame.file, frame.line))
    return faulty
end

function inject_faults(f, args...; rate = 1.0e-3, seed = 0)
    r = FaultyRun(nothing, Any[], 0, rate, Xoshiro(seed))
    r.value = overdub(FaultInjector(metadata = Frame(r)), f, args...)
    return r
end

Base.show(io::IO, fault::Fault) =
    print(io, callee_name(fault.operation), " gave ", fault.faulty, ", not ", fault.correct, place_text(fault.file, fault.line))
function Base.show(io::IO, r::FaultyRun)
    print(io, shorten(r.value), ", with ", length(r.faults), " faults in ", r.operations, " operations")
    for fault in r.faults
        print(io, "\n  ", fault)
    end
end
