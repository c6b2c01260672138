//! Loops that read elements of arrays that other iterations store to: reverse mode, which loads again what it can, against
//! forward mode, which keeps nothing.

use super::modes_agree;

/// Functions of a vector, or of a vector and a number, and calls of them.
const PROGRAM: &str = "
# The inner loop runs once where it is asked to run less than once, and reads x[3] before that is overwritten.
function once_at_least(x, m)
    x, s = copy(x), 0.0
    for k in 1:length(x)-1
        j = 3
        while true
            s += x[j] * x[j]
            j += 1
            j > m + k && break
        end
        x[m+k+1] = 0.1s
    end
    s + sum(x)
end

# The same downward.
function once_at_least_down(x, m)
    x, s = copy(x), 0.0
    for k in length(x)-1:-1:2
        j = 4
        while true
            s += x[j] * x[j]
            j -= 1
            j < m + k && break
        end
        x[m+k-1] = 0.1s
    end
    s + sum(x)
end

# The last element of a row is the first one of the next.
function rows_that_meet(x, m)
    y, s = zeros(length(x) * m + 1), 0.0
    for i in 1:length(x)
        j = 0
        while true
            v = tanh(sin(x[i] * (j + 1)))
            y[(i-1)*m+j+1] = v
            s += v * v
            j += 1
            j > m && break
        end
    end
    s
end

# The test is behind the store, and the store runs once more than what comes after it.
function stored_before_the_test(x, m)
    y, s = zeros(length(x) * m + 1), 0.0
    for i in 1:length(x)
        j = 0
        while (v = tanh(sin(x[i] * (j + 1))); y[(i-1)*m+j+1] = v; s += v * v; j < m)
            j += 1
        end
    end
    s
end

# No loop ever runs as often as this one might.
function left_early(x)
    z, s = [sin(0.1i + x[1]) for i in 1:140], 0.0
    for i in 1:76
        for j in 0:(1<<58)-1
            s += z[i+64j] * z[i+64j]
            j > abs(z[1]) && break
        end
        z[i+1] = 0.01s
    end
    s + sum(z)
end

# Elements that are read after the last store to them, before it, and both.
function eliminated(x, m)
    n = length(x)
    a = [sin(x[i] * j) + (i == j ? 2.0 : 0.0) for i in 1:n, j in 1:n]
    for k in 1:n, i in k+1:n
        a[i, k] /= a[k, k]
        for j in k+1:n
            a[i, j] -= a[i, k] * a[k, j] + m * a[k, k]^2
        end
    end
    sum(a)
end
function read_around_a_store(x, m)
    x, s = copy(x), 0.0
    for i in 2:length(x)
        s += x[i] * x[i-1]
        x[i] = sin(x[i-1]) * x[i] + m
        s += x[i]^2
    end
    s
end
";

const CALLS: [&str; 10] = [
    "once_at_least([0.3, 0.7, 1.1, 0.2, 0.4, 0.9], 0)",
    "once_at_least([0.3, 0.7, 1.1, 0.2, 0.4, 0.9], -1)",
    "once_at_least_down([0.3, 0.7, 1.1, 0.2, 0.4, 0.9], 0)",
    "rows_that_meet([0.3, 0.7, 1.1, 0.2], 3)",
    "rows_that_meet([0.3, 0.7, 1.1, 0.2], 1)",
    "stored_before_the_test([0.3, 0.7, 1.1, 0.2], 3)",
    "left_early([0.3])",
    "eliminated([0.3, 0.7, 1.1, 0.2], 0)",
    "eliminated([0.3, 0.7, 1.1, 0.2], 1)",
    "read_around_a_store([0.3, 0.7, 1.1, 0.2], 1)",
];

#[test]
fn what_is_overwritten_is_not_loaded_again() {
    modes_agree(PROGRAM, &CALLS);
}
