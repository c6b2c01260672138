//! Passes that look at two loops at once, on generated pairs and nests of loops over arrays.
//!
//! Programs of other tests seldom have two loops that go together. Here all do, and what their
//! accesses have to do with each other is drawn: which arrays, with which distance, in which
//! direction. The arrays are large enough for all indices, and checked accesses are drawn too.

use std::fmt::Write;

use regraft_ir::{Module, render_all};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

/// Text of a function with fresh numbers.
struct Text {
    choices: Choices,
    out: String,
    values: u32,
}

impl Text {
    fn new(seed: u64) -> Self {
        Self { choices: Choices::from_seed(seed), out: String::new(), values: 100 }
    }

    fn below(&mut self, n: i64) -> i64 {
        self.choices.below(n as usize) as i64
    }

    fn define(&mut self, ty: &str, right: &str) -> String {
        self.values += 1;
        let name = format!("%{}", self.values);
        let _ = writeln!(self.out, "  {name}: {ty} = {right}");
        name
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    /// The arrays that a function works on: two new ones, and a name for either of them. Sometimes
    /// others are shown one, so that what is written can be seen.
    fn arrays(&mut self, rank: usize) -> Vec<String> {
        let ty = format!("array<i64, {rank}>");
        let dims = ["40"; 2][..rank].join(", ");
        let mut arrays = Vec::new();
        for k in 0..2 {
            let new = self.define(&ty, &format!("mem.alloc {dims}"));
            self.define("unit", &format!("call @fill{rank}({new}, {})", 7 + k));
            arrays.push(new);
        }
        let either = self.define(&ty, &format!("core.select %2, {}, {}", arrays[0], arrays[1]));
        arrays.push(either);
        if self.below(3) == 0 {
            // Others know of it now.
            let shown = arrays[0].clone();
            self.define("unit", &format!("call @show{rank}({shown})"));
        }
        arrays
    }

    /// Statements on elements, the indices of which `index` makes.
    fn body(&mut self, arrays: &[String], index: &mut dyn FnMut(&mut Self) -> String) {
        for _ in 0..1 + self.below(2) {
            let from = arrays[self.below(3) as usize].clone();
            let to = arrays[self.below(3) as usize].clone();
            let (there, here) = (index(self), index(self));
            let promise = if self.below(8) == 0 { "" } else { " {inbounds=true}" };
            let x = self.define("i64", &format!("mem.load {from}, {there}{promise}"));
            let y = match self.below(3) {
                0 => self.define("i64", &format!("arith.mul {x}, 3")),
                1 => self.define("i64", &format!("arith.xor {x}, %1")),
                _ => self.define("i64", &format!("arith.add {x}, 5")),
            };
            if self.below(5) > 0 {
                self.define("unit", &format!("mem.store {to}, {y}, {here}{promise}"));
            }
            if self.below(24) == 0 {
                self.define("unit", &format!("core.print {y}"));
            }
        }
    }

    fn finish(&mut self, arrays: &[String], rank: usize) -> String {
        for array in arrays {
            self.define("unit", &format!("call @show{rank}({array})"));
        }
        self.line("  return nothing\n}");
        format!("{}{}", std::mem::take(&mut self.out), helpers(rank))
    }
}

/// Functions that fill an array with numbers, and print them all.
fn helpers(rank: usize) -> String {
    let ty = format!("array<i64, {rank}>");
    let mut out = String::new();
    for (name, extra, work) in [
        ("fill", ", %9: i64", "  %6: i64 = arith.mul %4, %9\n  %7: unit = mem.store %1, %6, %4\n"),
        ("show", "", "  %6: i64 = mem.load %1, %4\n  %7: unit = core.print %6, \" \"\n"),
    ] {
        let _ = write!(
            out,
            "func @{name}{rank}(%1: {ty}{extra}) -> unit {{
^1:
  %2: i64 = mem.length %1
  br ^2(0)
^2(%3: i64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^4
^3:
  %4: i64 = arith.add %3, 1
{work}  br ^2(%4)
^4:
  return nothing
}}
"
        );
    }
    out
}

const HEAD: &str = "func @f(%1: i64, %2: bool) -> unit {\n^1:\n";

/// Two loops, one after the other.
fn pair(seed: u64) -> String {
    let mut t = Text::new(seed);
    t.line(HEAD.trim_end());
    let arrays = t.arrays(1);
    let count = match t.below(4) {
        0 => {
            let low = t.define("i64", "arith.and %1, 7");
            t.define("i64", &format!("arith.add {low}, 0"))
        }
        _ => t.below(7).to_string(),
    };
    let tested_last = t.below(3) == 0;
    let step = [1, 1, 2, -1][t.below(4) as usize];
    t.line(&format!("  br ^2(0, {}, 1)", first(step)));
    for l in 0..2 {
        let (header, body, next) = (2 + 2 * l, 3 + 2 * l, 4 + 2 * l);
        let (n, i, s) = (10 + 10 * l, 11 + 10 * l, 12 + 10 * l);
        let step = if l == 1 && t.below(6) == 0 { 3 } else { step };
        let leave = match l {
            0 => format!("^{next}(0, {}, 2)", first(step)),
            _ => format!("^{next}"),
        };
        t.line(&format!("^{header}(%{n}: i64, %{i}: i64, %{s}: i64):"));
        if !tested_last {
            let more = t.define("bool", &format!("arith.lt %{n}, {count}"));
            t.line(&format!("  br {more}, ^{body}, {leave}"));
            t.line(&format!("^{body}:"));
        }
        let mut index = |t: &mut Text| {
            let offset = t.below(5) - 2;
            t.define("i64", &format!("arith.add %{i}, {offset}"))
        };
        t.body(&arrays, &mut index);
        let sum = t.define("i64", &format!("arith.mul %{s}, %{i}"));
        let n2 = t.define("i64", &format!("arith.add %{n}, 1"));
        let i2 = t.define("i64", &format!("arith.add %{i}, {step}"));
        let back = format!("^{header}({n2}, {i2}, {sum})");
        if tested_last {
            let more = t.define("bool", &format!("arith.lt {n2}, 6"));
            t.line(&format!("  br {more}, {back}, {leave}"));
        } else {
            t.line(&format!("  br {back}"));
        }
    }
    t.line("^6:");
    let both = t.define("i64", "arith.sub %12, %22");
    t.define("unit", &format!("core.print {both}, \":\""));
    t.finish(&arrays, 1)
}

/// The value with which a counter begins.
fn first(step: i64) -> i64 {
    if step < 0 { 30 } else { 4 }
}

/// A loop in a loop.
fn nest(seed: u64) -> String {
    let mut t = Text::new(seed);
    t.line(HEAD.trim_end());
    let arrays = t.arrays(2);
    let counts: Vec<String> = (0..2)
        .map(|_| match t.below(3) {
            0 => t.define("i64", "arith.and %1, 7"),
            _ => (3 + t.below(6)).to_string(),
        })
        .collect();
    let steps = [1, 1 + t.below(2)];
    t.line("  br ^2(3)");
    for l in 0..2 {
        let (header, leave) = (2 + l, [6, 5][l]);
        t.line(&format!("^{header}(%{}: i64):", 10 + l));
        let more = t.define("bool", &format!("arith.lt %{}, {}", 10 + l, counts[l]));
        let stay = if l == 0 { "^3(3)" } else { "^4" };
        t.line(&format!("  br {more}, {stay}, ^{leave}"));
    }
    t.line("^4:");
    let swapped = t.below(4) == 0;
    let mut index = |t: &mut Text| {
        let (a, b) = (t.below(3) - 1, t.below(3) - 1);
        let i = t.define("i64", &format!("arith.add %10, {a}"));
        let j = t.define("i64", &format!("arith.add %11, {b}"));
        if swapped { format!("{j}, {i}") } else { format!("{i}, {j}") }
    };
    t.body(&arrays, &mut index);
    let j = t.define("i64", &format!("arith.add %11, {}", steps[1]));
    t.line(&format!("  br ^3({j})\n^5:"));
    let i = t.define("i64", &format!("arith.add %10, {}", steps[0]));
    t.line(&format!("  br ^2({i})\n^6:"));
    t.finish(&arrays, 2)
}

/// A loop in a loop, with statements before and after it, and sums that go around both.
fn sums(seed: u64) -> String {
    let mut t = Text::new(seed);
    t.line(HEAD.trim_end());
    let arrays = t.arrays(2);
    let count = |t: &mut Text| match t.below(3) {
        0 => t.define("i64", "arith.and %1, 7"),
        _ => (2 + t.below(9)).to_string(),
    };
    let (outer, inner) = (count(&mut t), count(&mut t));
    let steps = [1 + t.below(2), 1 + t.below(2)];
    let tested_last = [t.below(3) == 0, t.below(3) == 0];
    t.line("  br ^2(3, 1)\n^2(%10: i64, %12: i64):");
    if !tested_last[0] {
        let more = t.define("bool", &format!("arith.lt %10, {outer}"));
        t.line(&format!("  br {more}, ^3, ^7"));
        t.line("^3:");
    }
    let mut around = |t: &mut Text| {
        let (a, b) = (t.below(3) - 1, 3 + t.below(3));
        format!("{}, {b}", t.define("i64", &format!("arith.add %10, {a}")))
    };
    if t.below(2) == 0 {
        t.body(&arrays, &mut around);
    }
    let start = ["0", "%10", "%10", "%12"][t.below(4) as usize];
    t.line(&format!("  br ^4(3, {start})\n^4(%11: i64, %13: i64):"));
    if !tested_last[1] {
        let more = t.define("bool", &format!("arith.lt %11, {inner}"));
        t.line(&format!("  br {more}, ^5, ^6\n^5:"));
    }
    let swapped = t.below(4) == 0;
    let mut within = |t: &mut Text| {
        let (a, b) = (t.below(3) - 1, t.below(3) - 1);
        let i = t.define("i64", &format!("arith.add %10, {a}"));
        let j = t.define("i64", &format!("arith.add %11, {b}"));
        if swapped { format!("{j}, {i}") } else { format!("{i}, {j}") }
    };
    if t.below(3) > 0 {
        t.body(&arrays, &mut within);
    }
    let place = within(&mut t);
    let x = t.define("i64", &format!("mem.load {}, {place} {{inbounds=true}}", arrays[0]));
    let product = t.define("i64", "arith.mul %13, 3");
    let sum = t.define("i64", &format!("arith.add {product}, {x}"));
    let j = t.define("i64", &format!("arith.add %11, {}", steps[1]));
    let back = format!("^4({j}, {sum})");
    if tested_last[1] {
        let more = t.define("bool", &format!("arith.lt {j}, {inner}"));
        t.line(&format!("  br {more}, {back}, ^6"));
    } else {
        t.line(&format!("  br {back}"));
    }
    t.line("^6:");
    let place = around(&mut t);
    if t.below(3) > 0 {
        t.define("unit", &format!("mem.store {}, %13, {place} {{inbounds=true}}", arrays[1]));
    }
    if t.below(2) == 0 {
        t.body(&arrays, &mut around);
    }
    let total = t.define("i64", "arith.xor %12, %13");
    let i = t.define("i64", &format!("arith.add %10, {}", steps[0]));
    let back = format!("^2({i}, {total})");
    if tested_last[0] {
        let more = t.define("bool", &format!("arith.lt {i}, {outer}"));
        t.line(&format!("  br {more}, {back}, ^7"));
    } else {
        t.line(&format!("  br {back}"));
    }
    t.line("^7:");
    t.define("unit", "core.print %12");
    t.finish(&arrays, 2)
}

/// Runs a pipeline on `cases` programs and compares what they do. Returns how many it changed.
fn compare(make: fn(u64) -> String, pipeline: &str, cases: u64) -> u64 {
    let ctx = regraft_dialects::context();
    let passes = Pipeline::parse(&PassRegistry::standard(), pipeline)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    let config = CompareConfig { inputs: 3, ..CompareConfig::default() };
    let mut changed = 0;
    for seed in 0..cases {
        let text = make(seed);
        let before: Module = regraft_syntax::parse_module(&ctx, "pair.ir", &text)
            .unwrap_or_else(|errors| panic!("{}\n{text}", render_all(&errors, false)));
        let mut after = before.clone();
        if let Err(failure) = run_pipeline(&mut after, &passes, &RunOptions::default().threads(1)) {
            panic!("{}\n{before}", render_all(failure.diagnostics(), false));
        }
        changed += u64::from(before.to_string() != after.to_string());
        match compare_functions(&before, &after, "f", &config) {
            Ok(agreement) => assert_eq!(agreement.inconclusive, 0, "seed {seed}\n{before}"),
            Err(difference) => panic!("seed {seed}: {difference:?}\n{before}\nbecomes\n{after}"),
        }
    }
    changed
}

#[test]
fn loops_that_are_fused_do_what_they_did() {
    let changed = compare(pair, "loop-fuse", 200);
    assert!((20..180).contains(&changed), "{changed} of 200 are fused");
}

#[test]
fn nests_that_are_interchanged_do_what_they_did() {
    let changed = compare(nest, "loop-interchange", 200);
    assert!((20..180).contains(&changed), "{changed} of 200 are interchanged");
}

#[test]
fn nests_that_are_tiled_do_what_they_did() {
    let changed = compare(nest, "tile{size=2}", 200);
    assert!((20..180).contains(&changed), "{changed} of 200 are tiled");
    compare(nest, "tile{size=3}, tile{size=2}, O1", 60);
    compare(sums, "tile{size=2}", 60);
}

#[test]
fn nests_that_are_unrolled_and_jammed_do_what_they_did() {
    let changed = compare(sums, "unroll-and-jam{factor=2}", 400);
    assert!((40..360).contains(&changed), "{changed} of 400 are jammed");
    let changed = compare(nest, "unroll-and-jam{factor=3}", 200);
    assert!((20..180).contains(&changed), "{changed} of 200 are jammed");
    for make in [nest, sums] {
        compare(make, "loop-rotate, unroll-and-jam{factor=2}, gvn, unroll-and-jam{factor=2}", 60);
        compare(make, "tile{size=2}, unroll-and-jam{factor=2, levels=2}, O1", 60);
        compare(make, "tile{size=4}, unroll-and-jam{factor=2, levels=3}", 60);
    }
}

#[test]
fn unrolled_pairs_and_nests_do_what_they_did() {
    for make in [pair, nest] {
        assert!(compare(make, "unroll{factor=3}", 60) > 30);
        compare(make, "loop-fuse, loop-interchange, unroll{factor=2}, simplify-cfg", 60);
    }
}
