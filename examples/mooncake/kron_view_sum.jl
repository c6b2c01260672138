# The same for matrices that are not stored as they read: a part of one matrix, and the upper
# triangle of another.

using LinearAlgebra

function _kron_view_sum(x::AbstractMatrix{<:Real}, y::AbstractMatrix{<:Real})
    part = view(x, 1:size(x, 1)÷2, 2:size(x, 2))
    return sum(kron(part, UpperTriangular(y)))
end

x = [cos(1.0i + 2j) for i in 1:20, j in 1:20]
y = [sin(1.0i - 3j) for i in 1:20, j in 1:20]
println(_kron_view_sum(x, y))
println(isapprox(_kron_view_sum(x, y), sum(x[1:10, 2:20]) * sum(triu(y))))
