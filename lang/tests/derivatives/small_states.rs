//! Loops that hand small arrays on, which the elements may be passed in place of, and some that do not allow it: reverse mode
//! against forward mode.

use super::modes_agree;

/// Functions of a vector and a number.
const PROGRAM: &str = "
# A Kalman filter of a position and a speed, with a matrix of one row.
function kalman(x, m)
    q, r = exp(x[1]), exp(x[2])
    F = [1.0 1.0; 0.0 1.0]
    H = [1.0 0.0]
    Q = q .* [0.25 0.5; 0.5 1.0]
    s, P, ll = zeros(2), [1.0 0.0; 0.0 1.0], 0.0
    for k in 1:m
        s = F * s
        P = F * P * F' + Q
        S = (H * P * H')[1, 1] + r
        e = sin(0.3k) - (H * s)[1]
        K = P * H' ./ S
        s = s + vec(K .* e)
        P = P - K * H * P
        ll += -0.5 * (log(S) + e^2 / S)
    end
    ll
end

# Two states change places, and one is written to in place.
function swapped(x, m)
    a, b = [x[1], 1.0], [x[2], 0.5]
    for k in 1:m
        a[1] = sin(a[1]) + b[2]
        a, b = b, a
        b[2] *= 0.9a[1]
    end
    a[1] * b[1] + a[2] - b[2]
end

# The state of the iteration before is still there when the next one has been made.
function of_two_steps(x, m)
    before, now = [0.1, x[1]], [x[2], 0.2]
    s = 0.0
    for k in 1:m
        next = [tanh(now[1] + before[2]), now[2] * before[1] + 0.3]
        before, now = now, next
        s += before[1] * now[2]
    end
    s
end

# On some ways the state is the old one, by another name.
function kept_at_times(x, m)
    u = [x[1], x[2], 0.3]
    v = u
    for k in 1:m
        w = k % 3 == 0 ? u : [u[2] * u[1], sin(u[3]), u[1] - 0.5]
        k % 2 == 0 && (w[1] += 0.25)
        v = u
        u = w
    end
    u[1] + 2u[2] * v[3] + v[1]
end

# The first state is written to by its own name, too.
function named_twice(x, m)
    first = [x[1], x[2]]
    u = first
    for k in 1:m
        first[1] = u[2] + 0.1k
        u = k == 2 ? [u[1], first[1] * u[2]] : u
    end
    u[1] * u[2] + first[1]
end

# The size of the state is that of the argument.
function as_long_as_the_argument(x, m)
    u = copy(x)
    for k in 1:m
        v = zeros(length(u))
        for j in 1:length(u)
            v[j] = sin(u[j]) + 0.1 * u[1 + j % length(u)]
        end
        u = v
    end
    sum(abs2, u)
end

# The state grows.
function longer_each_time(x, m)
    u = [x[1]]
    for k in 1:m
        v = zeros(length(u) + 1)
        for j in 1:length(u)
            v[j] = u[j] * x[2]
            v[j+1] += cos(u[j])
        end
        u = v
    end
    sum(u) + length(u)
end

# The matrix that is handed on has the sizes that it had in the outer iteration.
function powers(x, m)
    s = 0.0
    for n in 1:2
        A = [i == j ? x[1] : 0.1x[2] * i for i in 1:n, j in 1:n]
        B = A
        for k in 1:m
            B = B * A
            s += B[1, n] + size(B, 1)
        end
    end
    s
end

# The number of elements of a matrix is the length of a vector that an inner loop makes anew.
function as_many_as_a_matrix_has(x, m)
    s, A = x[1], zeros(5, 5)
    for i in 1:m
        v = zeros(length(A))
        for j in 1:3
            s += length(v) * x[2]
            v = zeros(length(v))
        end
        A = zeros(5, 5)
    end
    s
end
";

const CALLS: [&str; 16] = [
    "kalman([-1.0, 0.5], 7)",
    "kalman([-1.0, 0.5], 1)",
    "swapped([0.3, 0.7], 4)",
    "swapped([0.3, 0.7], 5)",
    "of_two_steps([0.3, 0.7], 1)",
    "of_two_steps([0.3, 0.7], 6)",
    "kept_at_times([0.3, 0.7], 1)",
    "kept_at_times([0.3, 0.7], 8)",
    "named_twice([0.3, 0.7], 1)",
    "named_twice([0.3, 0.7], 5)",
    "as_long_as_the_argument([0.3, 0.7, 1.1], 4)",
    "as_long_as_the_argument([0.3], 2)",
    "longer_each_time([0.3, 0.7], 4)",
    "powers([0.9, 0.7], 3)",
    "powers([0.9, 0.7], 1)",
    "as_many_as_a_matrix_has([0.3, 0.7], 3)",
];

#[test]
fn states_that_loops_hand_on() {
    modes_agree(PROGRAM, &CALLS);
}
