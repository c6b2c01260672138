# The sum of what a function makes of the elements of an array, as a loop: so little work in each
# iteration that all overhead shows.

function _sum(f::F, x::AbstractArray{<:Real}) where {F}
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end

x = [sin(1.0i) for i in 1:1000]
println(_sum(identity, x))
