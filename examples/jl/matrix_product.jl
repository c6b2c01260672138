# A matrix product as three loops that leave it in an array of the caller, and what all of its
# elements add up to.

function product!(c::Matrix{Float64}, a::Matrix{Float64}, b::Matrix{Float64})
    for j in axes(b, 2), i in axes(a, 1)
        s = 0.0
        for k in axes(a, 2)
            s += a[i, k] * b[k, j]
        end
        c[i, j] = s
    end
    return c
end

product_sum(a, b) = sum(product!(zeros(size(a, 1), size(b, 2)), a, b))

a = [1.0 2.0; 3.0 4.0]
b = [0.0 5.0; 6.0 7.0]
println(product!(zeros(2, 2), a, b))
println(product_sum(a, b))
