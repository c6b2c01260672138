# Branches at the end return.
# RUN: --lowered
f(x) = x > 0 ? x : -x
function g(c)
    if c
        1
    end
end
