# Declared types convert.
# RUN: --lowered
function f(x)::Float64
    y::Int = x
    y = 2
    if x
        return y
    end
    y + 1
end
