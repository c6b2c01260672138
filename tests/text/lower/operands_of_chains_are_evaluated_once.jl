# Operands of chains are evaluated once.
# RUN: --lowered
function f(a, b, c)
    if 0 <= g(a) < b
        return 1
    end
    v = a < b <= c
    v
end
