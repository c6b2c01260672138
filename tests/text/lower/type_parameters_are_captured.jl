# Type parameters are captured.
# RUN: --lowered
function f(x::T) where {T}
    g(y::T, z = 1) = T(y)
    g(x)
end
