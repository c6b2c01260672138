# Control flow that no loop or branch of the language could write: an edge into the middle of a
# branch, a loop with two entries, and a value that is undefined on one way.

function goto_tester(x)
    if x > cos(x)
        @goto aa
    end
    x = sin(x)
    @label aa
    return cos(x)
end

# The loop `even <-> odd` is entered at either of its blocks.
function parity(n)
    flips = 0
    if n > 10
        @goto odd
    end
    @label even
    n == 0 && return (:even, flips)
    n -= 1
    flips += 1
    @label odd
    n == 0 && return (:odd, flips)
    n -= 1
    flips += 1
    @goto even
end

function undefined_on_one_way(x)
    if x > 0
        z = 5.0
    end
    if x > 0
        return z * x
    end
    return -x
end

println(goto_tester(0.0))
println(goto_tester(1.0) == cos(1.0))
println([parity(n) for n in (4, 5, 11, 12)])
println((undefined_on_one_way(2.0), undefined_on_one_way(-2.0)))
