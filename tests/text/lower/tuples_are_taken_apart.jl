# Tuples are taken apart.
# RUN: --lowered
function f(t, p, x)
    a, b = t
    a, b = b, a
    c, rest... = t
    (; u, v) = p
    (d, e), x[1] = t
    q = (x[2], p.z) = a, b
    (a, b, c, d, e, rest, u, v, q)
end
