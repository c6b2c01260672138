# The sum of a Kronecker product that is made in memory.

using LinearAlgebra

_kron_sum(x::AbstractMatrix{<:Real}, y::AbstractMatrix{<:Real}) = sum(kron(x, y))

x = [cos(1.0i + 2j) for i in 1:20, j in 1:20]
y = [sin(1.0i - 3j) for i in 1:40, j in 1:40]
println(_kron_sum(x, y))
println(isapprox(_kron_sum(x, y), sum(x) * sum(y)))
