# A polynomial: `x^2` with a literal exponent is a multiplication, and the type of the argument
# decides which.
#
#     regraft ir examples/jl/quadratic.jl 'f(3)' --stage optimized

f(x) = 2x^2 - 3x

println(f(3))
println(f(0.5))
println(f.([1, 2, 3]))
