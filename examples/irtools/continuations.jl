# Delimited continuations: within `reset`, `shift(f)` gives `f` what is left to be done, as a function.
#
# The dynamo `cps` makes of a function one that takes its continuation first (continuation-passing style). Branches become
# calls of functions first (`functional`); then each call is given the rest of the code as a function that holds what the
# rest uses.

using IRTools.All

# The compiler is not to look into continuations.
struct Rest
    f
end
(rest::Rest)(args...) = rest.f(args...)

cps(k, f::Core.IntrinsicFunction, args...) = k(f(args...))
cps(k, f::IRTools.Lambda{<:Tuple{typeof(cps), Vararg{Any}}}, args...) = f(k, args...)
cps(k, ::typeof(cond), c, t, f) = c ? cps(k, t) : cps(k, f)
cps(k, ::typeof(cps), args...) = k(cps(args...))

@dynamo function cps(k, call...)
    ir = IR(call...)
    ir === nothing && return :(args[1](args[2](args[3:end]...)))
    return with_continuation(functional(ir), 1)
end

# The code takes the continuation as its argument number `at`.
function with_continuation(ir, at)
    k = argument!(ir, at = at)
    made = empty(ir)
    known = Dict{Any, Any}(x => argument!(made) for x in arguments(ir))
    return continued!(made, ir, known, keys(ir), k)
end

used_by(ir, vs) = setdiff(Set(x for v in vs if isexpr(ir[v].expr) for x in ir[v].expr.args if x isa Variable), vs)

# Adds the statements up to the first call, which is given the rest.
function continued!(made, ir, known, left, k)
    renamed(x) = prewalk(y -> y isa Variable ? known[y] : y, x)
    while !isempty(left)
        v, left = left[1], left[2:end]
        st = ir[v]
        if isexpr(st.expr, :call) && st.expr.args[1] != GlobalRef(Base, :getindex)
            held = Any[k, setdiff(used_by(ir, left), [v, k])...]
            returned = returnvalue(block(ir, 1))
            returned isa Variable && returned != v && !(returned in left) && push!(held, returned)
            held = unique(held)
            rest = push!(made, Expr(:lambda, rest_of(ir, left, held, v, k), map(renamed, held)...))
            next = xcall(Main, :cps, xcall(Main, :Rest, rest), renamed(st.expr).args...)
            return return!(made, push!(made, next))
        end
        if isexpr(st.expr, :lambda)
            inner = with_continuation(copy(st.expr.args[1]), 2)
            st = stmt(st, expr = Expr(:lambda, inner, st.expr.args[2:end]...))
        end
        known[v] = push!(made, isexpr(st.expr, :lambda) ?
            Expr(:lambda, st.expr.args[1], map(renamed, st.expr.args[2:end])...) : renamed(st.expr))
    end
    return return!(made, Expr(:call, renamed(k), renamed(returnvalue(block(ir, 1)))))
end

function rest_of(ir, left, held, v, k)
    made = empty(ir)
    me = argument!(made)
    known = Dict{Any, Any}(v => argument!(made))
    for (i, x) in enumerate(held)
        known[x] = push!(made, xcall(:getindex, me, i))
    end
    return continued!(made, ir, known, left, k)
end

reset(f) = cps(identity, f)
shift(f) = error("`shift` is called within `reset`")
cps(k, ::typeof(shift), f) = f(k)

k = reset(() -> shift(k -> k)^2)
println("k(4) = ", k(4))
println("1 + k(k(5)) = ", 1 + reset(() -> 2 * shift(k -> k(k(5)))))
