# Comprehensions collect generators.
# RUN: --lowered
function f(xs, ys)
    [x^2 for x in xs]
    Float64[x for x in xs if x > 1]
    [x + y for x in xs, y in ys]
    [(i, j) for i in xs for j in 1:i if j > 1]
    sum(k * v for (k, v) in xs)
end
