# From methods to IR and back: the code of a method, functions of IR, dynamos.

# --- the code of methods ---------------------------------------------------------------------

# The code of the method for a callee and arguments of these types; `nothing` if it has none.
function IR(callee::Type, types::Type...)
    found = __lowered_code(callee, types)
    found === nothing && return nothing
    params, rest, list = found
    ir = IR(meta = Meta(Any[callee, types...], Method(rest)))
    known = Dict{Int64, Any}(i => argument!(ir; insert = false) for i in 1:params)
    foreach(i -> block!(ir), 2:length(list))
    # Uses may stand before what they use.
    next = params
    for (i, (count, statements, _)) in enumerate(list)
        if i > 1
            for k in 1:count
                next += 1
                known[next] = argument!(block(ir, i); insert = false)
            end
        end
        for (number, expr, line) in statements
            known[number] = _place!(block(ir, i), length(_body(block(ir, i)).order) + 1, Statement(expr; line = line))
            next = number
        end
    end
    named(x) = prewalk(y -> y isa SSAValue ? known[y.id] : y, x)
    for id in keys(ir.statements)
        st = ir.statements[id]
        ir.statements[id] = Statement(st; expr = named(st.expr))
    end
    for (i, (_, _, ends)) in enumerate(list)
        for (condition, to, args) in ends
            push!(branches(block(ir, i)), Branch(named(condition), to, Any[named(arg) for arg in args]))
        end
    end
    return ir
end

code_ir(f, types) = IR(typeof(f), types...)

meta(types) = _method_meta(types.parameters...)
function _method_meta(types...)
    found = __lowered_code(types[1], types[2:end])
    return found === nothing ? nothing : Meta(Any[types...], Method(found[2]))
end
macro meta(ex)
    return Expr(:call, GlobalRef(IRTools, :_meta_of), map(esc, ex.args)...)
end
_meta_of(f, args...) = _method_meta(typeof(f), map(typeof, args)...)
IR(m::Meta; slots = false) = IR(m.types...)
macro code_ir(ex)
    isexpr(ex, :call) || isexpr(ex, :do) || error("@code_ir takes a call")
    return Expr(:call, GlobalRef(IRTools, :_code_ir), map(esc, _call_parts(ex))...)
end
# The code that a dynamo makes of a call.
macro code_ir(dynamo, ex)
    return Expr(:call, GlobalRef(IRTools, :_code_ir), esc(dynamo), map(esc, _call_parts(ex))...)
end
_call_parts(ex) = isexpr(ex, :do) ? [ex.args[1].args[1], ex.args[2], ex.args[1].args[2:end]...] : ex.args
_code_ir(f, args...) = IR(typeof(f), map(typeof, args)...)

# --- running ---------------------------------------------------------------------------------

# A function made of IR, with the values that it holds; `self[i]` within it is one of them.
# `S` tells in the code of which function it is: `Tuple{typeof(f)}`.
struct Lambda{S, T, F}
    code::F
    data::T
end
_made_in(f, code, data) = Lambda{Tuple{typeof(f)}, typeof(data), typeof(code)}(code, data)
(f::Lambda)(args...) = f.code(f, args...)
Base.getindex(f::Lambda, i::Integer) = f.data[i]

_label(i) = Symbol("block", i)
_goto(i) = Expr(:macrocall, Symbol("@goto"), LineNumberNode(0), _label(i))

# The IR as code, with what its arguments are, and what `self` is.
function _code(ir::IR, given, me, tag = "")
    length(given) == length(arguments(ir)) || error("the IR takes ", length(arguments(ir)), " arguments, there are ", length(given))
    # Functions within have variables of their own.
    name(v) = Symbol("%", tag, v.id)
    named(x) = isexpr(x, :lambda) ? _lambda(x.args[1], map(named, x.args[2:end]), me) :
        isexpr(x, :primitive) ? Expr(:call, map(named, x.args)...) :
        isexpr(x, :closure) ? xcall(Symbol("core.closure"), map(named, x.args)...) :
        prewalk(y -> y isa Variable ? name(y) : y isa Self ? me : y, x)
    code = Expr(:block)
    set(name, x) = push!(code.args, Expr(:(=), name, x))
    foreach(set, map(name, arguments(ir)), given)
    for b in blocks(ir)
        b.id > 1 && push!(code.args, Expr(:macrocall, Symbol("@label"), LineNumberNode(0), _label(b.id)))
        for v in keys(b)
            set(name(v), named(ir[v].expr))
        end
        for br in explicitbranches(b)
            _jump!(code, ir, br, name, named)
        end
    end
    return code
end

function _lambda(ir, held, me)
    names = [Symbol("held", i) for i in 1:length(arguments(ir))]
    code = Expr(:->, Expr(:tuple, names...), _code(ir, names, me, string(gensym())))
    return Expr(:call, GlobalRef(IRTools, :_made_in), me, code, Expr(:call, GlobalRef(Base, :tuple), held...))
end

function _jump!(code, ir, br, name, named)
    jump = Expr(:block)
    if isunreachable(br)
        push!(jump.args, xcall(:error, "unreachable code was reached"))
    elseif isreturn(br)
        push!(jump.args, Expr(:return, named(br.args[1])))
    else
        params = arguments(block(ir, br.block))
        length(params) == length(br.args) || error("block ", br.block, " takes ", length(params), " arguments, a branch gives ", length(br.args))
        # All at once: an argument may be given to another one.
        first = [Symbol(name(v), "'") for v in params]
        foreach((v, x) -> push!(jump.args, Expr(:(=), v, named(x))), first, br.args)
        foreach((v, x) -> push!(jump.args, Expr(:(=), name(v), x)), params, first)
        push!(jump.args, _goto(br.block))
    end
    push!(code.args, isconditional(br) ? Expr(:if, named(br.condition), Expr(:block), jump) : jump)
    return nothing
end

# The function of an IR: it takes all of its arguments, the first one too.
function func(m::Module, ir::IR)
    names = [Symbol("argument", i) for i in 1:length(arguments(ir))]
    code = _code(ir, names, names[1])
    return eval(m, Expr(:->, Expr(:tuple, names...), code))
end
func(ir::IR) = func(Main, ir)
evalir(ir::IR, args...) = Base.invokelatest(func(ir), args...)

# --- dynamos ---------------------------------------------------------------------------------

# What a dynamo could not make code of, when the code is run.
struct CompileError <: Exception
    transform
    args
    err
end
function Base.showerror(io::IO, e::CompileError)
    print(io, "Error compiling @dynamo ", e.transform, " on ", e.args, ":\n")
    showerror(io, e.err)
end

# The code of a call of a dynamo, from what the dynamo gave. `given` are the names of its parameters, of which the last
# one stands for `count` arguments if it takes the rest.
# Code sees all arguments as `args`.
_dynamo_code(code::Expr, me, given, rest, count) =
    Expr(:block, Expr(:(=), :args, Expr(:call, GlobalRef(Base, :tuple), _arguments(given, rest, count)...)), code)
_dynamo_code(::Nothing, me, given, rest, count) = Expr(:call, _arguments(given, rest, count)...)
function _dynamo_code(ir::IR, me, given, rest, count)
    args = _arguments(given, rest, count)
    # One that was built from nothing takes all arguments at once.
    fixed = ir.meta === nothing && length(arguments(ir)) == 1 ? 0 : _takes_rest(ir) ? length(arguments(ir)) - 1 : length(args)
    packed = fixed < length(arguments(ir)) ? Any[Expr(:call, GlobalRef(Base, :tuple), args[fixed + 1:end]...)] : Any[]
    return _code(ir, vcat(args[1:fixed], packed), me)
end
_dynamo_code(x, me, given, rest, count) = QuoteNode(x)
_dynamo_code(error::CompileError, me, given, rest, count) = Expr(:call, GlobalRef(Base, :throw), error)

function _made(make, me, types)
    try
        make()
    catch e
        CompileError(me, types, e)
    end
end
_arguments(given, rest, count) = Any[given..., (Expr(:ref, rest, i) for i in 1:count)...]

_param(x::Symbol) = x
_param(x::Expr) = isexpr(x, :(::)) ? (length(x.args) == 2 ? x.args[1] : error("a parameter of a dynamo has a name")) :
    isexpr(x, :...) ? Expr(:..., _param(x.args[1])) : isexpr(x, :kw) ? _param(x.args[1]) : error("a dynamo cannot take ", x)

_with_name(x, i) = x
_with_name(x::Symbol, i) = x === :_ ? Symbol("unnamed", i) : x
_with_name(x::Expr, i) = isexpr(x, :(::), 1) ? Expr(:(::), Symbol("unnamed", i), x.args[1]) : x
_with_call(x, call) = isexpr(x, :where) ? Expr(:where, _with_call(x.args[1], call), x.args[2:end]...) : call

macro dynamo(ex)
    isexpr(ex, (:function, :(=))) || error("expected a function after `@dynamo`")
    signature, body = ex.args
    call = signature
    while isexpr(call, :where)
        call = call.args[1]
    end
    name = call.args[1]
    me = isexpr(name, :(::)) ? _param(name) : name
    # Those without a name get one.
    call = Expr(:call, name, [_with_name(x, i) for (i, x) in enumerate(call.args[2:end])]...)
    params = map(_param, call.args[2:end])
    signature = _with_call(signature, call)
    fixed = filter(x -> x isa Symbol, params)
    rest = length(fixed) < length(params) ? params[end].args[1] : nothing
    count = rest === nothing ? 0 : Expr(:call, GlobalRef(Base, :length), rest)
    types = Expr(:call, GlobalRef(Base, :tuple), params...)
    made = Expr(:call, GlobalRef(IRTools, :_made), Expr(:->, Expr(:tuple), body), QuoteNode(me), types)
    given = Expr(:call, GlobalRef(Base, :tuple), map(QuoteNode, fixed)...)
    code = Expr(:call, GlobalRef(IRTools, :_dynamo_code), made, QuoteNode(me), given, QuoteNode(rest), count)
    return esc(Expr(:macrocall, Symbol("@generated"), __source__, Expr(:function, signature, Expr(:block, code))))
end

# Nothing has to be refreshed: code is made anew when what it came from changes.
refresh(dynamo) = nothing

# Sends every call in the code through the dynamo itself.
function recurse!(ir::IR, to = self)
    for (v, st) in ir
        isexpr(st.expr, :call) && (ir[v] = Expr(:call, to, st.expr.args...))
    end
    return ir
end
