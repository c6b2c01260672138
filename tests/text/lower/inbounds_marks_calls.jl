# `@inbounds` marks calls.
# RUN: --lowered
function f(y, x)
    @inbounds @simd for n in eachindex(x)
        y[n] = y[n] + x[n]
    end
    return y
end
