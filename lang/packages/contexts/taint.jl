# Follows values: finds what a result is computed from, and which calls of some functions (sinks) get what comes from where.
#
#     r = track_taint((a, b, c) -> a * b + length(string(c)), 2.0, 3.0, 4)
#     r.sources                       # [1, 2, 3]: the arguments that the result is computed from
#
# Each argument in `tainted` is a source by its position. A number, text or immutable struct that comes from one is tagged, with a set of sources;
# objects (arrays, dictionaries, mutable structs) have theirs in a table, each object as a whole; tuples keep those of their parts. Code
# of the program is followed call by call. A call of the library, and of a constructor, is one step: what it gives comes from all that it was
# given, and so does its first argument if the name of the function ends with `!`. Functions of the program that it calls (`map`) are
# followed with elements that come from all of its arguments. Each call of `sinks` with something tainted is noted.
#
# Not followed are the way that control takes (values of type `Bool`, lengths of loops), what is put into global variables, and calls
# by keyword with tainted values inside (they are one step). Takes one allocation and a look into the table per call.

Cassette.@context TaintTracker

# `value` is that of the program, `sources` the positions of the arguments that it comes from, `sinks` the calls of sinks.
mutable struct TaintReport
    value::Any
    sources::Vector{Int}
    sinks::Vector{Any}
end
# A call of a sink: what came from which arguments, and where.
struct TaintedCall
    callee::Any
    args::Tuple
    sources::Vector{Int}
    caller::Any
    file::String
    line::Int
end

# Sets of sources are bits of integers.
mutable struct Taint
    objects::IdDict{Any, Int}
    # What the functions of the program that a call of the library called gave.
    escaped::Int
    is_sink::Any
    sinks::Vector{Any}
    # Whether functions that are given to others are of the library.
    library::Dict{Any, Bool}
end

# A function of the program that is given to one of the library.
struct Followed{C, F}
    ctx::C
    callee::F
    sources::Int
end
function (g::Followed)(args...)
    value = overdub(g.ctx, g.callee, map(x -> _with_sources(g.ctx, x, g.sources), args)...)
    g.ctx.metadata.run.escaped |= _sources(g.ctx, value)
    return _bare(g.ctx, value)
end

_sources(ctx, x) = istagged(x, ctx) ? metadata(x, ctx) : ismutable(x) ? get(ctx.metadata.run.objects, x, 0) : 0
_sources(ctx, x::Union{Tuple, NamedTuple}) = foldl((s, y) -> s | _sources(ctx, y), values(x); init = 0)
_bare(ctx, x) = untag(x, ctx)
_bare(ctx, x::Union{Tuple, NamedTuple}) = map(y -> _bare(ctx, y), x)

# A value that comes from sources. This depends on nothing but its type.
_with_sources(ctx, x, sources) = ismutable(x) ? _mark!(ctx, x, sources) : istagged(x, ctx) ? x : tag(x, ctx, sources)
_with_sources(ctx, x::Union{Bool, Nothing, Missing, Symbol, Type, Function, Module}, sources) = x
_with_sources(ctx, x::Union{Tuple, NamedTuple}, sources) = map(y -> _with_sources(ctx, y, sources), x)
function _mark!(ctx, object, sources)
    objects = ctx.metadata.run.objects
    sources == 0 || (objects[object] = get(objects, object, 0) | sources)
    return object
end

_may_come(ctx, x) = istagged(x, ctx) || ismutable(x)
_may_come(ctx, x::Union{Tuple, NamedTuple}) = any(y -> _may_come(ctx, y), values(x))
_has_tag(ctx, x) = istagged(x, ctx)
_has_tag(ctx, x::Union{Tuple, NamedTuple}) = any(y -> _has_tag(ctx, y), values(x))

function _is_of_program(run, f)
    f isa Core.Builtin && return false
    f isa Followed && return false
    return get!(() -> !occursin("@ Base prelude/", string(methods(f))), run.library, callee_key(f))
end

Cassette.linehook(ctx::TaintTracker, file, line) = move!(ctx.metadata, file, line)
Cassette.overdub(ctx::TaintTracker, ::typeof(tuple), args...) = args
Cassette.overdub(ctx::TaintTracker, f::Union{typeof(getindex), typeof(getfield), typeof(getproperty)}, t::Union{Tuple, NamedTuple}, k) =
    f(t, _bare(ctx, k))
function Cassette.overdub(ctx::TaintTracker, f, args...)
    frame = ctx.metadata
    run = frame.run
    callee = untag(f, ctx)
    if run.is_sink(callee)
        sources = _sources(ctx, args)
        sources == 0 ||
            push!(run.sinks, TaintedCall(callee, _bare(ctx, args), _positions(sources), frame.callee, frame.file, frame.line))
    end
    is_step = callee isa Type || (_is_keyword_call(callee) ? _has_tag(ctx, args) : from_library(frame, callee, _bare(ctx, args)...))
    is_step || return descend(ctx, f, args...)
    return _step(ctx, callee, args)
end

function _step(ctx, f, args)
    run = ctx.metadata.run
    sources = _sources(ctx, args)
    outer, run.escaped = run.escaped, 0
    given = map(args) do x
        x isa Function && !_is_keyword_call(f) && _is_of_program(run, x) ? Followed(ctx, x, sources) : _bare(ctx, x)
    end
    value = try
        f(given...)
    catch
        run.escaped |= outer
        rethrow()
    end
    sources |= run.escaped
    run.escaped = outer
    endswith(callee_name(f), "!") && !isempty(given) && ismutable(given[1]) && _mark!(ctx, given[1], sources)
    may_come = any(x -> _may_come(ctx, x) || x isa Function, args)
    return may_come ? _with_sources(ctx, value, sources) : value
end

_positions(sources) = [k for k in 1:62 if (sources >> (k - 1)) & 1 == 1]

function track_taint(f, args...; tainted = 1:length(args), sinks = ())
    run = Taint(IdDict{Any, Int}(), 0, g -> any(sink -> sink === g, sinks), Any[], Dict{Any, Bool}())
    ctx = enabletagging(TaintTracker(metadata = Frame(run)), f)
    given = ntuple(k -> k in tainted ? _with_sources(ctx, args[k], 1 << (k - 1)) : args[k], length(args))
    value = overdub(ctx, f, given...)
    return TaintReport(_bare(ctx, value), _positions(_sources(ctx, value)), run.sinks)
end

function Base.show(io::IO, r::TaintReport)
    print(io, shorten(r.value), isempty(r.sources) ? " comes from no argument" : string(" comes from arguments ", join(r.sources, ", ")))
    for call in r.sinks
        print(io, "\n  ", call_text(call.callee, call.args...), " gets arguments ", join(call.sources, ", "))
        call.caller === nothing || print(io, ", called by ", callee_name(call.caller))
        print(io, place_text(call.file, call.line))
    end
end
