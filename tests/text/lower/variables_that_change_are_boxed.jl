# Variables that change are boxed.
# RUN: --lowered
function f(x)
    k = 0
    inc() = (k += 1)
    inc(a) = k += a
    x = x + 1
    g = () -> x
    inc, g, k
end
