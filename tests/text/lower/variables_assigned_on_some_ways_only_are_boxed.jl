# Variables that are assigned on some paths only are boxed.
# RUN: --lowered
function f(c)
    if c
        k = 1
    end
    () -> k
end
