# A Kalman filter in the notation of matrices: the log likelihood of measurements of a position, whose velocity changes at random.
function kalman_matrices(log_q, log_r, measured)
    q, r = exp(log_q), exp(log_r)
    F = [1.0 1.0; 0.0 1.0]
    H = [1.0 0.0]
    Q = q .* [0.25 0.5; 0.5 1.0]
    x, P = zeros(2), [1.0 0.0; 0.0 1.0]
    likelihood = 0.0
    for y in measured
        x = F * x
        P = F * P * F' + Q
        S = (H * P * H')[1, 1] + r
        e = y - (H * x)[1]
        K = P * H' ./ S
        x = x + vec(K .* e)
        P = P - K * H * P
        likelihood -= 0.5 * (log(2π * S) + e^2 / S)
    end
    likelihood
end

println(kalman_matrices(-1.0, 0.5, [1.0, 2.5, 2.0, 4.0]))
