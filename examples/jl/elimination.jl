# Equations by elimination, in place. What an iteration needs for its derivative is not overwritten any more: reverse mode
# keeps nothing.
#
#     regraft grad examples/jl/elimination.jl 'log_det([4.0 1.0; 2.0 3.0])'

# Leaves the factors of `a` there: below the diagonal what rows were multiplied with, the rest is triangular.
function eliminate!(a)
    n = size(a, 1)
    for k in 1:n, i in k+1:n
        a[i, k] /= a[k, k]
        for j in k+1:n
            a[i, j] -= a[i, k] * a[k, j]
        end
    end
    a
end

# The logarithm of the size of the determinant.
function log_det(a)
    a = eliminate!(copy(a))
    total = 0.0
    for i in 1:size(a, 1)
        total += log(abs(a[i, i]))
    end
    total
end

# Solves a * x = b.
function solve(a, b)
    a, y = eliminate!(copy(a)), copy(b)
    n = length(y)
    for i in 1:n, j in 1:i-1
        y[i] -= a[i, j] * y[j]
    end
    x = copy(y)
    for i in n:-1:1
        for j in i+1:n
            x[i] -= a[i, j] * x[j]
        end
        x[i] /= a[i, i]
    end
    x
end

squared_solution(a, b) = sum(abs2, solve(a, b))

a = [4.0 1.0; 2.0 3.0]
println(log_det(a) ≈ log(10))
println(solve(a, [1.0, 2.0]))
