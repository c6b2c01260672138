# A loop that does so little work that all overhead shows:
#
#     regraft ir examples/jl/foo_bang.jl 'foo!([1.0], [2.0])' --stage optimized

function foo!(y::Vector{Float64}, x::Vector{Float64})
    @inbounds @simd for n in eachindex(x)
        y[n] = y[n] + x[n]
    end
    return y
end

y = [1.0, 2.0, 3.0]
foo!(y, [0.5, 0.25, 0.125])
println(y)
println(foo!(Float64[], Float64[]))
