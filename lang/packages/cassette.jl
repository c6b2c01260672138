# Contexts, under the names of Julia's Cassette: other meanings for the calls within a call.
#
# `overdub` and `recurse` for all contexts are dynamos, which are defined when this file was run: the code of a function
# with every call sent through `overdub`, between the hooks.

# --- contexts --------------------------------------------------------------------------------

abstract type AbstractContextName end
abstract type AbstractPass end
struct NoPass <: AbstractPass end
struct DisableHooks end

# What marks the values of one run: `N` is the name of its context, `X` the type of what is run.
struct Tag{N, X} end

struct Context{N<:AbstractContextName, M, T<:Union{Nothing, Tag}, P<:Union{Nothing, AbstractPass}, H<:Union{Nothing, DisableHooks}}
    name::N
    metadata::M
    tag::T
    pass::P
    hooktoggle::H
end
const ContextUntagged{N<:AbstractContextName} = Context{N, <:Any, Nothing}
const ContextTagged{T<:Tag, N<:AbstractContextName} = Context{N, <:Any, T}

_pass(pass) = pass
_pass(::NoPass) = nothing
Context(name::AbstractContextName; metadata = nothing, pass = NoPass()) =
    Context(name, metadata, nothing, _pass(pass), nothing)
similarcontext(context::Context; metadata = context.metadata, pass = context.pass) =
    Context(context.name, metadata, context.tag, _pass(pass), context.hooktoggle)
disablehooks(context::Context) =
    Context(context.name, context.metadata, context.tag, context.pass, DisableHooks())
enabletagging(context::Context, f) =
    Context(context.name, context.metadata, Tag{typeof(context.name), typeof(f)}(), context.pass, context.hooktoggle)
hastagging(::Type{<:ContextTagged}) = true
hastagging(::Type{<:ContextUntagged}) = false
nametype(::Type{<:Context{N}}) where N = N

# Defines a context type, and what makes contexts of it.
macro context(name)
    name isa Symbol || error("@context takes a name")
    label = Symbol("##", name, "#Name")
    return esc(quote
        struct $label <: $(GlobalRef(Cassette, :AbstractContextName)) end
        const $name{M, T<:$(Union{Nothing, Tag})} = $(GlobalRef(Cassette, :Context)){$label, M, T}
        $name(; options...) = $(GlobalRef(Cassette, :Context))($label(); options...)
        $name
    end)
end

# --- what programs add methods to ------------------------------------------------------------

@inline prehook(::Context, ::Any...) = nothing
@inline posthook(::Context, ::Any...) = nothing
# Called where control gets to another line of the code.
@inline linehook(::Context, file, line) = nothing
@inline canrecurse(ctx::Context, f, args...) = !(untag(f, ctx) isa Core.Builtin)
@inline fallback(ctx::Context, f, args...) = plain_call(ctx, f, args...)
# Tuples hold tagged values; everything else is called with what is tagged.
@inline plain_call(::Context, f, args...) = f(args...)
@inline plain_call(ctx::ContextTagged, f, args...) = untag(f, ctx)(map(x -> untag(x, ctx), args)...)
@inline plain_call(::ContextTagged, ::typeof(tuple), args...) = args
@inline plain_call(ctx::ContextTagged, f::Union{typeof(getfield), typeof(getindex)}, t::Union{Tuple, NamedTuple}, k) = f(t, untag(k, ctx))

macro overdub(ctx, ex)
    return Expr(:call, GlobalRef(Cassette, :recurse), esc(ctx), Expr(:->, Expr(:tuple), esc(ex)))
end

# A function that is called within a context by what inference knows. Calls of it go between the hooks; they are a dynamo.
struct Within{C, F}
    context::C
    callee::F
end
@inline within(context, callee) = Within(context, callee)

# --- passes ----------------------------------------------------------------------------------

function recurse_with_pass end
# The names of the context, and of the tuple of function and arguments, in an expression that a pass gives.
const OVERDUB_CONTEXT_NAME = Symbol("#context")
const OVERDUB_ARGUMENTS_NAME = Symbol("#arguments")

# A pass of `f(C, reflection)`: from the type of a context, and what is known of a call, to the code that is run.
macro pass(f)
    eval(Cassette, Expr(:import, Expr(:., :PassesOfContexts)))
    name = gensym("Pass")
    return Expr(:block, Expr(:struct, false, Expr(:<:, esc(name), GlobalRef(Cassette, :AbstractPass)), Expr(:block)),
                Expr(:(=), Expr(:call, Expr(:(::), esc(name)), :context, :reflection), Expr(:block, Expr(:call, esc(f), :context, :reflection))),
                Expr(:call, esc(name)))
end

# --- tags ------------------------------------------------------------------------------------

struct NoMetaData end
struct Tagged{T<:Tag, V, M}
    tag::T
    value::V
    meta::M
end
tag(value, ctx::ContextTagged, meta = NoMetaData()) = Tagged(ctx.tag, value, meta)
untag(x, ctx::Context) = x
untag(x::Tagged{T}, ctx::ContextTagged{T}) where T<:Tag = x.value
untag(x::Union{Tuple, NamedTuple}, ctx::ContextTagged) = map(y -> untag(y, ctx), x)
# The same of a value alone, whose parts may be tagged.
untag_outer(x, ctx::Context) = x
untag_outer(x::Tagged{T}, ctx::ContextTagged{T}) where T<:Tag = x.value
untagtype(::Type{X}, ctx) where X = X
untagtype(::Type{Tagged{T, V, M}}, ::Type{<:ContextTagged{T}}) where {T<:Tag, V, M} = V
metadata(x, ctx::Context) = NoMetaData()
metadata(x::Tagged{T}, ctx::ContextTagged{T}) where T<:Tag = x.meta
istagged(x, ctx::Context) = false
istagged(x::Tagged{T}, ctx::ContextTagged{T}) where T<:Tag = true
const hastag = istagged
hasmetadata(x, ctx::Context) = !(metadata(x, ctx) isa NoMetaData)
