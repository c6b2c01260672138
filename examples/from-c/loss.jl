# The mean of the squares of `a * x - b`.
function loss(a, x, b)
    s = 0.0
    for i in eachindex(b)
        r = -b[i]
        for j in eachindex(x)
            r += a[i, j] * x[j]
        end
        s += r * r
    end
    return s / length(b)
end
