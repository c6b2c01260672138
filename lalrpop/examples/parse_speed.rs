//! Measures how fast IR text is read, in time of the processor where the system tells it:
//! `cargo run --release -p regraft-syntax --example parse_speed`.
//!
//! A module of 1000 functions of 500 instructions each, integer arithmetic in a loop; and one
//! function of a million instructions, which shows that the time per instruction does not grow.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Instant;

use regraft_syntax::{parse_and_verify, parse_module};

fn function(out: &mut String, name: usize, insts: usize) {
    let ops = ["add", "sub", "mul", "and", "or", "xor"];
    let _ = write!(
        out,
        "func @f{name}(%1: i64, %2: i64) -> i64 {{\n^1:\n  br ^2(0, %2)\n^2(%3: i64, %4: i64):\n  \
         %5: bool = arith.lt %3, %1\n  br %5, ^3, ^4\n^3:\n"
    );
    for i in 0..insts - 2 {
        let number = 6 + i;
        let left = if i < 7 { 4 } else { number - 1 - i % 6 };
        let op = ops[i % ops.len()];
        if i % 4 == 0 {
            let _ = writeln!(out, "  %{number}: i64 = arith.{op} %{left}, {}", i % 1000);
        } else {
            let right = if i < 9 { 3 } else { number - 3 };
            let _ = writeln!(out, "  %{number}: i64 = arith.{op} %{left}, %{right}");
        }
    }
    let last = 6 + insts - 2;
    let _ = writeln!(out, "  %{last}: i64 = arith.add %3, 1");
    let _ = write!(out, "  br ^2(%{last}, %{})\n^4:\n  return %4\n}}\n\n", last - 1);
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
fn measure(what: &str, text: &str, insts: usize) {
    let (mut parsed, mut verified) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..7 {
        let ctx = regraft_dialects::context();
        let start = now();
        let module = parse_module(&ctx, "speed.ir", text).expect("it is right");
        parsed = parsed.min(now() - start);
        assert_eq!(module.inst_count(), insts);
        drop(module);
        let ctx = regraft_dialects::context();
        let start = now();
        let module = parse_and_verify(&ctx, "speed.ir", text).expect("it is right");
        verified = verified.min(now() - start);
        drop(module);
    }
    let rate = |seconds: f64| insts as f64 / seconds / 1e6;
    println!(
        "{what}: parsed {:.2} M/s, parsed and verified {:.2} M/s ({:.0} MB/s)",
        rate(parsed),
        rate(verified),
        text.len() as f64 / verified / 1e6
    );
}

fn main() {
    let mut text = String::new();
    for i in 0..1000 {
        function(&mut text, i, 500);
    }
    measure("1000 functions of 500", &text, 500_000);
    for size in [100_000, 1_000_000] {
        let mut text = String::new();
        function(&mut text, 0, size);
        measure(&format!("one function of {size}"), &text, size);
    }
}
