# IR as text, in the form of Julia's IRTools.

Base.show(io::IO, v::Variable) = print(io, "%", v.id)
Base.show(io::IO, v::NewVariable) = print(io, "%", v.id)
Base.show(io::IO, ::Self) = print(io, "IRTools.Inner.Self()")
Base.show(io::IO, s::Slot) = print(io, "@", s.id, _type_text(s.type))
Base.show(io::IO, b::Block) = print(io, "Block ", b.id, ":\n", _block_text(b))
Base.show(io::IO, st::Statement) = print(io, _text(st.expr), _type_text(st.type))
Base.show(io::IO, br::Branch) = print(io, _branch_text(br))
Base.show(io::IO, ir::IR) = print(io, join(map(_block_text, blocks(ir)), "\n"))
Base.show(io::IO, p::Pipe) = print(io, "Pipe(", p.to, ")")

_type_text(type) = type === Any ? "" : string(" :: ", type)
_list_text(list) = isempty(list) ? "" : string(" (", join(map(_text, list), ", "), ")")
function _block_text(b::Block)
    types = argtypes(b)
    args = [string(v, _type_text(types[i])) for (i, v) in enumerate(arguments(b))]
    lines = [string(b.id, ":", isempty(args) ? "" : string(" (", join(args, ", "), ")"))]
    for (v, st) in b
        push!(lines, string("  ", v, " = ", st))
    end
    for br in branches(b)
        push!(lines, string("  ", br))
    end
    return join(lines, "\n")
end
function _branch_text(br::Branch)
    isunreachable(br) && return "unreachable"
    isreturn(br) && return string("return ", _text(br.args[1]))
    condition = isconditional(br) ? string(" unless ", _text(br.condition)) : ""
    return string("br ", br.block, _list_text(br.args), condition)
end

_is_operator(name) = !(isletter(string(name)[1]) || string(name)[1] in ('_', '#', '@'))
_text(x) = repr(x)
_text(x::Union{Variable, Self, Slot}) = string(x)
_text(x::GlobalRef) = string(x.mod, ".", _is_operator(x.name) ? ":" : "", x.name)
_text(x::QuoteNode) = x.value isa Symbol ? repr(x.value) : string("\$(QuoteNode(", repr(x.value), "))")
function _text(x::Expr)
    isexpr(x, :(=), 2) && return string(_text(x.args[1]), " = ", _text(x.args[2]))
    isexpr(x, :new) && return string("new(", join(map(_text, x.args), ", "), ")")
    isexpr(x, (:call, :primitive)) || return string(x)
    f, args = x.args[1], map(_text, x.args[2:end])
    if f isa GlobalRef && _is_operator(f.name)
        length(args) >= 2 && return join(args, string(" ", f.name, " "))
        length(args) == 1 && return string(f.name, args[1])
    end
    return string(_callee_text(f), "(", join(args, ", "), ")")
end
_callee_text(f) = string("(", _text(f), ")")
_callee_text(f::Union{GlobalRef, Function, DataType}) = _text(f)
