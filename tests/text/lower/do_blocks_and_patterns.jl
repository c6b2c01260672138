# `do` blocks and parameters that are patterns.
# RUN: --lowered
function f(x)
    map(x) do (a, b), c
        a + b + c
    end
end
