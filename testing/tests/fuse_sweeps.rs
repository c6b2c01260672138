//! `fuse-sweeps` keeps what random pairs of loops do, whichever way they run, bit for bit.

mod common;

use std::fmt::Write as _;

use regraft_ir::{render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

use common::parse;

/// Two arrays that are passed (and may be the same), and two that are made.
const ARRAYS: [&str; 4] = ["%x", "%y", "%t", "%u"];

/// A loop over `%n` rounds with 1-based indices up to three beyond: stores of sums of loads, with
/// a sum that is carried along or without one.
fn sweep(random: &mut Choices, name: &str, header: u32, after: u32) -> (String, bool) {
    let down = random.below(2) == 0;
    let carries = random.below(3) == 0;
    let (body, mut text) = (header + 1, String::new());
    let carried = if carries { format!(", %{name}s: f64") } else { String::new() };
    let (test, step) = if down { ("arith.gt", "sub") } else { ("arith.lt", "add") };
    let end = if down { "0" } else { "%n" };
    let _ = writeln!(text, "^{header}(%{name}k: i64{carried}):");
    let _ = writeln!(text, "  %{name}c: bool = {test} %{name}k, {end}");
    let _ = writeln!(text, "  br %{name}c, ^{body}, ^{after}");
    let _ = writeln!(text, "^{body}:");
    let least = if down { 0 } else { 1 };
    let mut last = if carries { format!("%{name}s") } else { "1.5".to_owned() };
    for i in 0..=random.below(3) {
        let index = |random: &mut Choices, text: &mut String, what: &str| {
            let offset = least + if random.below(3) == 0 { random.below(3) } else { 1 };
            let _ = writeln!(text, "  %{name}{what}{i}: i64 = arith.add %{name}k, {offset}");
            format!("%{name}{what}{i}")
        };
        let (from, to) = (random.below(4), random.below(4));
        let at = index(random, &mut text, "i");
        let array = ARRAYS[from];
        let _ = writeln!(text, "  %{name}v{i}: f64 = mem.load {array}, {at} {{inbounds=true}}");
        let _ = writeln!(text, "  %{name}w{i}: f64 = arith.mul %{name}v{i}, 0.75");
        let _ = writeln!(text, "  %{name}z{i}: f64 = arith.add %{name}w{i}, {last}");
        if random.below(4) > 0 {
            let at = index(random, &mut text, "j");
            let array = ARRAYS[to];
            let _ = writeln!(text, "  mem.store {array}, %{name}z{i}, {at} {{inbounds=true}}");
        }
        last = if random.below(2) == 0 { format!("%{name}z{i}") } else { last };
    }
    let _ = writeln!(text, "  %{name}next: i64 = arith.{step} %{name}k, 1");
    let next = if carries { format!(", {last}") } else { String::new() };
    let _ = writeln!(text, "  br ^{header}(%{name}next{next})");
    (text.replace("NEXT", ""), carries)
}

/// A function with two sweeps, and something between them at times.
fn program(seed: u64) -> String {
    let mut random = Choices::from_seed(seed);
    let (a, a_carries) = sweep(&mut random, "a", 2, 4);
    let (b, b_carries) = sweep(&mut random, "b", 5, 7);
    let start = |text: &str, carries: bool| {
        let from = if text.contains("arith.gt") { "%n" } else { "0" };
        if carries { format!("({from}, 0.25)") } else { format!("({from})") }
    };
    let between = match random.below(4) {
        0 => "  %q: f64 = mem.load %t, 1 {inbounds=true}\n",
        1 => "  %q: f64 = mem.load %y, 1 {inbounds=true}\n",
        2 => "  mem.store %u, 3.0, 2 {inbounds=true}\n  %q: f64 = arith.add 1.0, 2.0\n",
        _ => "  %q: f64 = arith.add 1.0, 2.0\n",
    };
    let (start_a, start_b) = (start(&a, a_carries), start(&b, b_carries));
    let sum_a = if a_carries { "%as" } else { "%q" };
    let sum_b = if b_carries { "%bs" } else { "%q" };
    format!(
        "func @f(%x: array<f64, 1>, %y: array<f64, 1>) -> array<f64, 1> {{
^1:
  %lx: i64 = mem.length %x
  %ly: i64 = mem.length %y
  %l: i64 = arith.min %lx, %ly
  %short: bool = arith.lt %l, 4
  br %short, ^8, ^9
^8:
  %none: array<f64, 1> = mem.alloc 0
  return %none
^9:
  %m: i64 = arith.sub %l, 3
  %n: i64 = arith.max %m, 0
  %t: array<f64, 1> = mem.copy %x
  %u: array<f64, 1> = mem.fill 0.5, %l
  br ^2{start_a}
{a}^4:
{between}  br ^5{start_b}
{b}^7:
  mem.store %u, {sum_a}, 1 {{inbounds=true}}
  mem.store %u, {sum_b}, 2 {{inbounds=true}}
  %r: f64 = mem.load %t, 3 {{inbounds=true}}
  mem.store %x, %r, 1 {{inbounds=true}}
  return %u
}}
"
    )
}

#[test]
fn random_pairs_of_loops_do_what_they_did() {
    let passes = PassRegistry::standard();
    let pipeline = Pipeline::parse(&passes, "fuse-sweeps").expect("it is a pipeline");
    let after = Pipeline::parse(&passes, "fuse-sweeps, O2").expect("it is a pipeline");
    let (mut fused, mut turned) = (0, 0);
    for seed in 0..3000 {
        let before = parse(&program(seed));
        for (pipeline, count) in [(&pipeline, true), (&after, false)] {
            let mut module = before.clone();
            if let Err(failure) =
                run_pipeline(&mut module, pipeline, &RunOptions::default().threads(1))
            {
                panic!("seed {seed}: {}\n{before}", render_all(failure.diagnostics(), false));
            }
            verify_module(&module).unwrap_or_else(|errors| {
                panic!("seed {seed}: {}\n{module}", render_all(&errors, false))
            });
            if count && module.to_string() != before.to_string() {
                fused += 1;
                let down = before.to_string().matches("arith.gt").count();
                turned += u32::from(down == 1);
            }
            let config = CompareConfig { inputs: 6, ..CompareConfig::default() };
            if let Err(difference) = compare_functions(&before, &module, "f", &config) {
                panic!("seed {seed}: {difference}\n{before}\nbecomes\n{module}");
            }
        }
    }
    assert!(fused > 300 && turned > 100, "{fused} fused, {turned} of them turned");
}
