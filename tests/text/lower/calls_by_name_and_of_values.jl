# Calls by name and calls of values.
# RUN: --lowered
function f(g, x)
    g(x)
    h(x)
    h(1, x...)
    g(x..., 2, x...)
    Base.sum(x)
    map(Base.abs, h)
    f(x)(1)
end
