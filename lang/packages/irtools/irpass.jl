# Passes of pipelines: `@irpass function twice(ir; factor = 2) … end`.

export @irpass

# The function that a pass is given code of.
struct PassMeta
    name::Symbol
    returns
end
_takes_rest(::PassMeta) = false

# IR of the code of a function as the library gives it. Numbers are those of the function.
function _given((name, returns, count, list))
    ir = IR(meta = PassMeta(name, returns))
    ir.count = count
    ir.list = BasicBlock[]
    for (i, (number, args, types, statements, ends)) in enumerate(list)
        b = BasicBlock(Int64[id for id in args], types, Int64[], Any[], number)
        foreach(id -> ir.homes[id] = i, b.args)
        for (id, expr, type, line) in statements
            push!(b.order, id)
            ir.homes[id] = i
            ir.statements[id] = Statement(expr, type, line, id)
        end
        for (condition, to, args) in ends
            push!(b.branches, Branch(condition, to, args))
        end
        push!(ir.list, b)
    end
    return ir
end

# The code of IR as the library takes it.
function _taken(ir::IR)
    explicitbranch!(ir)
    list(b) = Any[(id, ir.statements[id].expr, ir.statements[id].type, ir.statements[id].from) for id in b.order]
    ends(b) = Any[(br.condition, br.block, Any[arg for arg in br.args]) for br in b.branches]
    return Any[(b.from, Any[id for id in b.args], Any[t for t in b.types], list(b), ends(b)) for b in ir.list]
end

# The code that a pass makes: it gives IR, or `nothing` if it has changed what it was given. Of anything else, the type.
function _run_pass(pass, code, options)
    ir = _given(code)
    made = pass(ir; options...)
    made === nothing && return _taken(ir)
    return made isa IR ? _taken(made) : string(typeof(made))
end

_define_pass(name, pass, defaults, place) = (__define_pass(name, pass, defaults, place); pass)

# An option, with its default.
function _option(x)
    isexpr(x, :kw) || error("the option `", x, "` of a pass has no default")
    name = isexpr(x.args[1], :(::)) ? x.args[1].args[1] : x.args[1]
    name isa Symbol || error("a pass cannot take the option `", x, "`")
    return Expr(:(=), name, x.args[2])
end

macro irpass(ex)
    isexpr(ex, (:function, :(=))) || error("expected a function after `@irpass`")
    call = ex.args[1]
    while isexpr(call, (:where, :(::)))
        call = call.args[1]
    end
    isexpr(call, :call) && call.args[1] isa Symbol || error("a pass is a function that has a name")
    params = call.args[2:end]
    options = !isempty(params) && isexpr(params[1], :parameters) ? popfirst!(params).args : Any[]
    length(params) == 1 && !isexpr(params[1], (:..., :kw)) || error("a pass takes IR, and options behind a `;`")
    defaults = Expr(:tuple, map(_option, options)...)
    place = string(__source__.file, ":", __source__.line)
    define = Expr(:call, GlobalRef(IRTools, :_define_pass), QuoteNode(call.args[1]), call.args[1], defaults, place)
    return esc(Expr(:block, ex, define))
end
