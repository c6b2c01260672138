# Code as values: expressions, and what may stand in them.

mutable struct Expr
    head::Symbol
    args::Vector{Any}
end
struct QuoteNode
    value
end
struct LineNumberNode
    line::Int64
    file
end
LineNumberNode(line) = LineNumberNode(line, nothing)
struct GlobalRef
    mod
    name::Symbol
end
struct SSAValue
    id::Int64
end
Expr(head::Symbol, args...) = Expr(head, __any_vector(args))
const __AnyVector = Array{Any, 1}
function __any_vector(args)
    out = mem.alloc(Array{Any, 1}, 0)
    for arg in args
        mem.push(out, arg)
    end
    return out
end
__code_expr(head, args) = __new(Expr, head, args)
__construct(::Type{T}, fields...) where T = __new(T, fields...)
__push_code(args, x) = (mem.push(args, x); nothing)
function __append_code(args, xs)
    for x in xs
        mem.push(args, x)
    end
    return nothing
end

==(x::Expr, y::Expr) = x.head === y.head && x.args == y.args
==(x::QuoteNode, y::QuoteNode) = x.value == y.value
==(x::LineNumberNode, y::LineNumberNode) = x.line == y.line && x.file === y.file
==(x::GlobalRef, y::GlobalRef) = x.mod === y.mod && x.name === y.name
copy(x::Expr) = Expr(x.head, __any_vector(map(__copied_code, x.args)))
__copied_code(x) = x
__copied_code(x::Expr) = copy(x)
deepcopy(x::Expr) = copy(x)
deepcopy(x::Union{QuoteNode, LineNumberNode, GlobalRef}) = x
__repr(x::Union{Expr, QuoteNode, LineNumberNode, GlobalRef}) = core.shown(x)

esc(x) = Expr(:escape, x)
isexpr(x) = x isa Expr
isexpr(x, head) = false
isexpr(x::Expr, head::Symbol) = x.head === head
isexpr(x::Expr, heads) = x.head in heads
isexpr(x::Expr, head, n::Int64) = isexpr(x, head) && length(x.args) == n
isexpr(x, head, n::Int64) = false

Symbol(parts...) = core.host(:symbol, string(parts...))::Symbol
Symbol(x::Symbol) = x
gensym() = core.host(:gensym, "")::Symbol
gensym(tag) = core.host(:gensym, string(tag))::Symbol

eval(m::Module, x) = core.host(:eval, m, x)
eval(x) = core.host(:eval, Main, x)
__define(number) = core.host(:define, number)
# What the elements of are arguments, where nothing is known of it.
__splatted(x) = collect(x)
__splatted(x::Union{Tuple, NamedTuple, Array}) = x
_apply_iterate(iterate, f, args...) = __apply_all(f, (), args...)
@inline __apply_all(f, taken) = f(taken...)
@inline __apply_all(f, taken, arg, args...) = __apply_all(f, (taken..., arg...), args...)
__define_pass(name, pass, defaults, place) = core.host(:define_pass, name, pass, defaults, place)
__lowered_code(callee, types) = core.host(:lowered_code, callee, types)
function macroexpand(m::Module, x; recursive::Bool = true)
    made = core.host(:macroexpand, m, x, recursive)
    return recursive ? __lower_quotes(made) : made
end
remove_linenums!(x) = x
function remove_linenums!(x::Expr)
    isexpr(x, :block) && filter!(y -> !(y isa LineNumberNode), x.args)
    foreach(remove_linenums!, x.args)
    return x
end
# Shows `@generated` and quoted code as what they stand for.
__lower_quotes(x) = x
function __lower_quotes(x::Expr)
    if isexpr(x, :quote, 1)
        return __is_interpolated(x.args[1]) ? x : Expr(:copyast, __inert(x.args[1]))
    end
    args = map(__lower_quotes, x.args)
    isexpr(x, :macrocall, 3) && x.args[1] === Symbol("@generated") || return Expr(x.head, args...)
    isexpr(args[3], :function, 2) || isexpr(args[3], :(=), 2) || return Expr(x.head, args...)
    otherwise = Expr(:block, Expr(:meta, :generated_only), Expr(:return, nothing))
    choice = Expr(:if, Expr(:generated), args[3].args[2], otherwise)
    return Expr(args[3].head, args[3].args[1], Expr(:block, args[2], choice))
end
__inert(x) = QuoteNode(x)
__inert(x::QuoteNode) = x
__is_interpolated(x) = false
__is_interpolated(x::Expr) = isexpr(x, :$) || any(__is_interpolated, x.args)
parse(text::String; raise::Bool = true) = core.host(:parse, text, "none")
parseall(text::String; filename::String = "none") = __as_toplevel(core.host(:parse, text, filename))
__as_toplevel(x) = isexpr(x, :toplevel) ? x : Expr(:toplevel, x)

# --- looking at values ----------------------------------------------------------------------

dump(x; maxdepth::Int64 = 8) = dump(stdout, x; maxdepth = maxdepth)
function dump(io::IO, x; maxdepth::Int64 = 8)
    __dump(io, x, maxdepth, "")
    println(io)
end
function __dump(io, x, depth, indent)
    T = typeof(x)
    names = x isa Union{Number, String, Symbol, Nothing, Function, Type, Module} ? () : fieldnames(T)
    if isempty(names)
        print(io, T, " ", __repr(x))
        return nothing
    end
    print(io, T)
    depth == 0 && return nothing
    for name in names
        print(io, "\n", indent, "  ", name, ": ")
        if isdefined(x, name)
            __dump(io, getfield(x, name), depth - 1, string(indent, "  "))
        else
            print(io, "#undef")
        end
    end
    return nothing
end
__dump(io, x::Union{String, Symbol, Nothing, Number}, depth, indent) = (print(io, typeof(x), " ", x); nothing)
__dump(io, x::String, depth, indent) = (print(io, "String ", __repr(x)); nothing)
__dump(io, x::Function, depth, indent) = (print(io, x, " (function of type ", typeof(x), ")"); nothing)
function __dump(io, x::AbstractArray, depth, indent)
    print(io, typeof(x) === Vector{Any} ? "Array{Any}" : typeof(x), "(", __repr(size(x)), ")")
    x isa AbstractArray{<:Number} || return __dump_elements(io, x, depth, indent)
    print(io, " ", __repr(x))
    return nothing
end
function __dump(io, x::Tuple, depth, indent)
    print(io, typeof(x))
    return __dump_elements(io, x, depth, indent)
end
function __dump_elements(io, x, depth, indent)
    depth == 0 && return nothing
    for k in 1:length(x)
        print(io, "\n", indent, "  ", k, ": ")
        __dump(io, x[k], depth - 1, string(indent, "  "))
    end
    return nothing
end

# --- macros ---------------------------------------------------------------------------------

macro eval(x)
    return Expr(:call, :eval, __module__, esc(Expr(:quote, x)))
end
macro eval(m, x)
    return Expr(:call, :eval, esc(m), esc(Expr(:quote, x)))
end
macro macroexpand(x)
    return Expr(:call, :macroexpand, __module__, QuoteNode(x))
end
macro macroexpand(m, x)
    return Expr(:call, :macroexpand, esc(m), QuoteNode(x))
end
macro macroexpand1(x)
    return Expr(:call, :macroexpand, Expr(:parameters, Expr(:kw, :recursive, false)), __module__, QuoteNode(x))
end
macro gensym(names...)
    block = Expr(:block)
    for name in names
        push!(block.args, Expr(:(=), esc(name), Expr(:call, :gensym, string(name))))
    end
    push!(block.args, :nothing)
    return block
end
macro big_str(text)
    return :(big($text))
end
macro raw_str(text)
    return text
end
# Inlining is up to passes.
macro _inline_meta()
    return nothing
end
macro __LINE__()
    return __source__.line
end
macro __FILE__()
    return string(__source__.file)
end

# Accesses of elements, under the names of Julia's builtin functions (without their first argument, whether to check bounds).
arrayref(a, i) = mem.load(a, i)
arrayref(a, i...) = __spread("mem.load", a, i)
arrayset(a, x, i) = mem.store(a, x, i)
arrayset(a, x, i...) = __spread("mem.store", a, x, i)

# A function that is called through a dynamo by what inference knows.
struct __Through{D, F}
    through::D
    callee::F
end
(t::__Through)(args...) = t.through(t.callee, args...)
__through(through, callee) = __Through(through, callee)
