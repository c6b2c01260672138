# Forward mode: of each call, the value and its derivative. Nests, as what comes out is code like any other.

using IRTools: IR, @dynamo, Pipe, Variable, xcall, isexpr, argument!, arguments, blocks, block, return!, returnvalue,
    finish, stmt

zero_of(x::Number) = zero(x)
zero_of(x::Tuple) = map(zero_of, x)
zero_of(x) = nothing

rest_of(x, n) = n == 0 ? x : xcall(:tail, rest_of(x, n - 1))

function dual(ir)
    pr = Pipe(ir)
    tangents = Dict()
    # The tangents of all arguments come first, as one.
    given = argument!(pr, at = 1)
    for (i, x) in enumerate(arguments(ir))
        # The last one may be a tuple of all the rest.
        is_rest = ir.meta.method.isva && i == length(arguments(ir))
        tangents[x] = push!(pr, is_rest ? rest_of(given, i - 1) : xcall(:getindex, given, i))
    end
    tangent(v, x) = x isa Variable ? tangents[x] : insert!(pr, v, xcall(Main, :zero_of, x))
    for (v, st) in pr
        isexpr(st.expr, :call) || error("not supported: ", st.expr)
        dots = insert!(pr, v, xcall(:tuple, [tangent(v, x) for x in st.expr.args]...))
        both = insert!(pr, v, stmt(st, expr = xcall(Main, :pushed, dots, st.expr.args...)))
        pr[v] = xcall(:getindex, both, 1)
        tangents[v] = push!(pr, xcall(:getindex, both, 2))
    end
    y = returnvalue(block(ir, 1))
    return!(pr, xcall(:tuple, y, y isa Variable ? tangents[y] : xcall(Main, :zero_of, y)))
    return finish(pr)
end

@dynamo function pushed(dots, call...)
    ir = IR(call...)
    ir === nothing && return :(error("there is no derivative of ", args[2]))
    length(blocks(ir)) == 1 || error("control flow is not supported")
    return dual(ir)
end

pushed((_, a, b), ::typeof(+), x, y) = x + y, a + b
pushed((_, a, b), ::typeof(-), x, y) = x - y, a - b
pushed((_, a, b), ::typeof(*), x, y) = x * y, a * y + b * x
pushed((_, a), ::typeof(-), x) = -x, -a
pushed((_, a), ::typeof(sin), x) = sin(x), a * cos(x)
pushed((_, a), ::typeof(cos), x) = cos(x), -a * sin(x)
pushed((_, a), ::typeof(exp), x) = exp(x), a * exp(x)
# What derivatives of derivatives come across.
pushed(dots, ::typeof(tuple), xs...) = xs, Base.tail(dots)
pushed((_, dot, _), ::typeof(getindex), x, i) = x[i], dot[i]
pushed((_, dot, _), ::typeof(getfield), x, i) = getfield(x, i), getfield(dot, i)
pushed((_, dot), ::typeof(Base.tail), x) = Base.tail(x), Base.tail(dot)
pushed(dots, ::typeof(zero_of), x) = zero_of(x), zero_of(x)
pushed(dots, ::typeof(one), x) = one(x), zero(x)

derivative(f, x) = pushed((nothing, one(x)), f, x)[2]

f(x) = sin(cos(x)) * exp(x)
slope(x) = derivative(f, x)
curve(x) = derivative(slope, x)
h = 1e-5
println("f'(0.5)  = ", round(derivative(f, 0.5), digits = 6))
println("f''(0.5) = ", round(derivative(slope, 0.5), digits = 6))
println(isapprox(slope(0.5), (f(0.5 + h) - f(0.5 - h)) / 2h; rtol = 1e-8))
println(isapprox(curve(0.5), (slope(0.5 + h) - slope(0.5 - h)) / 2h; rtol = 1e-8))
