# Values that hold something for which a program has a method of `show`.

# The value, or the text in its place if a method of the program has a part in it.
function __with_own(x)
    own = __own_text(x, 0)
    return own === nothing ? x : CodeText(own)
end

# The text of a value that a method of the program has a part in; of any other one nothing.
function __own_text(x, depth)
    __has_own(show, Tuple{IOBuffer, typeof(x)}) && return sprint(show, x)
    # An object may contain itself.
    return depth > 8 ? nothing : __own_within(x, depth + 1)
end
__own_within(x::Union{Number, String, Symbol, Nothing, AbstractChar, Function, Type, Module, IO}, depth) = nothing
__own_within(x::AbstractRange, depth) = nothing
function __own_within(x, depth)
    names = fieldnames(typeof(x))
    parts = __own_parts(Any[isdefined(x, name) ? getfield(x, name) : CodeText("#undef") for name in names], depth)
    return parts === nothing ? nothing : string(typeof(x), "(", join(parts, ", "), ")")
end
function __own_within(x::Tuple, depth)
    parts = __own_parts(x, depth)
    return parts === nothing ? nothing : string("(", join(parts, ", "), length(parts) == 1 ? ",)" : ")")
end
function __own_within(x::NamedTuple, depth)
    parts = __own_parts(values(x), depth)
    parts === nothing && return nothing
    named = [string(name, " = ", part) for (name, part) in zip(keys(x), parts)]
    return string("(", join(named, ", "), length(named) == 1 ? ",)" : ")")
end
function __own_within(p::Pair, depth)
    parts = __own_parts((p.first, p.second), depth)
    return parts === nothing ? nothing : join(parts, " => ")
end
function __own_within(d::AbstractDict, depth)
    parts = __own_parts(collect(d), depth)
    return parts === nothing ? nothing : string(typeof(d), "(", join(parts, ", "), ")")
end
function __own_within(s::AbstractSet, depth)
    elements = __own_within(collect(s), depth)
    return elements === nothing ? nothing : string("Set(", elements, ")")
end
function __own_within(a::AbstractArray, depth)
    eltype(a) <: Union{__Arith, String, Symbol} && return nothing
    parts = __own_parts(vec(collect(a)), depth)
    parts === nothing && return nothing
    # What stands in front of the elements: `T` in `T[…]`.
    prefix = split(core.shown(collect(a)), "["; limit = 2)[1]
    return string(prefix, "[", __own_rows(reshape(parts, size(a))), "]")
end
__own_rows(parts::AbstractVector) = join(parts, ", ")
__own_rows(parts::AbstractMatrix) = join([join(parts[i, :], " ") for i in axes(parts, 1)], "; ")
__own_rows(parts) = join([__own_rows(part) for part in eachslice(parts; dims = ndims(parts))], string(repeat(";", ndims(parts)), " "))

# The texts of values, if a method of the program has a part in one of them.
function __own_parts(xs, depth)
    own = Any[__own_text(x, depth) for x in xs]
    all(isnothing, own) && return nothing
    return String[text === nothing ? core.shown(x) : text for (x, text) in zip(xs, own)]
end
# The elements of an array that is displayed in rows and columns.
__own_elements(a) = map(x -> (own = __own_text(x, 0); own === nothing ? x : CodeText(own)), a)

# --- for a prompt ---------------------------------------------------------------------------

struct MIME{T} end
MIME(name) = MIME{Symbol(name)}()
macro MIME_str(name)
    return :(MIME{$(QuoteNode(Symbol(name)))})
end
show(io::IO, ::MIME, x) = __print_to(io, core.host(:display, x)::String)
display(x) = show(stdout, MIME("text/plain"), x)
repr(m::MIME, x) = sprint(show, m, x)
repr(m::String, x) = repr(MIME(m), x)
# The text of a value for which the program has a method.
__own_display(x) = __has_own(show, Tuple{IOBuffer, typeof(MIME("text/plain")), typeof(x)}) ? repr(MIME("text/plain"), x) : nothing
