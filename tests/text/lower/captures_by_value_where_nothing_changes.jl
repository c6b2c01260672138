# Variables that never change are captured by value.
# RUN: --lowered
function f(x, n)
    y = x + 1
    g = z -> y + z + n
    map(v -> g(v), x)
end
