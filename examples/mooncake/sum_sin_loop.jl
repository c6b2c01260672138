# A sum of sines, as a loop.

function _sum(f::F, x::AbstractArray{<:Real}) where {F}
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end

x = [0.01i for i in 1:1000]
println(_sum(sin, x))
