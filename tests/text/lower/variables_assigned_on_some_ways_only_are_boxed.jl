# Variables assigned on some ways only are boxed.
# RUN: --lowered
function f(c)
    if c
        k = 1
    end
    () -> k
end
