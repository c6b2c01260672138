# A field whose name is a value. Where the name is known, looking it up is a projection:
#
#     regraft ir examples/jl/getfield.jl 'field_f((f = 5.0, a = 4))' --stage optimized
#     regraft ir examples/jl/getfield.jl 'sum_fields((f = 5.0, g = 4.0))' --stage optimized

field(x, name) = getfield(x, name)

field_f(x) = field(x, :f)

# The name is another one in each iteration; two iterations are no loop.
function sum_fields(x)
    s = 0.0
    for name in (:f, :g)
        s += getfield(x, name)
    end
    return s
end

println(field_f((f = 5.0, a = 4)))
println(field((f = 5.0, a = 4), :a))
println(sum_fields((g = 4.0, f = 5.5)))
