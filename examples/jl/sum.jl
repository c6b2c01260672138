# The sum of what a function makes of the elements of an array, as a `while` loop. `f` is a
# parameter of the method's type, so each function gives a specialisation of its own:
#
#     regraft ir examples/jl/sum.jl '_sum(identity, [1.0])' --stage optimized

function _sum(f::F, x::AbstractArray{<:Real}) where {F}
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end

println(_sum(identity, [1.0, 2.0, 4.5]))
println(_sum(x -> x^2, [1, 2, 3]))
println(_sum(sqrt, Float64[]))
