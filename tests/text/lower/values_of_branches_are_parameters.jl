# Values of branches are parameters.
# RUN: --lowered
function f(a, b)
    x = if a
        1
    else
        2
    end
    y = a && b
    z = a || b
    (x, y, z)
end
