# A Kalman filter: the negative log likelihood of measurements of a position that moves at a constant velocity.
function kalman(q, r, z)
    x1, x2 = 0.0, 0.0
    p11, p12, p22 = 1.0, 0.0, 1.0
    nll = 0.0
    for t in 1:length(z)
        x1 = x1 + x2
        p11, p12, p22 = p11 + 2p12 + p22 + q / 3, p12 + p22 + q / 2, p22 + q
        s = p11 + r
        e = z[t] - x1
        k1, k2 = p11 / s, p12 / s
        x1 += k1 * e
        x2 += k2 * e
        p11, p12, p22 = (1 - k1) * p11, (1 - k1) * p12, p22 - k2 * p12
        nll += 0.5 * (log(2pi * s) + e * e / s)
    end
    nll
end

println(kalman(0.1, 0.5, [1.0, 2.5, 2.0, 4.0]))
