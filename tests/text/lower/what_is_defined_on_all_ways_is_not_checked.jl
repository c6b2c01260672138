# A variable that is defined on all paths is not checked.
# RUN: --lowered
function f(c)
    local x
    if c
        x = 1
    else
        x = 2
    end
    while c
        y = x
        c = y
    end
    x
end
