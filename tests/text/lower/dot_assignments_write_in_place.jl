# Dot assignments write in place.
# RUN: --lowered
function f(x, a)
    x .= a .* 2 .+ a
    x .= a
    x .= 0
    x .+= a
    x[1:2] .= 0
    x[:, 1] .+= a
end
