# Programs in which types, numbers of arguments or memory are found out while they run.

# The elements of an array as arguments.
weigh(a, b, c) = a * b + c
function array_splat(x)
    v = [x, 0.5, 0.25]
    s = 0.0
    for i in 1:2000
        v[2] = s
        s = 0.5 * weigh(v...)
    end
    s
end

# The same where the callee takes any number of arguments.
weigh_all(xs...) = xs[1] * xs[2] + xs[3]
function array_splat_into_varargs(x)
    v = [x, 0.5, 0.25]
    s = 0.0
    for i in 1:2000
        v[2] = s
        s = 0.5 * weigh_all(v...)
    end
    s
end

# A captured variable that a closure assigns.
function captured_variable(x)
    total = 0.0
    add = y -> (total += y * x)
    for i in 1:2000
        add(0.001 * i)
    end
    total
end

# A variable that is an integer here and a float there.
function unstable_variable(x)
    s = 0
    for i in 1:2000
        if i % 3 == 0
            s = i
        else
            s = s * 0.5 + x
        end
    end
    s
end

function ref_of_any(x)
    r = Ref{Any}(x)
    for i in 1:2000
        r[] = r[] * 0.5 + x
    end
    r[]
end

function recursive_closure(x)
    go(n, a) = n == 0 ? a : go(n - 1, 0.5 * a + x)
    go(1000, x)
end

abstract type Shape end
struct Circle <: Shape
    r::Float64
end
struct Square <: Shape
    a::Float64
end
struct Oblong <: Shape
    a::Float64
    b::Float64
end
area(c::Circle) = 3.14159 * c.r * c.r
area(s::Square) = s.a * s.a
area(o::Oblong) = o.a * o.b
function abstract_elements(x)
    shapes = Shape[]
    for i in 1:700
        push!(shapes, Circle(x * i))
        push!(shapes, Square(x + i))
        push!(shapes, Oblong(x, 2.0 * i))
    end
    s = 0.0
    for shape in shapes
        s += area(shape)
    end
    s
end

function sorted_tuples(x)
    pairs = sort([(x[i], i) for i in 1:length(x)])
    s = 0.0
    for (k, p) in enumerate(pairs)
        s += k * p[1] + p[2]
    end
    s
end

# The probability of a sentence under a grammar in Chomsky normal form: that of each part of the
# sentence, by what it is, from those of shorter ones.
function grammar(words, lexicon, weights)
    n = length(words)
    shapes = [(1, 2, 3), (1, 3, 2), (2, 2, 4), (3, 4, 3), (4, 1, 2), (2, 1, 1)]
    rules = [(a, b, c, weights[r]) for (r, (a, b, c)) in enumerate(shapes)]
    chart = [zeros(4) for i in 1:n, j in 1:n]
    for i in 1:n
        for a in 1:4
            chart[i, i][a] = lexicon[a, words[i]]
        end
    end
    for len in 2:n, i in 1:(n - len + 1)
        j = i + len - 1
        for m in i:(j - 1)
            for (a, b, c, weight) in rules
                chart[i, j][a] += weight * chart[i, m][b] * chart[m + 1, j][c]
            end
        end
    end
    log(chart[1, n][1])
end

# The method of Weierstrass, Durand and Kerner for all roots of a polynomial at once.
function polynomial_roots(c)
    n = length(c)
    re = [cos(0.4 + 2.0 * i) for i in 1:n]
    im = [sin(0.4 + 2.0 * i) for i in 1:n]
    for step in 1:30, i in 1:n
        pr, pi = 1.0, 0.0
        for k in 1:n
            pr, pi = pr * re[i] - pi * im[i] + c[k], pr * im[i] + pi * re[i]
        end
        qr, qi = 1.0, 0.0
        for j in 1:n
            if j != i
                dr, di = re[i] - re[j], im[i] - im[j]
                qr, qi = qr * dr - qi * di, qr * di + qi * dr
            end
        end
        m = qr^2 + qi^2
        re[i] -= (pr * qr + pi * qi) / m
        im[i] -= (pi * qr - pr * qi) / m
    end
    sum(re) + sum(abs2, im)
end

# The log-likelihood of measurements of a position under a model of constant speed.
function kalman(q, r, ys)
    F = [1.0 0.1; 0.0 1.0]
    H = [1.0 0.0]
    Q = [q 0.0; 0.0 q]
    m = [0.0, 0.0]
    P = [1.0 0.0; 0.0 1.0]
    ll = 0.0
    for y in ys
        m = F * m
        P = F * P * F' + Q
        v = y - (H * m)[1]
        S = (H * P * H')[1, 1] + r
        K = (P * H') / S
        m = m + K[:, 1] * v
        P = P - K * H * P
        ll -= 0.5 * (log(S) + v * v / S)
    end
    ll
end
