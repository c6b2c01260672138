# Infinite loops are left only by `break`.
# RUN: --lowered
function f(n)
    while true
        n -= 1
        n < 3 && break
    end
    n
end
