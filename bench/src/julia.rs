//! Programs of the Julia subset, made for measuring.

use std::fmt::Write as _;

/// Definitions as people write them (loops, conditions, arrays, structs, closures, dot calls), of
/// at least `lines` lines, blank ones and comments included.
pub fn ordinary(lines: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while n * 60 < lines {
        let _ = writeln!(text, "{}", ORDINARY.replace("NN", &n.to_string()));
        n += 1;
    }
    text
}

const ORDINARY: &str = "
# Sums what `f` makes of the elements of `x`.
function totalNN(f, x::Vector{Float64})
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end

function stepNN!(out, a, b, dt)
    rows, cols = size(a)
    for j in 1:cols, i in 1:rows
        left = i > 1 ? a[i - 1, j] : 0.0
        right = i < rows ? a[i + 1, j] : 0.0
        out[i, j] = a[i, j] + dt * (left - 2 * a[i, j] + right)
        if b[i] > 0 && out[i, j] < 0
            out[i, j] = 0.0
        end
    end
    return out
end

struct PointNN
    x::Float64
    y::Float64
end

normNN(p::PointNN) = sqrt(p.x^2 + p.y^2)
scaleNN(p::PointNN, k) = PointNN(k * p.x, k * p.y)

function searchNN(xs, key)
    low, high = 1, length(xs)
    while low <= high
        middle = div(low + high, 2)
        if xs[middle] == key
            return middle
        elseif xs[middle] < key
            low = middle + 1
        else
            high = middle - 1
        end
    end
    return 0
end

function combineNN(xs, ys, weight)
    shifted = map(x -> x + weight, xs)
    z = shifted .* ys .+ 1.0
    best = maximum(abs.(z))
    count = 0
    for (k, v) in enumerate(z)
        if v > best / 2
            count += k
        end
    end
    return (best, count)
end";

/// A program of `count` functions, and `main`, which calls each with floats and integers: what
/// inference has to do for ordinary scalar code.
pub fn scalar(count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let callee = i / 2;
        let call = if i == 0 { "a + y".to_owned() } else { format!("f{callee}(a, m) * y") };
        let _ = writeln!(
            text,
            "function f{i}(x, n)
    a = x * 0.5 + {i}.0
    y = a
    k = 0
    while k < n
        z = y * x + 1.0 - a
        if z < a
            z = z * z
        end
        y = z
        k += 1
    end
    m = n - 1
    m > 0 ? {call} : y
end"
        );
    }
    text.push_str("function main(x, n)\n    s = 0.0\n");
    for i in 0..count {
        let _ = writeln!(text, "    s += f{i}(x, n)");
    }
    text.push_str("    s\nend\n");
    text
}

/// Recursion: `fib(30)` makes 1.3 million calls.
pub const FIB: &str = "fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)\n";

/// A scalar loop of `n` trips.
pub const LOOP: &str = "function count(n)
    s = 0
    for i in 1:n
        s += i & 3
    end
    s
end
";

/// The distance of the keys of a dictionary from each other.
pub const SPREAD: i64 = 7919;

/// A dictionary of `n` entries that is filled, and one in which all are looked up; and [`FIB`].
pub const DICTIONARY: &str = "fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
function filled(n)
    d = Dict{Int, Int}()
    for i in 1:n
        d[i * 7919] = i
    end
    d
end
function total(d, n)
    s = 0
    for i in 1:n
        s += d[i * 7919]
    end
    s
end
";

/// Small functions that call others, without recursion: `steps(n)` makes 3n calls.
pub const STEPS: &str = "twice(x) = x + x
after(x) = twice(x) & 1023
step(x, i) = after(x) + i
function steps(n)
    x = 0
    for i in 1:n
        x = step(x, i)
    end
    x
end
";

/// [`DICTIONARY`] in Python. It prints the seconds that filling and looking up take.
pub fn python_dictionary(entries: i64) -> String {
    format!(
        "import time
def filled(n):
    d = {{}}
    for i in range(1, n + 1):
        d[i * {SPREAD}] = i
    return d
def total(d, n):
    s = 0
    for i in range(1, n + 1):
        s += d[i * {SPREAD}]
    return s
def median(f):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return sorted(times)[1]
d = filled({entries})
print(median(lambda: filled({entries})), median(lambda: total(d, {entries})))
"
    )
}

/// [`FIB`] and [`LOOP`] in Python. It prints the seconds that each takes, the loop with a tenth of
/// `trips`.
pub fn python(trips: i64) -> String {
    format!(
        "import time
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def count(n):
    s = 0
    for i in range(1, n + 1):
        s += i & 3
    return s
def median(f, x):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        f(x)
        times.append(time.perf_counter() - start)
    return sorted(times)[1]
print(median(fib, 30), median(count, {}) * 10)
",
        trips / 10
    )
}
