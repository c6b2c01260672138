//! The speed of `inline`: `cargo run --release -p regraft-passes --example inline_speed`.
//!
//! On a module of a million instructions in 2000 functions, of which a tenth are calls; and with
//! the same calls in ten callers or in one, and of ten thousand functions or a hundred thousand:
//! where the cost is linear, ten times as much takes ten times as long, but for the caches.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regraft_ir::{Function, Module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};

fn main() {
    let text = callees();
    let mixed = text.clone() + &(0..2000).map(|i| caller(i, 500, 10)).collect::<String>();
    show("2000 functions of 500, each tenth a call", &mixed);
    for (callers, calls) in [(10, 1_000), (10, 10_000), (1, 10_000), (1, 100_000)] {
        let callers_text: String = (0..callers).map(|i| caller(i, calls, 1)).collect();
        show(&format!("{callers} callers of {calls} calls"), &(text.clone() + &callers_text));
    }
    for functions in [10_000, 100_000] {
        show(&format!("{functions} functions in a chain"), &chain(functions));
    }
}

/// Reads a module, and tells how long the shortest of three runs took.
fn show(what: &str, text: &str) {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "speed.ir", text)
        .unwrap_or_else(|errors| panic!("{}", errors.len()));
    let count = |module: &Module| module.functions().map(Function::inst_count).sum::<usize>();
    let before = count(&module);
    let pipeline = Pipeline::parse(&PassRegistry::standard(), "inline").expect("it is one");
    let (mut best, mut after, mut inlined, mut copied) = (Duration::MAX, 0, 0, 0);
    for _ in 0..3 {
        let mut copy = module.clone();
        let start = Instant::now();
        let report = run_pipeline(&mut copy, &pipeline, &RunOptions::default().verify(false))
            .unwrap_or_else(|failure| panic!("{}", failure.diagnostics()[0]));
        (inlined, copied) = (report.count("calls inlined"), report.count("instructions copied"));
        best = best.min(start.elapsed());
        after = count(&copy);
    }
    let speed = (before + copied as usize) as f64 / best.as_secs_f64() / 1e6;
    println!(
        "{what}: {best:.2?}, {speed:.1} M instructions/s; {before} became {after}, {inlined} calls \
         inlined"
    );
}

/// Something of one block, something that branches, and something that loops.
fn callees() -> String {
    "func @line(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 3
  %3: i64 = arith.xor %2, %1
  %4: i64 = arith.add %3, 7
  return %4
}
func @fork(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3
^2:
  %3: i64 = arith.sub 0, %1
  return %3
^3:
  return %1
}
func @loop(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 10
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %2, 1
  %6: i64 = arith.mul %3, %5
  br ^2(%5, %6)
^4:
  return %3
}
"
    .to_owned()
}

/// A function of one block with `count` instructions, of which every `every`th is a call.
fn caller(number: usize, count: usize, every: usize) -> String {
    let mut text = format!("func @caller{number}(%1: i64) -> i64 {{\n^1:\n");
    for i in 0..count {
        let (result, last) = (i + 2, i + 1);
        let _ = match (i % every, i / every % 3) {
            (0, 0) => writeln!(text, "  %{result}: i64 = call @line(%{last})"),
            (0, 1) => writeln!(text, "  %{result}: i64 = call @fork(%{last})"),
            (0, _) => writeln!(text, "  %{result}: i64 = call @loop(%{last})"),
            _ => writeln!(text, "  %{result}: i64 = arith.add %{last}, {i}"),
        };
    }
    let _ = writeln!(text, "  return %{}\n}}", count + 1);
    text
}

/// Functions of ten instructions, each of which calls the next.
fn chain(functions: usize) -> String {
    let mut text = String::new();
    for i in 0..functions {
        let _ = writeln!(text, "func @f{i}(%1: i64) -> i64 {{\n^1:");
        for k in 2..11 {
            let _ = writeln!(text, "  %{k}: i64 = arith.add %{}, {k}", k - 1);
        }
        if i + 1 < functions {
            let _ = writeln!(text, "  %11: i64 = call @f{}(%10)\n  return %11\n}}", i + 1);
        } else {
            let _ = writeln!(text, "  return %10\n}}");
        }
    }
    text
}
