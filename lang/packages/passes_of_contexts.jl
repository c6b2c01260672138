# Passes of contexts: code of the program that rewrites the code of every function in a context, before its calls are
# sent through it. Loaded when `@pass` is used.

using IRTools
using IRTools: IR, argument!, isexpr, xcall, @dynamo

# The call whose code it is, and the code.
struct Reflection
    signature
    code_info
end

# An expression with its calls sent through the context; `Expr(:nooverdub, f)` stays as it is.
_through(ctx, x) = x
function _through(ctx, x::Expr)
    isexpr(x, :nooverdub) && return x.args[1]
    isexpr(x, (:quote, :inert, :closure, :static_parameter)) && return x
    args = map(y -> _through(ctx, y), x.args)
    isexpr(x, :call) && !isexpr(x.args[1], :nooverdub) || return Expr(x.head, args...)
    x.args[1] isa GlobalRef && x.args[1].name === :_apply_iterate &&
        return Expr(:call, args[1], args[2], xcall(Cassette, :within, ctx, args[3]), args[4:end]...)
    return Expr(:call, xcall(Cassette, :within, ctx, args[1]), args[2:end]...)
end

# The code of `recurse` for a context with a pass.
_rewritten(code, context) = error("a pass gives code or an expression, found ", typeof(code))
function _rewritten(code::Expr, context)
    return Expr(:block, Expr(:(=), Cassette.OVERDUB_CONTEXT_NAME, Expr(:ref, :args, 1)),
                Expr(:(=), Cassette.OVERDUB_ARGUMENTS_NAME, Expr(:call, GlobalRef(Base, :tail), :args)), code)
end
function _rewritten(code::IR, context)
    ctx = argument!(code; at = 1)
    for (v, st) in code
        code[v] = _through(ctx, st.expr)
    end
    return code
end

@dynamo function _recurse_with_pass(context, f, args...)
    ir = IR(f, args...)
    # What has no code here is called as it is.
    ir === nothing && return Expr(:call, GlobalRef(Cassette, :fallback), Expr(:..., :args))
    pass = context.parameters[4]
    return _rewritten(pass()(context, Reflection(Tuple{f, args...}, ir)), context)
end
Cassette.recurse_with_pass(context::Cassette.Context, f, args...) = _recurse_with_pass(context, f, args...)
