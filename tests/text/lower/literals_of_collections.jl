# Literals of collections.
# RUN: --lowered
function f(a, b)
    (a, b), (), (a,)
    (x = a, y = b)
    (; a, b.c, z = 1)
    [a, b]
    []
    [a b; 1 2]
    [a b]
    [a; b]
    [a..., 1]
    Float64[a, b]
end
