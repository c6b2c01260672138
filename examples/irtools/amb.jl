# The `amb` operator: `amb(choices)` is one of them, such that no `require` fails after it.
#
# Each choice is tried with what is left to be done; if that backtracks, the next one is.

include("continuations.jl")

struct Backtrack end

require(holds) = holds || throw(Backtrack())

amb(choices) = shift() do k
    for x in choices
        try
            return k(x)
        catch e
            e isa Backtrack || rethrow()
        end
    end
    throw(Backtrack())
end

function solve(f)
    try
        return reset(f)
    catch e
        e isa Backtrack || rethrow()
        return nothing
    end
end

println(solve() do
    x = amb([1, 2, 3])
    y = amb([1, 2, 3])
    require(x^2 + y == 7)
    (x, y)
end)

println(solve() do
    i = amb(1:20)
    j = amb(i:20)
    k = amb(j:20)
    require(i * i + j * j == k * k)
    (i, j, k)
end)

println(solve(() -> (x = amb([1, 2, 3]); require(x > 3); x)))
