//! `strip-math` keeps what random loops with elementary functions do, errors with what was done before included, by
//! every engine, bit for bit.

mod common;

use std::fmt::Write as _;

use regraft_exec::{EngineKind, Limits, native_engines};
use regraft_ir::{Module, render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

use common::parse;

/// Functions of one number, most of them with a domain.
const FUNCTIONS: [&str; 12] =
    ["sin", "cos", "tan", "log", "log1p", "sqrt", "asin", "exp", "tanh", "cbrt", "atan", "erf"];

/// A loop over `%n` rounds: functions of elements, of each other, of counters and, if a sum is carried, of that; stores of them.
fn body(random: &mut Choices, rotated: bool, carries: bool) -> String {
    let mut text = String::new();
    let up = random.below(4) > 0;
    // The index is from 1 to `%n`, in either direction.
    let (params, result) =
        if carries { ("%k: i64, %sum: f64", "%sum") } else { ("%k: i64", "0.5") };
    if rotated {
        let _ = writeln!(text, "^6({params}):");
    } else {
        let _ = writeln!(text, "^6({params}):\n  %go: bool = arith.lt %k, %n");
        let _ = writeln!(text, "  br %go, ^7, ^8({result})\n^7:");
    }
    let _ = match up {
        true => writeln!(text, "  %i: i64 = arith.add %k, 1"),
        false => writeln!(text, "  %i: i64 = arith.sub %n, %k"),
    };
    let _ = writeln!(text, "  %x: f64 = arith.int_to_float %i\n  %t: f64 = arith.mul %x, 0.01");
    let mut values = vec!["%t".to_owned()];
    let mut sums = result.to_owned();
    for at in 0..2 + random.below(5) {
        let array = random.pick(&["%y", "%z"]);
        // With the last one, indices wrap around in the loop.
        let offset = match random.below(60) {
            0..20 => random.below(4) as i64,
            20 => i64::MAX - random.below(30) as i64,
            _ => 0,
        };
        let value = values[random.below(values.len())].clone();
        let other = values[random.below(values.len())].clone();
        let choice = random.below(10);
        // What is carried is no element.
        match if !carries && choice > 5 && at % 2 == 0 { 3 } else { choice } {
            0..=2 => {
                let _ = writeln!(text, "  %j{at}: i64 = arith.add %i, {offset}");
                let _ = writeln!(text, "  %v{at}: f64 = mem.load {array}, %j{at}");
            }
            3 => {
                let op = random.pick(&[
                    "arith.mul",
                    "arith.add",
                    "arith.sub",
                    "arith.mulz",
                    "arith.fdiv",
                ]);
                let other = if random.below(4) == 0 { "%c" } else { &*other };
                let _ = writeln!(text, "  %v{at}: f64 = {op} {value}, {other}");
            }
            4 => {
                let op = random.pick(&["math.pow", "math.atan2", "math.hypot"]);
                let _ = writeln!(text, "  %v{at}: f64 = {op} {value}, {other}");
            }
            5 => {
                let _ = writeln!(text, "  %j{at}: i64 = arith.add %i, {offset}");
                let _ = writeln!(text, "  mem.store {array}, {value}, %j{at}");
                continue;
            }
            6 if carries => {
                let _ = writeln!(text, "  %w{at}: f64 = arith.mul {value}, 0.5");
                let _ = writeln!(text, "  %v{at}: f64 = arith.add %w{at}, {sums}");
                sums = format!("%v{at}");
                continue;
            }
            7 => {
                let _ = writeln!(text, "  %w{at}: f64 = math.sin {value}");
                let _ = writeln!(text, "  %v{at}: f64 = math.cos {value}");
                values.push(format!("%w{at}"));
            }
            _ => {
                let function = random.pick(&FUNCTIONS);
                let _ = writeln!(text, "  %v{at}: f64 = math.{function} {value}");
            }
        }
        values.push(format!("%v{at}"));
    }
    let last = values[values.len() - 1].clone();
    let _ = writeln!(text, "  mem.store {}, {last}, %i", random.pick(&["%y", "%z", "%o"]));
    let more = if carries { ", %more" } else { "" };
    if carries {
        let _ = writeln!(text, "  %more: f64 = arith.add {sums}, {last}");
    }
    let _ = writeln!(text, "  %next: i64 = arith.add %k, 1");
    let _ = match rotated {
        true => {
            let result = if carries { "%more" } else { &*last };
            writeln!(
                text,
                "  %go: bool = arith.lt %next, %n\n  br %go, ^6(%next{more}), ^8({result})"
            )
        }
        false => writeln!(text, "  br ^6(%next{more})"),
    };
    text
}

/// A function that fills two arrays, which may be one, with numbers from 0 to 1, and one that is not at `%p`, and then
/// runs a loop over them.
fn program(seed: u64) -> String {
    let mut random = Choices::from_seed(seed);
    let rotated = random.below(2) == 0;
    let special = random.pick(&["0.5", "0.5", "-1.0", "inf", "-2.5", "nan"]);
    let carries = random.below(2) == 0;
    let body = body(&mut random, rotated, carries);
    let first = if carries { "0, 0.0" } else { "0" };
    let room = if random.below(4) == 0 { random.below(3) } else { 3 };
    format!(
        "func @f(%y: array<f64, 1>, %z: array<f64, 1>, %a: i64, %b: i64) -> f64 {{
^1:
  %n: i64 = arith.mod %a, {most}
  %p: i64 = arith.mod %b, 500
  %l: i64 = arith.add %n, {room}
  mem.resize %y, %l
  mem.resize %z, %l
  %o: array<f64, 1> = mem.alloc %l
  br ^2(1, 1)
^2(%f: i64, %h: i64):
  %fill: bool = arith.le %f, %l
  br %fill, ^3, ^4
^3:
  %h1: i64 = arith.mul %h, 48271
  %h2: i64 = arith.mod %h1, 2147483647
  %h3: f64 = arith.int_to_float %h2
  %h4: f64 = arith.fdiv %h3, 2147483647.0
  %is: bool = arith.eq %f, %p
  %h5: f64 = core.select %is, {special}, %h4
  mem.store %y, %h5, %f
  mem.store %z, %h4, %f
  %f1: i64 = arith.add %f, 1
  br ^2(%f1, %h2)
^4:
  %c: f64 = arith.int_to_float %p
  %some: bool = arith.lt 0, %n
  br %some, ^5, ^8(0.0)
^5:
  br ^6({first})
{body}^8(%result: f64):
  %full: bool = arith.lt 0, %l
  br %full, ^9, ^10
^9:
  %e: f64 = mem.load %o, 1
  %both: f64 = arith.add %e, %result
  return %both
^10:
  return %result
}}
",
        most = if random.below(2) == 0 { 600 } else { 40 },
    )
}

fn run(module: &Module, pipeline: &Pipeline, seed: u64) -> Module {
    let mut after = module.clone();
    if let Err(failure) = run_pipeline(&mut after, pipeline, &RunOptions::default().threads(1)) {
        panic!("seed {seed}: {}\n{module}", render_all(failure.diagnostics(), false));
    }
    verify_module(&after)
        .unwrap_or_else(|errors| panic!("seed {seed}: {}\n{after}", render_all(&errors, false)));
    after
}

/// Compares programs before and after, by an engine. Returns how many were changed, how many of these have no iterations
/// left, and how many runs failed.
fn compare(seeds: std::ops::Range<u64>, engine: EngineKind) -> (u32, u32, u32) {
    let passes = PassRegistry::standard();
    let parse_pipeline = |text: &str| Pipeline::parse(&passes, text).expect("it is a pipeline");
    let pipelines = [
        ("", "strip-math"),
        ("", "strip-math{length=7, least=1}"),
        ("O2, ", "strip-math"),
        ("", "strip-math{length=7, least=1, arithmetic}"),
        ("O2, ", "strip-math{arithmetic}"),
    ];
    let pipelines = pipelines
        .map(|(first, last)| (parse_pipeline(&format!("{first}{last}")), parse_pipeline(last)));
    let (mut changed, mut whole, mut trapped) = (0, 0, 0);
    for seed in seeds {
        let before = parse(&program(seed));
        for (pipeline, again) in &pipelines {
            let after = run(&before, pipeline, seed);
            let text = after.to_string();
            let is_changed = text.contains("mem.map");
            let stores = ["%y", "%z", "%o"].map(|array| format!("mem.map {array}"));
            whole += u32::from(stores.iter().any(|store| text.contains(store)));
            changed += u32::from(is_changed);
            assert_eq!(run(&after, again, seed).to_string(), text, "seed {seed}, a second run");
            let limits = Limits { fuel: Some(400_000), ..CompareConfig::default().limits };
            let config = CompareConfig { inputs: 6, engine, limits, ..CompareConfig::default() };
            // Engines are to agree on the places of errors too, which differ from those before.
            let first = if engine == EngineKind::Interpreter { &before } else { &after };
            match compare_functions(first, &after, "f", &config) {
                Ok(agreement) => trapped += agreement.trapped * u32::from(is_changed),
                Err(difference) => panic!("seed {seed}: {difference}\n{before}\nbecomes\n{after}"),
            }
        }
    }
    (changed, whole, trapped)
}

#[test]
fn random_loops_do_what_they_did() {
    let (changed, whole, trapped) = compare(0..600, EngineKind::Interpreter);
    let all = format!("{changed} changed, {whole} of them whole loops, {trapped} runs failed");
    assert!(changed > 1000 && whole > 100 && trapped > 300, "{all}");
}

#[test]
fn native_code_of_them_does_the_same() {
    for engine in native_engines() {
        let (changed, whole, _) = compare(1000..1040, engine);
        assert!(changed > 100 && whole > 3, "{changed} changed, {whole} of them whole loops");
    }
}
