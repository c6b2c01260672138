# What does a factorisation cost, and which of its lines did the test matrix reach?

using Contexts

function factors!(a)
    n = size(a, 1)
    for k in 1:n-1
        if a[k, k] == 0
            error("a pivot is zero")
        end
        for i in k+1:n
            a[i, k] /= a[k, k]
            for j in k+1:n
                a[i, j] -= a[i, k] * a[k, j]
            end
        end
    end
    return a
end

matrix(n) = [i == j ? 2.0n : 1.0 / (i + j) for i in 1:n, j in 1:n]

r = count_operations(factors!, matrix(8))
println(r.flops, " flops: ", r[/], " divisions, ", r[*], " multiplications, ", r[-], " subtractions")
for ((_, line), n) in sort(collect(r.lines))
    println("line ", line, ": ", n)
end
coverage = cover_lines(factors!, matrix(8))
println("not reached: ", [line for line in (8, 9, 12, 14) if !(line in [place[2] for place in keys(coverage.counts)])])
a = matrix(8)
l, u = LowerTriangular(r.value), UpperTriangular(r.value)
println(all(abs.((l - Diagonal(l) + I) * u - a) .< 1.0e-12))
