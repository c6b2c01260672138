//! `dse` keeps what random functions do that fill arrays, add products to them, and may fail in between.

mod common;

use std::fmt::Write as _;

use regraft_ir::{render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

use common::parse;

/// Statements on square matrices of `%n` rows: `%3` and `%4` are written, and `%1` and `%2` read.
fn statements(text: &mut String, random: &mut Choices, block: usize) {
    for at in 0..random.below(4) {
        let (dest, other) = random.pick(&[("%3", "%4"), ("%4", "%3")]);
        let factor = random.pick(&["%1", "%2", other]);
        let mut flag = || random.pick(&["true", "false"]);
        let flags = [flag(), flag(), flag()].join(", ");
        let name = format!("%v{block}.{at}");
        let _ = match random.below(9) {
            0..=2 => {
                let value = random.pick(&["0.0", "0.0", "-0.0", "%x"]);
                writeln!(text, "  mem.fill_in_place {dest}, {value}")
            }
            3 | 4 => writeln!(
                text,
                "  linalg.add_product {dest}, %1, {factor}, {flags} {{inbounds=true}}"
            ),
            5 => writeln!(
                text,
                "  linalg.product {dest}, {factor}, %2, true, false {{inbounds=true}}"
            ),
            6 => writeln!(
                text,
                "  {name}: f64 = mem.load {dest}, 1, %n\n  mem.store {dest}, {name}, 1, 1"
            ),
            7 => writeln!(text, "  mem.store {dest}, %x, %n, 1"),
            // It may fail.
            _ => writeln!(text, "  {name}: f64 = mem.load %1, 2, %n"),
        };
    }
}

/// A function of a few blocks. Edges that go back raise `%k`, up to a limit.
fn function(random: &mut Choices) -> String {
    let blocks = 3 + random.below(5);
    let mut text = String::from("^1:\n  br ^2(0)\n");
    for block in 2..=blocks {
        let _ = writeln!(text, "^{block}(%k{block}: i64):");
        statements(&mut text, random, block);
        let later = |random: &mut Choices| block + 1 + random.below(blocks - block + 1);
        let _ = writeln!(text, "  %n{block}: i64 = arith.add %k{block}, 1");
        let (near, far) = (later(random), later(random));
        let back = 2 + random.below(block - 1);
        let _ = match random.below(4) {
            0 => writeln!(text, "  br ^{near}(%n{block})"),
            1 => writeln!(
                text,
                "  %c{block}: bool = arith.lt %k{block}, 3\n  br %c{block}, ^{back}(%n{block}), ^{near}(%n{block})"
            ),
            _ => writeln!(
                text,
                "  %c{block}: bool = arith.lt %n, {}\n  br %c{block}, ^{near}(%n{block}), ^{far}(%n{block})",
                1 + random.below(3)
            ),
        };
    }
    let last = blocks + 1;
    let end = random.pick(&["return %k", "return %k", "unreachable"]);
    let _ = writeln!(text, "^{last}(%k: i64):\n  {end}");
    text
}

/// A program that calls such a function on matrices of one size.
fn program(seed: u64) -> String {
    let mut random = Choices::from_seed(seed);
    let attrs = random.pick(&["{distinct=3, undef_after_error=3}", "{distinct=3}"]);
    let body = function(&mut random);
    format!(
        "func @work(%1: array<f64, 2>, %2: array<f64, 2>, %3: array<f64, 2>, %4: array<f64, 2>, \
         %n: i64, %x: f64) -> i64 {attrs} {{\n{body}}}\n\
         func @f(%size: i64, %x: f64, %y: f64) -> tuple<i64, array<f64, 2>, array<f64, 2>> {{\n\
         ^1:\n  %3: i64 = arith.and %size, 3\n  %n: i64 = arith.max %3, 1\n\
         %a: array<f64, 2> = mem.fill %x, %n, %n\n  %b: array<f64, 2> = mem.fill %y, %n, %n\n\
         %c: array<f64, 2> = mem.fill %y, %n, %n\n  %d: array<f64, 2> = mem.alloc %n, %n\n\
         mem.store %a, %y, 1, %n\n\
         %r: i64 = call @work(%a, %b, %c, %d, %n, %x)\n\
         %t: tuple<i64, array<f64, 2>, array<f64, 2>> = core.tuple %r, %c, %d\n  return %t\n}}\n"
    )
}

#[test]
fn random_functions_do_what_they_did() {
    let dse = Pipeline::parse(&PassRegistry::standard(), "dse").expect("it is a pipeline");
    let (mut delayed, mut stored) = (0, 0);
    for seed in 0..3000 {
        let before = parse(&program(seed));
        let mut after = before.clone();
        let options = RunOptions::default().threads(1);
        let report = run_pipeline(&mut after, &dse, &options).unwrap_or_else(|failure| {
            panic!("seed {seed}: {}\n{before}", render_all(failure.diagnostics(), false))
        });
        verify_module(&after).unwrap_or_else(|errors| {
            panic!("seed {seed}: {}\n{after}", render_all(&errors, false))
        });
        let count = |of| report.passes[0].counts.get(of).copied().unwrap_or(0);
        delayed += count("fills delayed");
        stored += count("products stored");
        let config = CompareConfig { inputs: 6, ..CompareConfig::default() };
        if let Err(difference) = compare_functions(&before, &after, "f", &config) {
            panic!("seed {seed}: {difference}\n{before}\nbecomes\n{after}");
        }
    }
    assert!(delayed > 20 && stored > 100, "{delayed} delayed, {stored} stored");
}
