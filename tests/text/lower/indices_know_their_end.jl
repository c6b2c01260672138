# Indices know their end.
# RUN: --lowered
function f(x, i)
    x[end]
    x[begin + 1, end]
    x[:, i]
    x[x[end]:end]
    x[]
    x[i...]
end
