# The sum of an array by the library, which is a loop of the language itself:
#
#     regraft ir examples/jl/total.jl 'total([1.0])' --stage optimized

total(x) = sum(x)

println(total([1.0, 2.0, 4.5]))
println(total(Float64[]))
