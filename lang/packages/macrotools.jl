# Walks over code, under the names of Julia's MacroTools.

using IRTools: prewalk, postwalk, walk, isexpr
export prewalk, postwalk, isexpr
export @capture

# `@capture(code, pattern)` compares code with a pattern: true if it is alike. Names that end in `_` stand for any part,
# those that end in `__` for all the rest of a list; they become variables, which are `nothing` if the code is not alike.
macro capture(ex, pattern)
    names = _names(pattern)
    found = esc(gensym("found"))
    set = [:($(esc(name)) = $found === nothing ? nothing : $found[$(QuoteNode(name))]) for name in names]
    return Expr(:block, :($found = $(GlobalRef(MacroTools, :_matched))($(QuoteNode(pattern)), $(esc(ex)))), set..., :($found !== nothing))
end

_is_rest(x) = x isa Symbol && endswith(string(x), "__") && string(x) != "__"
_is_hole(x) = x isa Symbol && endswith(string(x), "_") && string(x) != "_" && !_is_rest(x)
_name(x) = Symbol(rstrip(string(x), '_'))
_names(x) = _is_rest(x) || _is_hole(x) ? Symbol[_name(x)] : Symbol[]
_names(x::Expr) = unique(reduce(vcat, map(_names, x.args); init = Symbol[]))

function _matched(pattern, ex)
    found = Dict{Symbol, Any}()
    return _match!(found, _plain(pattern), _plain(ex)) ? found : nothing
end
# Without lines, and without blocks of one statement.
_plain(x) = x
function _plain(x::Expr)
    args = Any[_plain(y) for y in x.args if !(y isa LineNumberNode)]
    return x.head === :block && length(args) == 1 ? args[1] : Expr(x.head, args...)
end
function _match!(found, pattern, ex)
    _is_hole(pattern) && return _bind!(found, _name(pattern), ex)
    pattern isa Expr && ex isa Expr || return pattern == ex
    pattern.head === ex.head || return false
    rest = findfirst(_is_rest, pattern.args)
    rest === nothing && return length(pattern.args) == length(ex.args) && all(((p, x),) -> _match!(found, p, x), zip(pattern.args, ex.args))
    before, behind = rest - 1, length(pattern.args) - rest
    length(ex.args) >= before + behind || return false
    first, last = ex.args[1:before], ex.args[end - behind + 1:end]
    return all(((p, x),) -> _match!(found, p, x), zip(pattern.args[1:before], first)) &&
        _bind!(found, _name(pattern.args[rest]), ex.args[before + 1:end - behind]) &&
        all(((p, x),) -> _match!(found, p, x), zip(pattern.args[rest + 1:end], last))
end
_bind!(found, name, x) = haskey(found, name) ? found[name] == x : (found[name] = x; true)
