# All roots of a polynomial with real roots by Weierstrass' iteration; the sum of their squares.
function roots(c)
    n = length(c)
    z = [0.5 + 0.9i for i in 1:n]
    for step in 1:20
        for i in 1:n
            p = 1.0
            for k in n:-1:1
                p = p * z[i] + c[k]
            end
            q = 1.0
            for j in 1:n
                if j != i
                    q *= z[i] - z[j]
                end
            end
            z[i] -= p / q
        end
    end
    sum(abs2, z)
end

println(round(roots([-120.0, 274.0, -225.0, 85.0, -15.0]); digits = 10))
