# `let` binds one after the other.
# RUN: --lowered
function f(x)
    let x = x + 1, y = x
        () -> x + y
    end
    x
end
