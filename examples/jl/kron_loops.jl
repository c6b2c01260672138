# The sum of all products of an element of one matrix with one of another, as four loops.

function kron_loops(a::Matrix{Float64}, b::Matrix{Float64})
    s = 0.0
    for j in axes(a, 2), i in axes(a, 1)
        for l in axes(b, 2), k in axes(b, 1)
            s += a[i, j] * b[k, l]
        end
    end
    return s
end

a = [1.0 2.0; 3.0 4.0]
b = [0.0 5.0; 6.0 7.0]
println(kron_loops(a, b))
