using LinearAlgebra
abstract type Shape{T} end
mutable struct Counter
    count::Int
    names
end
struct Circle{T<:Real} <: Shape{T}
    r::T
    tag
    Circle{T}(r) where {T} = new(r, :none)
    Circle(r::T, tag = :a) where {T<:Real} = new{T}(r, tag)
end
const LIMIT = 10
total = 0
for i in 1:LIMIT
    global total += i
    i > 5 && continue
    i == 9 && break
end
area(c::Circle) = pi * c.r^2
function Base.:+(a::Circle, b::Circle)
    Circle(a.r + b.r)
end
function walk(xs::Vector{T}, f = identity, rest...) where {T<:Number}
    best, count = xs[1], 0
    for (i, x) in enumerate(xs), y in rest
        if x > best
            best = x
        elseif x == best || y
            count += 1
        else
            continue
        end
        f(x)
    end
    seen = Dict()
    inc() = (count += 1)
    inc()
    g = let k = count
        v -> v + k + best
    end
    zs = [g(x) * i for (i, x) in enumerate(xs) if x > 0]
    ws = zs .* 2 .+ sin.(zs)
    ws .+= 1
    ws[2:end] .= 0
    m = [1 2; 3 4]
    n = (a = 1, b = xs[end])
    (; a, b) = n
    t = (a, b, rest...)
    p, q... = t
    while true
        count -= 1
        0 < count <= LIMIT || break
        m[1, end] += count
    end
    @assert count <= 0 "count"
    map(xs) do x
        x < 0 && return 0
        x
    end
end
function jump(n)
    i = 0
    @label top
    i += 1
    i < n && @goto top
    if n > 3
        @goto out
    end
    local k::Float64 = i
    k = 3
    @label out
    return i
end
if total > 3
    later(x) = x
else
    later(x) = -x
end
begin
    h = x -> (y = x; () -> (y += 1))
    println(h(1)())
end
