//! How many lines per second are parsed and lowered, on a generated program of ordinary code.
//!
//! `cargo run --release -p regraft-lang --example lower_speed [LINES]`

use std::cell::Cell;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use regraft_lang::definition::{Item, Space};
use regraft_lang::lower::{LowerOptions, lower};
use regraft_syntax::julia::{self, Options};

/// Functions as people write them: loops, conditions, arrays, structs, closures, calls.
fn program(lines: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < lines * 24 {
        let _ = writeln!(
            text,
            r#"
# Sums what `f` makes of the elements of `x`.
function total{n}(f, x::Vector{{Float64}})
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end

function step{n}!(out, a, b, dt)
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

struct Point{n}
    x::Float64
    y::Float64
end

norm{n}(p::Point{n}) = sqrt(p.x^2 + p.y^2)
scale{n}(p::Point{n}, k) = Point{n}(k * p.x, k * p.y)

function search{n}(xs, key)
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

function combine{n}(xs, ys, weight)
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
end"#
        );
        n += 1;
    }
    text
}

/// A clock that stands still while others run, where there is one.
struct Clock(Instant, Option<u64>);

impl Clock {
    fn start() -> Self {
        Self(Instant::now(), Self::on_cpu())
    }

    /// The time that this thread has run, in nanoseconds.
    fn on_cpu() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        match (self.1, Self::on_cpu()) {
            (Some(start), Some(end)) => Duration::from_nanos(end - start),
            _ => self.0.elapsed(),
        }
    }
}

fn main() -> ExitCode {
    let lines = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(100_000);
    let text = program(lines);
    let lines = text.lines().count();
    let (mut parse, mut lowering) = (Duration::MAX, Duration::MAX);
    let (mut functions, mut instructions) = (0, 0);
    for _ in 0..10 {
        let ctx = regraft_dialects::context();
        let start = Clock::start();
        let parsed = julia::parse(&ctx, "speed.jl", &text, Options::default());
        parse = parse.min(start.elapsed());
        if let Some(error) = parsed.errors.first() {
            eprintln!("{}", error.render(false));
            return ExitCode::FAILURE;
        }
        let counter = Cell::new(0);
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space: Space::Main,
            counter: &counter,
        };
        let start = Clock::start();
        let items = lower(&ctx, &parsed.ast, &options);
        lowering = lowering.min(start.elapsed());
        let Ok(items) = items else { return ExitCode::FAILURE };
        (functions, instructions) = (0, 0);
        for item in &items {
            if let Item::Methods(methods) = item {
                functions += methods.len();
                instructions += methods.iter().map(|m| m.body.inst_count()).sum::<usize>();
            }
        }
    }
    let rate = |time: Duration| lines as f64 / time.as_secs_f64() / 1e6;
    println!("{lines} lines, {functions} methods, {instructions} instructions");
    println!("parse  {:8.2} M lines/s", rate(parse));
    println!("lower  {:8.2} M lines/s", rate(lowering));
    println!("both   {:8.2} M lines/s", rate(parse + lowering));
    ExitCode::SUCCESS
}
