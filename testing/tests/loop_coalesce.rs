//! `loop-coalesce` keeps what random nests over matrices do, bit for bit, by every engine.

mod common;

use std::fmt::Write as _;

use regraft_exec::{EngineKind, native_engines};
use regraft_ir::{render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

use common::parse;

/// A nest over one matrix, or two that may be one, up or down: from a row and a column on, over sums and elements. Lengths are
/// those of both, where they are the same, or the lesser ones.
fn program(seed: u64) -> String {
    let mut random = Choices::from_seed(seed);
    let arrays = if random.below(2) == 0 { ["%x", "%x"] } else { ["%x", "%y"] };
    let same = random.below(4) > 0;
    let down = [random.below(2) == 0, random.below(8) == 0];
    let down = [down[0], down[0] != down[1]];
    let first = [random.below(8) == 0, random.below(4) == 0].map(|later| if later { 2 } else { 1 });
    let swaps = random.below(3) == 0;
    let mut body = String::new();
    let mut values = vec!["%a".to_owned(), "%b".to_owned()];
    if random.below(8) == 0 {
        values.push(random.pick(&["%p", "%q"]).to_owned());
    }
    let mut sums = ["%a".to_owned(), "%b".to_owned()];
    for at in 0..2 + random.below(5) {
        let value = values[random.below(values.len())].clone();
        let other = values[random.below(values.len())].clone();
        let array = random.pick(&arrays);
        let _ = match random.below(8) {
            0..=3 => writeln!(body, "  %v{at}: f64 = mem.load {array}, %i, %j {{inbounds=true}}"),
            4 => {
                let _ = writeln!(body, "  mem.store {array}, {value}, %i, %j {{inbounds=true}}");
                continue;
            }
            5 if random.below(6) == 0 => {
                writeln!(body, "  %v{at}: f64 = arith.int_to_float %{}", random.pick(&["i", "j"]))
            }
            5 => writeln!(body, "  %v{at}: f64 = math.tanh {value}"),
            _ => writeln!(body, "  %v{at}: f64 = arith.sub {value}, {other}"),
        };
        values.push(format!("%v{at}"));
        sums[random.below(2)] = format!("%v{at}");
    }
    let [sum, other] = sums;
    // What goes down ends at the first index, and what goes up begins there.
    let range = |down: bool, of: &str, n: usize| match down {
        true => (of.to_owned(), format!("arith.ge %{}, {}", ["j", "i"][n], first[n]), "arith.sub"),
        false => (first[n].to_string(), format!("arith.le %{}, {of}", ["j", "i"][n]), "arith.add"),
    };
    let (j0, j_test, j_step) = range(down[0], "%n", 0);
    let (i0, i_test, i_step) = range(down[1], "%m", 1);
    let lengths = match same {
        true if arrays[0] == arrays[1] => {
            "  br ^2\n^2:\n  %m: i64 = arith.max %m1, 0\n  %n: i64 = arith.max %n1, 0"
        }
        true => {
            "  br %both, ^2, ^9(0.5)\n^2:\n  %m: i64 = arith.max %m1, 0\n  %n: i64 = arith.max %n1, 0"
        }
        false => "  br ^2\n^2:\n  %m: i64 = arith.min %m1, %m2\n  %n: i64 = arith.min %n1, %n2",
    };
    let (pass, back) = match swaps {
        true => ("%q, %p", "%b, %a"),
        false => ("%p, %q", "%a, %b"),
    };
    format!(
        "func @f(%x: array<f64, 2>, %y: array<f64, 2>) -> f64 {{
^1:
  %m1: i64 = mem.size %x, 1
  %n1: i64 = mem.size %x, 2
  %m2: i64 = mem.size %y, 1
  %n2: i64 = mem.size %y, 2
  %ms: bool = arith.eq %m1, %m2
  %ns: bool = arith.eq %n1, %n2
  %both: bool = arith.and %ms, %ns
{lengths}
  br ^3({j0}, 0.5, -0.0)
^3(%j: i64, %p: f64, %q: f64):
  %on: bool = {j_test}
  br %on, ^4({i0}, {pass}), ^8
^4(%i: i64, %a: f64, %b: f64):
  %go: bool = {i_test}
  br %go, ^5, ^6
^5:
{body}  %i2: i64 = {i_step} %i, 1
  br ^4(%i2, {sum}, {other})
^6:
  %j2: i64 = {j_step} %j, 1
  br ^3(%j2, {back})
^8:
  %s: f64 = arith.sub %p, %q
  br ^9(%s)
^9(%result: f64):
  return %result
}}
"
    )
}

/// Compares programs before and after. Returns how many were changed.
fn compare(seeds: std::ops::Range<u64>, engine: EngineKind) -> u32 {
    let passes = PassRegistry::standard();
    let pipeline = Pipeline::parse(&passes, "loop-coalesce").expect("it is a pipeline");
    let mut changed = 0;
    for seed in seeds {
        let before = parse(&program(seed));
        let mut after = before.clone();
        let options = RunOptions::default().threads(1);
        if let Err(failure) = run_pipeline(&mut after, &pipeline, &options) {
            panic!("seed {seed}: {}\n{before}", render_all(failure.diagnostics(), false));
        }
        if let Err(errors) = verify_module(&after) {
            panic!("seed {seed}: {}\n{after}", render_all(&errors, false));
        }
        changed += u32::from(after.to_string() != before.to_string());
        let config = CompareConfig { inputs: 12, engine, ..CompareConfig::default() };
        if let Err(difference) = compare_functions(&before, &after, "f", &config) {
            panic!("seed {seed}: {difference}\n{before}\nbecomes\n{after}");
        }
    }
    changed
}

#[test]
fn random_nests_do_what_they_did() {
    let changed = compare(0..1500, EngineKind::Interpreter);
    assert!((300..1200).contains(&changed), "{changed} changed");
}

#[test]
fn native_code_of_them_does_the_same() {
    for engine in native_engines() {
        let changed = compare(2000..2040, engine);
        assert!(changed > 8, "{changed} changed");
    }
}
