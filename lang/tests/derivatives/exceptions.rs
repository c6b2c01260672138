//! Errors that are caught: what was run before them counts, and what they carry.

use super::check;

/// The derivative in both modes.
#[track_caller]
fn both(definitions: &str, table: &[(&str, f64, f64)]) {
    for &(f, x, expected) in table {
        let close = format!("isapprox(gradient({f}, {x:?})[1], {expected:?}; rtol = 1e-10)");
        let forward = format!("isapprox(derivative({f}, {x:?}), {expected:?}; rtol = 1e-10)");
        check(definitions, &[(&close, "true"), (&forward, "true")]);
    }
}

#[test]
fn a_value_or_what_the_handler_gives() {
    let definitions = "function f(x)
    try
        return 3sqrt(x)
    catch
        return x^2
    end
end
g(x) = (try log(x) catch; 2x end) * x
";
    both(definitions, &[("f", 4.0, 0.75), ("f", -4.0, -8.0), ("g", 1.0, 1.0), ("g", -3.0, -12.0)]);
}

#[test]
fn what_is_thrown_carries_its_cotangent() {
    let definitions = "struct Carried <: Exception
    v::Float64
end
thrower(n, x) = n == 0 ? throw(Carried(x)) : thrower(n - 1, 1.5x)
function f(x)
    try
        thrower(4, x)
    catch e
        e isa Carried ? e.v^2 : 0.0
    end
end
g(x) = try throw(x * x) catch y; 3y end
function again(x)
    try
        try
            throw(Carried(3x))
        catch e
            rethrow()
        finally
            x = x + 1
        end
    catch e
        return e.v * x
    end
end
function another(x)
    try
        try
            throw(Carried(3x))
        catch e
            rethrow(Carried(e.v^2))
        end
    catch e
        return e.v * x
    end
end
";
    let power = 1.5f64.powi(8);
    both(
        definitions,
        &[("f", 2.0, 4.0 * power), ("g", 2.0, 12.0), ("again", 2.0, 15.0), ("another", 2.0, 108.0)],
    );
}

#[test]
fn what_was_run_before_the_error_counts() {
    let definitions = "function sums(x)
    t = 0.0
    try
        for i in 1:10
            t += x[i]^2
        end
    catch
        t += 100x[1]
    end
    return t
end
function writes(x)
    a = [x, 2x]
    try
        a[1] = sin(a[2])
        a[2] = a[1] * x
        a[3] = 7.0
        a[1] = 0.0
    catch
        a[1] += x
    end
    return a[1] * a[2]
end
function loops(x)
    s = 0.0
    for k in 1:5
        try
            s += sqrt(2.5 - k * x)
        catch
            s += k * x^2
            continue
        finally
            s += x
        end
        s *= 2
    end
    return s
end
";
    check(definitions, &[("gradient(sums, [1.0, 2.0, 3.0])", "([102.0, 4.0, 6.0],)")]);
    // a[1] = sin(2x) + x and a[2] = x sin(2x).
    let x = 0.7f64;
    let (s, c) = ((2.0 * x).sin(), (2.0 * x).cos());
    let written = (2.0 * c + 1.0) * x * s + (s + x) * (s + 2.0 * x * c);
    // With x = 1 there are two roots, then three squares, each followed by x.
    let first = 2.0 * (-0.5 / 1.5f64.sqrt() + 1.0);
    let second = 2.0 * (first - 2.0 * 0.5 / 0.5f64.sqrt() + 1.0);
    let expected = second + (6.0 + 1.0) + (8.0 + 1.0) + (10.0 + 1.0);
    both(definitions, &[("writes", x, written), ("loops", 1.0, expected)]);
}

#[test]
fn control_leaves_through_finally() {
    let definitions = "function f(x)
    y = 1.0
    try
        y = exp(x)
        y > 2 && return 5y
    finally
        y = y + 1
    end
    return y * x
end
";
    let at = |x: f64| x.exp() + 1.0 + x * x.exp();
    both(definitions, &[("f", 0.5, at(0.5)), ("f", 1.5, 5.0 * 1.5f64.exp())]);
}

#[test]
fn calls_of_what_is_known_when_it_runs() {
    let definitions = "struct Carried <: Exception
    v::Float64
end
attempt(f, x) = try f(x) catch e; e isa Carried ? 2e.v : 0.0 end
f(x) = attempt(y -> y > 0 ? throw(Carried(y^3)) : y, x)
const functions = Any[y -> throw(Carried(y^2)), y -> 5y, y -> error(\"no\")]
function g(x)
    s = 0.0
    for h in functions
        try
            s += h(x)
        catch e
            s += e isa Carried ? e.v : 10x
        end
    end
    return s
end
";
    both(definitions, &[("f", 2.0, 24.0), ("f", -2.0, 1.0), ("g", 3.0, 6.0 + 5.0 + 10.0)]);
}

#[test]
fn derivatives_within_a_try_and_of_derivatives() {
    let definitions = "f(x) = try sqrt(x) * x^2 catch; x^4 end
df(x) = derivative(f, x)
ddf(x) = gradient(df, x)[1]
guarded(x) = try gradient(y -> y < 0 ? error(\"negative\") : y^3, x)[1] catch; -x end
";
    both(definitions, &[("df", 4.0, 2.5 * 1.5 * 2.0), ("df", -2.0, 48.0), ("ddf", -2.0, -48.0)]);
    both(definitions, &[("guarded", 2.0, 12.0), ("guarded", -2.0, -1.0)]);
}

#[test]
fn nobody_is_left_with_an_error_that_is_not_caught() {
    check(
        "f(x) = try sqrt(x) catch e; error(\"handled: \", e isa DomainError) end\n",
        &[("gradient(f, -1.0)", "error: handled: true"), ("gradient(f, 4.0)", "(0.25,)")],
    );
}

/// They are run twice where they are tried: once to see whether they fail.
#[test]
fn globals_cells_and_whole_arrays() {
    let definitions = "kept = [0.5, 0.25]
function f(x)
    kept[2] = x^2
    try
        throw(kept[2])
    catch e
        3 * e::Float64
    end
end
function g(x)
    cell = Ref{Any}(x)
    y = try
        cell[] = cell[]^2
        cell[] * x
    catch
        0.0
    end
    return cell[] + y
end
function h(x)
    a = zeros(2)
    try
        fill!(a, x^2)
        copyto!(a, [x^3])
        copyto!(a, [x, x, x])
    catch
        a[2] *= x
    end
    return a[1] + 10a[2]
end
";
    both(definitions, &[("f", 2.0, 12.0), ("g", 2.0, 4.0 + 12.0), ("h", 2.0, 12.0 + 120.0)]);
}
