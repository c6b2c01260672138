# The reverse part of a pullback works on a copy of what the forward part kept, so that two pullbacks of one call need it
# only once. Where what it reads is written in between, it runs again.
# RUN: gvn{shared-calls}, dce --entry 'twice(Vector{Float64})'
# RUN: gvn{shared-calls}, dce --entry 'changed(Vector{Float64})'
f(x) = sin(x[1]) * x[2]
function twice(x)
    y, back = pullback(f, x)
    z, again = pullback(f, x)
    return y, back(1.0)[1], again(2.0)[1]
end
function changed(x)
    y, back = pullback(f, x)
    x[1] = 3.0
    z, again = pullback(f, x)
    return z, back(1.0)[1], again(2.0)[1]
end
