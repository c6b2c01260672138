# The sum of a Kronecker product, which is built by nested loops.

function kronecker(a::AbstractMatrix, b::AbstractMatrix)
    m, n = size(a)
    p, q = size(b)
    c = zeros(m * p, n * q)
    for j in 1:n, i in 1:m, l in 1:q, k in 1:p
        c[(i - 1) * p + k, (j - 1) * q + l] = a[i, j] * b[k, l]
    end
    c
end

_kron_sum(a::AbstractMatrix{<:Real}, b::AbstractMatrix{<:Real}) = sum(kronecker(a, b))

# The same sum without the product in memory. The sum of `b` is the same for each element of `a`:
# its two loops leave the two around them.
#
#     regraft ir examples/jl/kron_sum.jl 'kron_sum_nested([1.0 2.0], [3.0 4.0])' --stage optimized
function kron_sum_nested(a::Matrix{Float64}, b::Matrix{Float64})
    s = 0.0
    for j in 1:size(a, 2)
        for i in 1:size(a, 1)
            t = 0.0
            for l in 1:size(b, 2)
                for k in 1:size(b, 1)
                    t += b[k, l]
                end
            end
            s += a[i, j] * t
        end
    end
    return s
end

a = [1.0 2.0; 3.0 4.0]
b = [0.0 5.0; 6.0 7.0]
println(kronecker(a, b))
println(_kron_sum(a, b))
println(_kron_sum(a, b) == sum(a) * sum(b))
println(kron_sum_nested(a, b))
