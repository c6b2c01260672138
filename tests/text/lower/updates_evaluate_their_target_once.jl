# Updates evaluate their target once.
# RUN: --lowered
function f(p, x, g)
    x[g()] += 1
    x[end, 1] *= 2
    p.a -= 1
    p.q[1].z ÷= 3
end
