# A loop with a branch that takes turns. Which way it went need not be kept: the number of the
# iteration says so.

function alternate(x::Float64, n::Int)
    for i in 1:n
        if i % 2 == 0
            x = sin(x)
        else
            x = cos(x)
        end
    end
    return x
end

println(alternate(2.0, 0))
println(alternate(2.0, 3) == cos(sin(cos(2.0))))
