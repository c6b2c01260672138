# Labels can make loops.
# RUN: --lowered
function f(n)
    i = 0
    @label again
    i += 1
    if i < n
        @goto again
    end
    return i
end
