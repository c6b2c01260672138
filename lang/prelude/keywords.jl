# Arguments by name. A call `f(x; a = 1)` is `__kwcall((a = 1,), f, x)`; a function with parameters that
# have names has methods for it.

# Functions without such parameters can be called with none.
@inline __kwcall(given, f, args...) = isempty(given) ? f(args...) : __no_method_with_keywords(given, f, args...)
function __no_method_with_keywords end

@inline __has_keyword(given, name::Symbol) = data.hasfield(given, name)
@inline __required_keyword(given, name::Symbol) =
    data.hasfield(given, name) ? data.getfield(given, name) : throw(UndefKeywordError(name))
@inline __check_keyword_type(x, T, name::Symbol) = x isa T ? x : __wrong_keyword_type(x, T, name)
@noinline __wrong_keyword_type(x, T, name) =
    throw(TypeError("keyword argument", name, T, x))

# What is given beside those of these names.
@inline function __other_keywords(given, names...)
    others = __unroll_fold(__OtherName(names), (), keys(given))
    return __named_of(others, __unroll_map(__ElementOf(given), others))
end
struct __OtherName{N}
    names::N
end
@inline (e::__OtherName)(found, name) = in(name, e.names) ? found : (found..., name)
@inline __check_keywords(others, f) = isempty(others) ? nothing : __unsupported_keywords(others, f)
@noinline __unsupported_keywords(others, f) =
    core.throw(string("MethodError: ", f, " got unsupported keyword argument", length(others) == 1 ? "" : "s", " ",
                      join(map(__quoted, keys(others)), ", ")))
__quoted(name) = string("\"", name, "\"")

# `kw` of `f(x; kw...)`.
struct Pairs{T} <: __Iterator
    data::T
end
@inline __pairs(given) = Pairs(given)
@inline __counted(p::Pairs) = true
@inline __start(p::Pairs) = 0
@inline __next(p::Pairs, s) = s + 1
@inline __done(p::Pairs, s) = s >= data.fieldcount(p.data)
@inline __item(p::Pairs, s) = Pair(keys(p.data)[s + 1], data.getfield(p.data, s + 1))
@inline length(p::Pairs) = length(p.data)
@inline isempty(p::Pairs) = isempty(p.data)
@inline keys(p::Pairs) = keys(p.data)
@inline values(p::Pairs) = p.data
@inline haskey(p::Pairs, k) = haskey(p.data, k)
@inline get(p::Pairs, k, default) = get(p.data, k, default)
@inline getindex(p::Pairs, k::Symbol) = p.data[k]
==(p::Pairs, q::Pairs) = p.data == q.data
@inline merge(t::NamedTuple, p::Pairs) = merge(t, p.data)
NamedTuple(p::Pairs) = p.data
@inline __shape(p::Pairs) = (length(p),)

# `(; a = 1, b...)`
@inline __merge_keywords(part) = __as_named(part)
@inline __merge_keywords(part, others...) = merge(__as_named(part), __merge_keywords(others...))
@inline __as_named(t::NamedTuple) = t
@inline __as_named(p::Pairs) = p.data
# Names that are not known before it runs are made types, which `__named_in` is compiled for.
__as_named(it) = __named_in(Tuple([Val(p[1]) for p in it]), Tuple([p[2] for p in it]))
__named_in(names, values) = __named_of(__unroll_map(__value_in, names), values)
__value_in(::Val{N}) where N = N

# `f.(x; a = 1)`
struct __WithKeywords{F, K} <: Function
    f::F
    given::K
end
@inline __with_keywords(f, given) = __WithKeywords(f, given)
@inline (g::__WithKeywords)(args...) = __kwcall(g.given, g.f, args...)
