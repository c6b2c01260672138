//! Measures how fast Julia text is read, in time of the processor where the system tells it:
//! `cargo run --release -p regraft-syntax --example julia_speed`.
//!
//! An ordinary program of 10^5 lines: functions with loops, branches, calls, indices, and types;
//! and one function of as many lines, which shows that the time per line does not grow.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use regraft_syntax::julia::{Options, parse};

const BODY: &str = "    n = length(xs)
    total = zero(eltype(xs))
    for i in 1:n
        x = xs[i] * scale + offset
        if x > limit && i != n
            total += x^2 / 2.0
        elseif x < -limit
            total -= abs(x)  # far below
        else
            total += sin(x) * cos(y[i, 1])
        end
    end
    # the rest of it
    point = Point(total, 2n + 1)
    a, b = point.x, point.y
    ys = [f(x) for x in xs if x > 0.5]
    zs .= ys .* 2.0 .+ exp.(xs)
    while a > 1.0e-8
        a /= 2
        b = b > 3 ? b - 1 : g(a, b, n)
    end

";

fn functions(lines: usize) -> String {
    let mut out = String::new();
    let per_function = BODY.lines().count() + 4;
    for name in 0..lines / per_function {
        let _ = write!(
            out,
            "function f{name}(xs::Vector{{T}}, y, scale = 1.0) where {{T <: Real}}\n{BODY}    \
             return (a, b)\nend\n\n"
        );
    }
    out
}

fn one_function(lines: usize) -> String {
    let mut out = String::from("function f(xs, y, scale, limit)\n");
    for _ in 0..lines / BODY.lines().count() {
        out.push_str(BODY);
    }
    out.push_str("end\n");
    out
}

/// Seconds that this thread has run, which other programs do not add to as they do to the clock
/// on the wall; that clock where there is no other.
fn now() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    on_cpu.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Prints the best of several rounds: the machine may have other things to do.
fn measure(what: &str, text: &str) {
    let lines = text.lines().count() as f64;
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let ctx = regraft_ir::Context::new(Arc::default());
        let start = now();
        let parsed = parse(&ctx, "speed.jl", text, Options::default());
        best = best.min(now() - start);
        assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    }
    println!(
        "{what}: {:.2} M lines/s ({:.0} MB/s)",
        lines / best / 1e6,
        text.len() as f64 / best / 1e6
    );
}

fn main() {
    measure("functions, 10^5 lines", &functions(100_000));
    measure("one function of 10^5 lines", &one_function(100_000));
}
