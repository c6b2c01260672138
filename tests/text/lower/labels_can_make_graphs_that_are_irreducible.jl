# Labels can make graphs that are irreducible.
# RUN: --lowered
function f(c, n)
    x = 0
    y = n
    if c
        @goto inside
    end
    @label top
    x += y
    @label inside
    if x < n
        @goto top
    end
    x
end
