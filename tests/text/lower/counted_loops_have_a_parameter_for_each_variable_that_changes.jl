# Counted loops have a parameter for each variable that changes.
# RUN: --lowered
function pow(x, n)
    r = 1.0
    while n > 0
        n -= 1
        r *= x
    end
    return r
end
