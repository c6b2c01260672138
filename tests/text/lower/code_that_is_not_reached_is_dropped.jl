# Code that is not reached is dropped.
# RUN: --lowered
function f(x)
    return x
    y = g(x)
    for i in y
        x += i
    end
    x
end
