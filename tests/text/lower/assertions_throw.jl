# `@assert` throws an `AssertionError`.
# RUN: --lowered
function f(a)
    @assert a > 1 "small"
    @assert a == 2
    a
end
