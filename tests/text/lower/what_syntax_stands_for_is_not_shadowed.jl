# What syntax stands for is not shadowed.
# RUN: --lowered
getindex(p, i) = p[i]
tuple(x) = (x, getindex(x, 1))
