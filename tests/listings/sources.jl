# The programs whose code the listings beside are, and what they call.

struct Point{T}
    x::T
    y::T
end
struct Pair2{T}
    data::T
end

function horner_source(c, x)
    s = zero(x)
    for i in length(c):-1:1
        s = s * x + c[i]
    end
    return s
end

function squares_source(x)
    s = 0.0
    for i in eachindex(x)
        s = s + x[i] * x[i]
    end
    return s
end

bend_source(x) = sin(x < 0 ? -x * x : x * x * x)

function power_source(x, n)
    r = 1.0
    while 0 < n
        n = n - 1
        r = r * x
    end
    return r
end

function axpy_source!(a, x, y)
    for i in 1:length(x)
        y[i] = a * x[i] + y[i]
    end
    return y
end

function steps_source(n)
    k = 0
    while n > 1
        n = iseven(n) ? n ÷ 2 : 3 * n + 1
        k = k + 1
    end
    return k
end

reach_source(p) = sqrt(p.x * p.x + p.y * p.y)
line_source(a, b) = 2.0 * a + b
