# Kronecker products through views: each block of the result is written in one loop, and only
# the upper triangles of the factors are added up.

function kronecker!(c, a, b)
    p, q = size(b)
    for j in axes(a, 2), i in axes(a, 1)
        block = view(c, (i - 1) * p + 1:i * p, (j - 1) * q + 1:j * q)
        block .= a[i, j] .* b
    end
    c
end

function upper_sum(a)
    s = zero(eltype(a))
    for j in axes(a, 2)
        s += sum(view(a, 1:min(j, size(a, 1)), j))
    end
    s
end

_kron_view_sum(a, b) = upper_sum(kronecker!(zeros(size(a) .* size(b)), a, b))

a = [1.0 2.0; 3.0 4.0]
b = [0.0 5.0; 6.0 7.0]
println(kronecker!(zeros(4, 4), a, b))
println(_kron_view_sum(a, b))
println(upper_sum([1 2 3; 4 5 6]))
