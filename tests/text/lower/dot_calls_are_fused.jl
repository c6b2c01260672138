# Dot calls are fused.
# RUN: --lowered
function f(a, b, g)
    x = a .* b .+ 1
    sin.(a)
    f.(a, 2)
    g.(a) .+ g.(b)
    a .+ Base.max.(b, y)
end
