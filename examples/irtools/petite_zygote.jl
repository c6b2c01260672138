# Reverse mode in a page: the forward code keeps a pullback of each call, and the code of the pullback of a function
# calls them in reverse order. The type of a pullback tells which function it is of.

using IRTools: IR, @dynamo, Pipe, xcall, isexpr, argument!, arguments, blocks, block, return!, returnvalue, finish, self, stmt

struct Pullback{S, T}
    data::T
end
Pullback{S}(data) where S = Pullback{S, typeof(data)}(data)

# Calls become calls of `forward`, which gives the value and the pullback.
function primal(ir, S = Any)
    pr, calls, pullbacks = Pipe(ir), [], []
    for (v, st) in pr
        isexpr(st.expr, :call) || continue
        both = insert!(pr, v, stmt(st, expr = xcall(Main, :forward, st.expr.args...)))
        pr[v] = xcall(:getindex, both, 1)
        push!(pullbacks, push!(pr, xcall(:getindex, both, 2)))
        push!(calls, v)
    end
    pullback = Expr(:call, Pullback{S}, xcall(:tuple, pullbacks...))
    return!(pr, xcall(:tuple, returnvalue(block(ir, 1)), pullback))
    return finish(pr), calls
end

added() = nothing
added(x) = x
added(xs...) = xcall(Main, :accumulated, xs...)
accumulated(x, y) = x === nothing ? y : y === nothing ? x : x + y
accumulated(x, y, more...) = accumulated(accumulated(x, y), more...)

function adjoint_code(pr)
    ir, grads = empty(pr), Dict()
    grad(x) = added(get(grads, x, [])...)
    note(x, dx) = push!(get!(grads, x, []), dx)
    note(returnvalue(block(pr, 1)), argument!(ir))
    data = push!(ir, xcall(:getfield, self, QuoteNode(:data)))
    _, calls = primal(pr)
    kept = Dict(v => push!(ir, xcall(:getindex, data, i)) for (i, v) in enumerate(calls))
    for v in reverse(keys(pr))
        haskey(kept, v) || continue
        dxs = push!(ir, Expr(:call, kept[v], grad(v)))
        for (i, x) in enumerate(pr[v].expr.args)
            note(x, push!(ir, xcall(:getindex, dxs, i)))
        end
    end
    return return!(ir, xcall(:tuple, [grad(x) for x in arguments(pr)]...))
end

@dynamo function forward(call...)
    ir = IR(call...)
    ir === nothing && return :(error("there is no derivative of ", args[1]))
    length(blocks(ir)) == 1 || error("control flow is not supported")
    return primal(ir, Tuple{call...})[1]
end

@dynamo function (pullback::Pullback{S})(dy) where S
    return adjoint_code(IR(S.parameters...))
end

forward(::typeof(+), x, y) = x + y, dy -> (nothing, dy, dy)
forward(::typeof(-), x, y) = x - y, dy -> (nothing, dy, -dy)
forward(::typeof(*), x, y) = x * y, dy -> (nothing, dy * y, dy * x)
forward(::typeof(/), x, y) = x / y, dy -> (nothing, dy / y, -dy * x / (y * y))
forward(::typeof(sin), x) = sin(x), dy -> (nothing, dy * cos(x))
forward(::typeof(exp), x) = exp(x), dy -> (nothing, dy * exp(x))

function gradient_of(f, xs...)
    y, pullback = forward(f, xs...)
    return Base.tail(pullback(one(y)))
end

foo(x, y) = x * y + sin(y)
softplus_like(x) = exp(x) / (1.0 + exp(x))
through(x, y) = foo(softplus_like(x), foo(x, y))

println(gradient_of(foo, 1.0, 1.0))
println(gradient_of(x -> x * x * x, 3.0))
h = 1e-6
dx = (through(0.3 + h, 0.7) - through(0.3 - h, 0.7)) / 2h
dy = (through(0.3, 0.7 + h) - through(0.3, 0.7 - h)) / 2h
found = gradient_of(through, 0.3, 0.7)
println(isapprox(found[1], dx; rtol = 1e-7), " ", isapprox(found[2], dy; rtol = 1e-7))
