# The functions of DiffTests.jl: each gradient in reverse and forward mode, each Jacobian and Hessian,
# against differences.
# Run with: regraft-bench julia bench/julia/difftests.jl --setup SETUP (see differences.jl)

const N = 5
const x0, y0 = 0.4 .+ 0.1 .* sin.(1:N), 0.3 .+ 0.1 .* cos.(1:N)
const A0 = [0.3 + 0.1 * sin(7i + j) + (i == j) for i in 1:N, j in 1:N]
const B0 = [0.4 + 0.1 * cos(3i - j) + (i == j) for i in 1:N, j in 1:N]
# Within [0, 1], where Chebyshev polynomials are small.
const C0 = [0.5 + 0.3 * sin(7i + j) for i in 1:N, j in 1:N]
near(a, b, tolerance = 1e-5) = isapprox(a, b; rtol = tolerance, atol = tolerance)
reverse_gradient(f, x) = (g = gradient(f, x)[1]; g === nothing ? zero(x) : g)

for f in DiffTests.NUMBER_TO_NUMBER_FUNCS
    @test near(ForwardDiff.derivative(f, 0.7), Calculus.derivative(f, 0.7))
    @test near(reverse_gradient(f, 0.7), Calculus.derivative(f, 0.7))
end
for f in DiffTests.NUMBER_TO_ARRAY_FUNCS
    @test near(ForwardDiff.derivative(f, 0.7), Calculus.derivative(f, 0.7))
end
for f! in DiffTests.INPLACE_NUMBER_TO_ARRAY_FUNCS
    g = x -> (y = fill(zero(x), 3, 2); f!(y, x); y)
    @test near(ForwardDiff.derivative(g, 0.7), Calculus.derivative(g, 0.7))
    @test near(reverse_gradient(x -> sum(g(x)), 0.7), Calculus.derivative(x -> sum(g(x)), 0.7))
end
for f in DiffTests.VECTOR_TO_NUMBER_FUNCS
    @test near(ForwardDiff.gradient(f, x0), Calculus.gradient(f, x0))
    @test near(reverse_gradient(f, x0), Calculus.gradient(f, x0))
    @test near(ForwardDiff.hessian(f, x0), Calculus.hessian(f, x0), 1e-3)
end
for f in DiffTests.MATRIX_TO_NUMBER_FUNCS
    @test near(ForwardDiff.gradient(f, A0), Calculus.gradient(f, A0))
    @test near(reverse_gradient(f, A0), Calculus.gradient(f, A0))
    @test near(ForwardDiff.hessian(f, A0), Calculus.hessian(f, A0), 1e-2)
end
for f in DiffTests.BINARY_MATRIX_TO_MATRIX_FUNCS
    @test near(ForwardDiff.jacobian(a -> f(a, B0), A0), Calculus.jacobian(a -> f(a, B0), A0))
    @test near(ForwardDiff.jacobian(b -> f(A0, b), B0), Calculus.jacobian(b -> f(A0, b), B0))
    @test near(reverse_gradient(a -> sum(sin, f(a, B0)), A0), Calculus.gradient(a -> sum(sin, f(a, B0)), A0))
    @test near(reverse_gradient(b -> sum(sin, f(A0, b)), B0), Calculus.gradient(b -> sum(sin, f(A0, b)), B0))
end
for f in DiffTests.TERNARY_MATRIX_TO_NUMBER_FUNCS, k in 1:3
    at(z) = f(ntuple(i -> i == k ? z : (A0, B0, A0')[i], 3)...)
    z = (A0, B0, Matrix(A0'))[k]
    @test near(ForwardDiff.gradient(at, z), Calculus.gradient(at, z))
    @test near(reverse_gradient(at, z), Calculus.gradient(at, z))
end
for f! in DiffTests.INPLACE_ARRAY_TO_ARRAY_FUNCS
    g = x -> (y = fill(one(eltype(x)), N); f!(y, x); y)
    @test near(ForwardDiff.jacobian(g, x0), Calculus.jacobian(g, x0))
    @test near(reverse_gradient(x -> sum(sin, g(x)), x0), Calculus.gradient(x -> sum(sin, g(x)), x0))
end
for f in DiffTests.VECTOR_TO_VECTOR_FUNCS
    @test near(ForwardDiff.jacobian(f, x0), Calculus.jacobian(f, x0))
    @test near(reverse_gradient(x -> sum(sin, f(x)), x0), Calculus.gradient(x -> sum(sin, f(x)), x0))
end
for f in DiffTests.ARRAY_TO_ARRAY_FUNCS, x in (f === DiffTests.arr2arr_2 ? (C0,) : (x0, C0))
    @test near(ForwardDiff.jacobian(f, x), Calculus.jacobian(f, x))
    @test near(reverse_gradient(z -> sum(sin, f(z)), x), Calculus.gradient(z -> sum(sin, f(z)), x))
end
for f in DiffTests.MATRIX_TO_MATRIX_FUNCS
    @test near(ForwardDiff.jacobian(f, A0), Calculus.jacobian(f, A0))
    @test near(reverse_gradient(a -> sum(sin, f(a)), A0), Calculus.gradient(a -> sum(sin, f(a)), A0))
end
