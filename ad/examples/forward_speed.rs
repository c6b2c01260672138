//! The speed of forward mode: `cargo run --release -p regraft-ad --example forward_speed`.
//!
//! On functions of ten and a hundred thousand instructions: in one block, in many blocks, with
//! stores that make objects active against the order of the program, with a chain of calls.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regraft_ad::{ForwardOptions, forward};
use regraft_ir::{Function, Module};

fn main() {
    for n in [10_000, 100_000] {
        show("one block", &straight(n));
        show("a branch every 5", &branches(n / 5));
        show("arrays that make each other active", &stores(n / 4));
        show("a chain of calls", &chain(n / 3));
        show("calls of one function", &calls(n));
        show("a block of many parameters", &wide(n / 2));
    }
}

/// Reads a module, and tells how long the shortest of three runs took.
fn show(what: &str, text: &str) {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "speed.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors[..1], false)));
    let count = |module: &Module| module.functions().map(Function::inst_count).sum::<usize>();
    let before = count(&module);
    let (mut best, mut after) = (Duration::MAX, 0);
    for _ in 0..3 {
        let mut copy = module.clone();
        let f = ctx.symbol("f");
        let active = vec![true; module.function("f").map_or(0, |f| f.param_types().len())];
        let start = Instant::now();
        forward(&mut copy, f, &active, &ForwardOptions::default())
            .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
        best = best.min(start.elapsed());
        after = count(&copy) - before;
    }
    println!("{what}: {before} became {after}, {best:.2?}");
}

fn straight(n: usize) -> String {
    let mut text = "func @f(%1: f64) -> f64 {\n^1:\n".to_owned();
    for v in 2..n + 2 {
        let _ = writeln!(text, "  %{v}: f64 = arith.mul %{}, %1", v - 1);
    }
    let _ = write!(text, "  return %{}\n}}\n", n + 1);
    text
}

fn branches(n: usize) -> String {
    let mut text = "func @f(%1: f64) -> f64 {\n^1:\n  br ^2(%1)\n".to_owned();
    let mut v = 2;
    for i in 0..n {
        let (head, then, next) = (2 * i + 2, 2 * i + 3, 2 * i + 4);
        let _ = write!(
            text,
            "^{head}(%{v}: f64):\n  %{}: f64 = math.sin %{v}\n  %{}: bool = arith.lt %{v}, 0.5\n  \
             br %{}, ^{then}, ^{next}(%{})\n^{then}:\n  %{}: f64 = arith.mul %{}, %1\n  \
             br ^{next}(%{})\n",
            v + 1,
            v + 2,
            v + 2,
            v + 1,
            v + 3,
            v + 1,
            v + 3
        );
        v += 4;
    }
    let _ = write!(text, "^{}(%{v}: f64):\n  return %{v}\n}}\n", 2 * n + 2);
    text
}

/// Each array gets what is in the next one, which is filled later.
fn stores(n: usize) -> String {
    let mut text = "func @f(%1: f64) -> f64 {\n^1:\n".to_owned();
    for v in 2..n + 2 {
        let _ = writeln!(text, "  %{v}: array<f64, 1> = mem.alloc 1");
    }
    let mut v = n + 2;
    for i in 2..n + 1 {
        let _ = write!(text, "  %{v}: f64 = mem.load %{}, 1\n  mem.store %{i}, %{v}, 1\n", i + 1);
        v += 2;
    }
    let _ = write!(text, "  mem.store %{}, %1, 1\n  return %1\n}}\n", n + 1);
    text
}

fn chain(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let name = if i == 0 { "f".to_owned() } else { format!("f{i}") };
        let call = match i + 1 < n {
            true => format!("call @f{}(%2)", i + 1),
            false => "math.exp %2".to_owned(),
        };
        let _ = write!(
            text,
            "func @{name}(%1: f64) -> f64 {{\n^1:\n  %2: f64 = arith.mul %1, 0.5\n  %3: f64 = {call}\n  \
             return %3\n}}\n"
        );
    }
    text
}

fn calls(n: usize) -> String {
    let mut text = "func @g(%1: f64) -> f64 {\n^1:\n  %2: f64 = math.sin %1\n  return %2\n}\n\
                    func @f(%1: f64) -> f64 {\n^1:\n"
        .to_owned();
    for v in 2..n + 2 {
        let _ = writeln!(text, "  %{v}: f64 = call @g(%{})", v - 1);
    }
    let _ = write!(text, "  return %{}\n}}\n", n + 1);
    text
}

fn wide(n: usize) -> String {
    let n = n.min(20_000);
    let mut text = "func @f(%1: f64) -> f64 {\n^1:\n".to_owned();
    for v in 2..n + 2 {
        let _ = writeln!(text, "  %{v}: f64 = math.sin %1");
    }
    let args: Vec<String> = (2..n + 2).map(|v| format!("%{v}")).collect();
    let params: Vec<String> = (n + 2..2 * n + 2).map(|v| format!("%{v}: f64")).collect();
    let _ = write!(text, "  br ^2({})\n^2({}):\n", args.join(", "), params.join(", "));
    for v in 2 * n + 2..3 * n + 2 {
        let _ = writeln!(text, "  %{v}: f64 = math.exp %{}", v - n);
    }
    let _ = write!(text, "  return %{}\n}}\n", 3 * n + 1);
    text
}
