# The free energy of the Ising model on a cylinder by its transfer matrix.
function ising(J, h, width, length)
    states = 2^width
    v = ones(states)
    for step in 1:length
        w = zeros(states)
        for a in 0:states-1
            e = 0.0
            for k in 0:width-1
                s = 1 - 2 * ((a >> k) & 1)
                t = 1 - 2 * ((a >> ((k + 1) % width)) & 1)
                e += J[k+1] * s * t + h * s
            end
            for b in 0:states-1
                c = 0.0
                for k in 0:width-1
                    c += J[k+1] * (1 - 2 * ((a >> k) & 1)) * (1 - 2 * ((b >> k) & 1))
                end
                w[a+1] += exp(e + c) * v[b+1]
            end
        end
        total = sum(w)
        for a in 1:states
            v[a] = w[a] / total
        end
    end
    log(sum(v .* v)) + v[1]
end

println(ising([0.3, 0.4], 0.1, 2, 3))
