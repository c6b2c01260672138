# A variable that may be undefined is checked by a flag.
# RUN: --lowered
function u(c)
    if c
        z = 1
    end
    for i in 1:3
        if i == 1
            w = 1
        end
        w
    end
    z
end
