# A `for` loop has a latch only for `continue`.
# RUN: --lowered
function g(xs)
    s = 0
    for x in xs
        if x < 0
            continue
        elseif x > 100
            break
        end
        s += x
    end
    s
end
