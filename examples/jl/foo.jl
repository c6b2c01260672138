# The function that a lecture on manipulating IR looks at in each of its forms:
#
#     regraft ir examples/jl/foo.jl 'foo(1.0, 1.0)' --stage lowered

function foo(x, y)
    z = x * y
    z + sin(y)
end

println(foo(1.0, 1.0))
println(foo(2, 0.0))
