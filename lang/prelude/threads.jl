# Loops and reductions that threads share.
#
# Iterations are cut into chunks by their number alone: at most 64, all of one size but the last. A chunk is one call,
# and what chunks give is put together in their order, so that a result does not depend on who ran them.
# Derivatives know `__in_chunks` (`ad/src/reverse/chunks`): it stays a function of its own, which calls
# nothing but `__chunk`.

nthreads() = core.host(:nthreads)::Int64

# The values of f(1), ..., f(count).
@noinline function __in_chunks(f, count)
    out = mem.alloc(__array_type(__return_type(f, Int64), (1,)), count)
    for c in 1:count
        mem.store(out, __chunk(f, c), c)
    end
    return out
end
@noinline __chunk(f, c) = f(c)

# A collection that each chunk takes elements of its own of, and no others.
struct __Own{X}
    it::X
end

# The iterations 1:n, `size` in each chunk.
struct __Chunks
    n::Int64
    size::Int64
end
@inline __chunks(n) = __Chunks(n, max(1, cld(n, 64)))
@inline __count(chunks) = cld(chunks.n, chunks.size)
@inline __first(chunks, c) = max(1, (c - 1) * chunks.size + 1)
@inline __last(chunks, c) = min(c * chunks.size, chunks.n)

# --- loops ----------------------------------------------------------------------------------

macro threads(args...)
    loop = args[end]
    for word in args[1:end-1]
        word isa QuoteNode && word.value in (:static, :dynamic, :greedy) ||
            throw(ArgumentError("unsupported schedule argument in @threads"))
    end
    isexpr(loop, :for) || throw(ArgumentError("@threads requires a `for` loop expression"))
    isexpr(loop.args[1], :(=)) || throw(ArgumentError("nested outer loops are not currently supported by @threads"))
    variable, it = loop.args[1].args
    return :(__threads_for((it, first, last) -> for k in first:last
        local $(esc(variable)) = it[k]
        $(esc(loop.args[2]))
    end, $(esc(it))))
end

@inline __threads_for(body, it) = __for_chunks(body, it, length(it))
@inline __threads_for(body, it::Union{Tuple, NamedTuple, Number, __Iterator}) = __threads_for(body, collect(it))
@inline __threads_for(body, it::AbstractDict) = __threads_for(body, collect(it))
@inline __threads_for(body, it::AbstractString) = __threads_for(body, collect(it))
function __for_chunks(body, it, n)
    chunks = __chunks(n)
    __in_chunks(__ForChunk(body, __Own(it), chunks), __count(chunks))
    return nothing
end
struct __ForChunk{F, X} <: Function
    body::F
    own::__Own{X}
    chunks::__Chunks
end
function (t::__ForChunk)(c)
    t.body(t.own.it, __first(t.chunks, c), __last(t.chunks, c))
    return nothing
end

# --- reductions -----------------------------------------------------------------------------
# The names are those of OhMyThreads. `op` is associative; `init`, if it is given, comes before the first element.

tmapreduce(f, op, xs...; init=nothing) = __tmapreduce(f, __folding(op), init, __indexed(xs))
treduce(op, xs; init=nothing) = __tmapreduce(identity, __folding(op), init, __indexed((xs,)))
@inline __folding(op) = op
@inline __folding(::typeof(+)) = __add
@inline __folding(::typeof(*)) = __multiply
@inline __indexed(xs) = __unroll_map(__in_order, xs)
@inline __in_order(x) = collect(x)
@inline __in_order(x::AbstractArray) = x

@inline __common_length(xs) = __unroll_fold(__same_length, length(xs[1]), xs)
@inline __same_length(n, x) = length(x) == n ? n : __other_length(n, length(x))
@noinline __other_length(n, m) = throw(DimensionMismatch(string("collections of ", n, " and ", m, " elements")))
struct __ElementAt
    k::Int64
end
@inline (e::__ElementAt)(x) = x[e.k]

function __tmapreduce(f, op, init, xs)
    chunks = __chunks(__common_length(xs))
    parts = __in_chunks(__FoldChunk(f, op, __Own(xs), chunks), __count(chunks))
    return __combined(op, init, parts)
end
__combined(op, init::Nothing, parts) = __fold(identity, op, parts, __empty_fold)
__combined(op, init, parts) = __fold_from(identity, op, init, parts)
struct __FoldChunk{F, O, X} <: Function
    f::F
    op::O
    own::__Own{X}
    chunks::__Chunks
end
function (t::__FoldChunk)(c)
    xs = t.own.it
    # So no access is out of bounds, which shows.
    last = __unroll_fold(__shorter, c * t.chunks.size, xs)
    return __fold_chunk(t.f, t.op, xs, __neutral(t.op, __chunk_type(t.f, xs)), __first(t.chunks, c), last)
end
@inline __shorter(n, x) = min(n, length(x))
@inline __chunk_type(f, xs) = Any
@inline __chunk_type(f, xs::Tuple{Any}) = __value_type(f, xs[1])
@inline __neutral(op, T) = nothing
# Adding to -0.0 changes no float.
@inline __neutral(::typeof(__add), ::Type{T}) where T<:__Float = arith.neg(zero(T))
__fold_chunk(f, op, xs, acc::Nothing, k, last) =
    __fold_chunk(f, op, xs, __widen_for(op, f(__unroll_map(__ElementAt(k), xs)...)), k + 1, last)
function __fold_chunk(f, op, xs, acc, k, last)
    while k <= last
        acc = op(acc, f(__unroll_map(__ElementAt(k), xs)...))
        k += 1
    end
    return acc
end

# --- maps -----------------------------------------------------------------------------------

function tforeach(f, xs...)
    of = __indexed(xs)
    __for_chunks(__Each(f), of, __common_length(of))
end
struct __Each{F} <: Function
    f::F
end
function (e::__Each)(xs, first, last)
    for k in first:last
        e.f(__unroll_map(__ElementAt(k), xs)...)
    end
end

tmap(f, xs...) = __tmap(f, __indexed(xs))
function __tmap(f, xs)
    chunks = __chunks(__common_length(xs))
    parts = __in_chunks(__MapChunk(f, __Own(xs), chunks), __count(chunks))
    return __in_shape(xs[1], __joined(parts))
end
@inline __in_shape(x, out) = out
@inline __in_shape(x::AbstractMatrix, out) = collect(reshape(out, size(x)))
struct __MapChunk{F, X} <: Function
    f::F
    own::__Own{X}
    chunks::__Chunks
end
(t::__MapChunk)(c) = map(k -> t.f(__unroll_map(__ElementAt(k), t.own.it)...), __first(t.chunks, c):__last(t.chunks, c))
function __joined(parts::Array{Array{T, 1}, 1}) where T
    out = T[]
    for part in parts
        append!(out, part)
    end
    return out
end
function __joined(parts)
    out = Any[]
    for part in parts
        append!(out, part)
    end
    return __narrow(out)
end
