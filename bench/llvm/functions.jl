# Sixty small functions, five for each of twelve things that LLVM's -O2 does: `functions.rs` has the
# same in Rust. `regraft-bench llvm` counts what they execute.

floats(n) = [Float64(mod(7i, 11) - 3) for i in 1:n]
ints(n) = [mod(7i, 11) - 3 for i in 1:n]

# 1. Stores that are overwritten before anyone reads

function store_twice(a, n)
    @inbounds for i in 1:n
        a[i] = 1.0
        a[i] = 2.0
    end
end

function store_on_both_arms(a, x, n)
    @inbounds for i in 1:n
        a[i] = 0.0
        if i < x
            a[i] = 1.0
        else
            a[i] = 2.0
        end
    end
end

function store_back(a, n)
    s = 0.0
    @inbounds for i in 1:n
        t = a[i]
        s += t
        a[i] = t
    end
    return s
end

function store_after_read(a, n)
    s = 0.0
    @inbounds for i in 1:n
        s += a[i]
        a[i] = 1.0
        a[i] = s
    end
    return s
end

function store_on_one_arm(a, x, n)
    @inbounds for i in 1:n
        if i < x
            a[i] = 5.0
        end
        a[i] = 3.0
    end
end

# 2. Elements that are kept in a value around a loop

function sum_in_element(a, x, n)
    @inbounds for i in 1:n
        a[1] += x
    end
end

function product_in_element(a, x, n)
    @inbounds for i in 1:n
        a[1] *= x
        a[2] -= x
    end
end

function sum_of_counters(a, n)
    @inbounds for i in 1:n
        a[1] += i
    end
end

function sum_in_row(a, x, n)
    @inbounds for i in 1:n
        for j in 1:n
            a[i] += x * j
        end
    end
end

function sum_on_condition(a, n)
    @inbounds for i in 1:n
        t = a[1]
        a[1] = i & 3 == 1 ? t + 2 : t
    end
end

# 3. Loads that an iteration hands to the next

function prefix_sum(a, n)
    @inbounds for i in 2:n
        a[i] = a[i-1] + a[i]
    end
end

function differences(a, n)
    s = 0.0
    @inbounds for i in 2:n
        d = a[i] - a[i-1]
        s += d * d
    end
    return s
end

function fibonacci(a, n)
    @inbounds for i in 3:n
        a[i] = a[i-1] + a[i-2]
    end
end

function recurrence(a, x, n)
    @inbounds for i in 1:n-1
        a[i+1] = a[i] * x + 1.0
    end
end

function stencil(a, n)
    s = 0.0
    @inbounds for i in 2:n-1
        s += a[i-1] - 2.0 * a[i] + a[i+1]
    end
    return s
end

# 4. What one way or both ways have computed already

function product_on_both_arms(a, x, y, n)
    s = 0.0
    @inbounds for i in 1:n
        if a[i] > 0.0
            s += a[i] * x * y
        else
            s -= a[i] * x * y
        end
    end
    return s
end

function store_sunk(a, n)
    @inbounds for i in 1:n
        if i & 3 == 0
            a[i] = 1.0
        else
            a[i] = Float64(i)
        end
    end
end

function load_on_one_way(a, x, n)
    s = 0.0
    @inbounds for i in 1:n
        if i < x
            a[i] = s
        end
        s += a[i]
    end
    return s
end

function load_on_both_arms(a, x, n)
    s = 0.0
    @inbounds for i in 1:n
        if i < x
            s += a[i]
        else
            s = s * 0.5 + a[i]
        end
    end
    return s
end

function quotient_on_one_way(x, y, n)
    s = 0.0
    for i in 1:n
        t = 0.0
        if i & 1 == 0
            t = sin(x + i) / y
        end
        s += t + sin(x + i)
    end
    return s
end

# 5. Loops that fill or copy

function zero_fill(a, n)
    @inbounds for i in 1:n
        a[i] = 0.0
    end
end

function ones_fill(a, n)
    @inbounds for i in 1:n
        a[i] = -1
    end
end

function copy_loop(a, b, n)
    @inbounds for i in 1:n
        b[i] = a[i]
    end
end

function zero_and_sum(a, b, n)
    @inbounds for i in 1:n
        b[i] = 0.0
    end
    s = 0.0
    @inbounds for i in 1:n
        b[i] += a[i]
        s += b[i]
    end
    return s
end

function zero_then_count(a, n)
    @inbounds for i in 1:n
        a[i] = 0
    end
    @inbounds for i in 1:n
        a[1 + i & 3] += 1
    end
end

# 6. What is pushed and popped again

function push_pop(x, n)
    s = x
    stack = Float64[]
    for i in 1:n
        push!(stack, s * 2.0)
        s = pop!(stack) + 1.0
    end
    return s
end

function push_two(x, n)
    s = x
    stack = Float64[]
    for i in 1:n
        push!(stack, s)
        push!(stack, 2.0)
        b = pop!(stack)
        s = pop!(stack) * b
    end
    return s
end

function push_pop_push(x, n)
    s = x
    stack = Float64[]
    for i in 1:n
        push!(stack, s)
        t = pop!(stack)
        push!(stack, t + 1.0)
        s = pop!(stack)
    end
    return s
end

function push_on_condition(x, n)
    s = x
    stack = Float64[]
    for i in 1:n
        if i & 1 == 0
            push!(stack, s)
            s = pop!(stack) + 1.0
        end
    end
    return s
end

function push_across(x, n)
    s = x
    stack = Float64[]
    for i in 1:n
        push!(stack, s)
        s = s * 0.5 + i
        s += pop!(stack)
    end
    return s
end

# 7. Conditions that stay the same in a loop, or after its first iteration

function unswitched(a, c, n)
    s = 0.0
    @inbounds for i in 1:n
        if c > 0
            s += a[i]
        else
            s -= a[i] * a[i]
        end
    end
    return s
end

function unswitched_store(a, c, n)
    @inbounds for i in 1:n
        if c > 0
            a[i] = a[i] * 2.0
        end
    end
end

function unswitched_twice(a, c, d, n)
    s = 0.0
    @inbounds for i in 1:n
        if c > 0
            s += a[i]
        end
        if d > 0
            s = s * 0.5 / a[i]
        end
    end
    return s
end

function peeled_flag(a, n)
    first = true
    s = 0.0
    @inbounds for i in 1:n
        if first
            s = a[i] * 10.0
            first = false
        else
            s = s * 0.5 + a[i]
        end
    end
    return s
end

function peeled_value(a, x, n)
    last = x
    s = 0.0
    @inbounds for i in 1:n
        if last == 0.0
            s -= a[i] / 3.0
        else
            s += a[i] * last
        end
        last = 2.0
    end
    return s
end

# 8. Sums in closed form

function sum_to(n)
    s = 0
    for i in 1:n
        s += i
    end
    return s
end

function sum_of_squares(n)
    s = 0
    for i in 1:n
        s += i * i
    end
    return s
end

function sum_of_polynomial(n, x)
    s = 5
    for i in 1:n
        s += 3i * i + x * i + 2
    end
    return s
end

function sum_of_triangle(n)
    s = 0
    for i in 1:n
        for j in 1:i
            s += j
        end
    end
    return s
end

function sum_of_the_same(n, x)
    s = 0
    t = 0
    for i in 1:n
        s += x
        t += s
    end
    return t
end

# 9. Operations that cancel out

function folds_of_sums(x, y)
    a = (x + y) - x
    b = (x | y) & x
    c = (x & 7) & 3
    d = (x * 3) * 5
    e = x - (x - y)
    return (a ⊻ b) + (c ⊻ d) * e
end

function folds_of_divisions(x)
    y = x & 1023
    a = x - div(x, 10) * 10
    b = x * 8
    c = div(y, 4)
    d = rem(y, 8)
    return a + b + c + d
end

function folds_of_comparisons(x, y)
    s = 0
    if x - y == 0
        s += 1
    end
    if !(x < y)
        s += 2
    end
    if rem(x, 2) == 0
        s += 4
    end
    if x == 1 || x == 2 || x == 3
        s += 8
    end
    return s
end

function folds_of_choices(x, y)
    a = x < 0 ? -x : x
    b = x < y ? x : y
    c = x > y ? x : y
    if a < y
        return b + c
    else
        return a + c
    end
end

function folds_of_floats(x, y)
    a = -(-x)
    b = abs(-x)
    c = (-x) * (-y)
    d = x - (-y)
    e = cos(-x) + x / 2.0
    return a + b + c + d + e
end

# 10. Recursion that is a loop

gcd_of(a, b) = b == 0 ? a : gcd_of(b, rem(a, b))

factorial_of(n) = n <= 1 ? 1 : n * factorial_of(n - 1)

sum_down(n) = n == 0 ? 0 : n + sum_down(n - 1)

power_of(x, n, acc) = n == 0 ? acc : (n & 1 == 0 ? power_of(x * x, n >> 1, acc) : power_of(x, n - 1, acc * x))

function collatz(n, steps)
    n == 1 && return steps
    if n & 1 == 0
        return collatz(n >> 1, steps + 1)
    else
        return collatz(3n + 1, steps + 1)
    end
end

# 11. Two exit tests, and narrow counters

function two_limits(a, n, m)
    s = 0.0
    i = 1
    @inbounds while i <= n && i <= m
        s += a[i]
        i += 1
    end
    return s
end

function limit_and_constant(a, n)
    s = 0.0
    i = 1
    @inbounds while i <= n && i <= 100
        s += a[i]
        i += 1
    end
    return s
end

function limits_up_and_down(a, n, m)
    s = 0.0
    i = 1
    j = m
    @inbounds while i <= n && j > 0
        s += a[i]
        i += 1
        j -= 1
    end
    return s
end

function narrow_counter(a, n)
    s = 0.0
    i = Int32(0)
    m = n % Int32
    @inbounds while i < m
        s += a[Int64(i) + 1]
        i += Int32(1)
    end
    return s
end

function narrow_product(a, n)
    s = 0.0
    i = Int32(0)
    m = n % Int32
    @inbounds while i < m
        s += a[Int64(i) + 1] * Float64(Int64(i) + 1)
        i += Int32(1)
    end
    return s
end

# 12. Chains of comparisons, and arrays that nobody reads

function chain_of_results(a, n)
    s = 0
    @inbounds for i in 1:n
        x = a[i]
        if x == 1
            s += 10
        elseif x == 2
            s -= 7
        elseif x == 3
            s = s * 3
        elseif x == 4
            s = s ⊻ 21
        else
            s += 1
        end
    end
    return s
end

chain_of_constants(x) = x == 1 ? 17 : x == 2 ? 4 : x == 3 ? 91 : x == 4 ? 8 : x == 5 ? 33 : 0

function chain_of_calls(x, y)
    if x == 5
        return sin(y)
    elseif x == 7
        return cos(y)
    elseif x == 9
        return exp(y)
    elseif x == 12
        return sqrt(y)
    end
    return y
end

function unread_array(x, n)
    a = zeros(4)
    @inbounds a[1] = x
    @inbounds a[2] = x * 2.0
    s = x
    for i in 1:n
        s = s * 0.5 + 1.0
    end
    return s
end

function unread_loop(x, n)
    a = zeros(100)
    @inbounds for i in 1:100
        a[i] = x * i
    end
    return x + n
end
