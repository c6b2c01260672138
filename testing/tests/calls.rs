//! Passes that look at several functions, on modules whose functions call each other a lot.

use std::fmt::Write as _;

use regraft_ir::{render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_syntax::parse_module;
use regraft_testing::choices::Choices;
use regraft_testing::{CompareConfig, compare_functions};

/// A function that is being written: every value is an `i64`.
struct Writer<'a> {
    choices: &'a mut Choices,
    text: String,
    /// The values that may be used here.
    values: Vec<String>,
    next_value: usize,
    next_block: usize,
    /// Its number; it may call those with smaller ones, and itself under a condition.
    number: usize,
}

impl Writer<'_> {
    fn value(&mut self, ty: &str, line: &str) -> String {
        self.next_value += 1;
        let name = format!("%v{}", self.next_value);
        let _ = writeln!(self.text, "  {name}: {ty} = {line}");
        name
    }

    fn block(&mut self) -> usize {
        self.next_block += 1;
        self.next_block
    }

    fn any(&mut self) -> String {
        match self.choices.below(5) {
            0 => (self.choices.below(9) as i64 - 4).to_string(),
            _ => self.values[self.choices.below(self.values.len())].clone(),
        }
    }

    fn condition(&mut self) -> String {
        let (x, y) = (self.any(), self.any());
        let op = self.choices.pick(&["lt", "eq", "ge"]);
        self.value("bool", &format!("arith.{op} {x}, {y}"))
    }

    fn statement(&mut self, depth: usize) {
        let (x, y) = (self.any(), self.any());
        match self.choices.below(12) {
            0..=2 => {
                let op = self.choices.pick(&["add", "sub", "mul", "xor", "rem"]);
                let v = self.value("i64", &format!("arith.{op} {x}, {y}"));
                self.values.push(v);
            }
            3..=6 if self.number > 0 => {
                let callee = self.choices.below(self.number);
                let how = match self.choices.below(4) {
                    0 => format!("core.apply @f{callee}, {x}, {y}"),
                    _ => format!("call @f{callee}({x}, {y})"),
                };
                let v = self.value("i64", &how);
                self.values.push(v);
            }
            7 => {
                self.value("unit", &format!("core.println {x}"));
            }
            8 if depth < 3 => self.returns_early(),
            9 | 10 if depth < 3 => self.fork(depth),
            11 if depth < 2 => self.repeat(depth),
            _ => {}
        }
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.choices.below(4) {
            self.statement(depth);
        }
    }

    fn returns_early(&mut self) {
        let (c, x) = (self.condition(), self.any());
        let (then, rest) = (self.block(), self.block());
        let _ = writeln!(self.text, "  br {c}, ^{then}, ^{rest}\n^{then}:");
        let end = match self.choices.below(3) {
            0 => "core.throw \"early\"\n  unreachable".to_owned(),
            _ => format!("return {x}"),
        };
        let _ = writeln!(self.text, "  {end}\n^{rest}:");
    }

    fn fork(&mut self, depth: usize) {
        let c = self.condition();
        let (then, other, join) = (self.block(), self.block(), self.block());
        let known = self.values.len();
        let _ = writeln!(self.text, "  br {c}, ^{then}, ^{other}");
        for arm in [then, other] {
            let _ = writeln!(self.text, "^{arm}:");
            self.statements(depth + 1);
            let x = self.any();
            let _ = writeln!(self.text, "  br ^{join}({x})");
            self.values.truncate(known);
        }
        self.next_value += 1;
        let joined = format!("%v{}", self.next_value);
        let _ = writeln!(self.text, "^{join}({joined}: i64):");
        self.values.push(joined);
    }

    /// A loop of a few turns.
    fn repeat(&mut self, depth: usize) {
        let (head, body, exit) = (self.block(), self.block(), self.block());
        let x = self.any();
        self.next_value += 2;
        let (i, acc) = (format!("%v{}", self.next_value - 1), format!("%v{}", self.next_value));
        let _ = writeln!(self.text, "  br ^{head}(0, {x})\n^{head}({i}: i64, {acc}: i64):");
        let turns = self.choices.below(4);
        let c = self.value("bool", &format!("arith.lt {i}, {turns}"));
        let _ = writeln!(self.text, "  br {c}, ^{body}, ^{exit}\n^{body}:");
        let known = self.values.len();
        self.values.extend([i.clone(), acc.clone()]);
        self.statements(depth + 1);
        let (next, y) = (self.value("i64", &format!("arith.add {i}, 1")), self.any());
        let _ = writeln!(self.text, "  br ^{head}({next}, {y})\n^{exit}:");
        self.values.truncate(known);
        self.values.push(acc);
    }
}

/// A module of functions `@f0`, `@f1`, .., of which each may call those before it.
fn module(choices: &mut Choices) -> (String, usize) {
    let mut text = String::new();
    let count = 2 + choices.below(5);
    for number in 0..count {
        let mut writer = Writer {
            choices: &mut *choices,
            text: String::new(),
            values: vec!["%a".to_owned(), "%b".to_owned()],
            next_value: 0,
            next_block: 1,
            number,
        };
        writer.statements(0);
        let result = writer.any();
        let body = writer.text;
        let _ = write!(text, "func @f{number}(%a: i64, %b: i64) -> i64 {{\n^1:\n{body}");
        let _ = writeln!(text, "  return {result}\n}}");
    }
    (text, count)
}

#[test]
fn inlining_preserves_the_meaning_of_modules_with_many_calls() {
    let pipelines = [
        "inline",
        "inline{max-size=1000, once=1000, growth=3000}",
        "inline{always=3, max-size=12, growth=30}, simplify-cfg, inline, simplify-cfg",
        "simplify-cfg, inline, specialize-getfield, inline, sroa, dce",
    ];
    let passes = PassRegistry::standard();
    let config = CompareConfig { inputs: 6, ..CompareConfig::default() };
    let (mut returned, mut trapped, mut inlined) = (0, 0, 0);
    for seed in 0..150 {
        let (text, count) = module(&mut Choices::from_seed(seed));
        let ctx = regraft_dialects::context();
        let before = parse_module(&ctx, "calls.ir", &text)
            .unwrap_or_else(|errors| panic!("{}\n{text}", render_all(&errors, false)));
        verify_module(&before).unwrap_or_else(|e| panic!("{}\n{text}", render_all(&e, false)));
        for pipeline in pipelines {
            let steps = Pipeline::parse(&passes, pipeline).expect("the passes are there");
            let mut after = before.clone();
            if let Err(failure) =
                run_pipeline(&mut after, &steps, &RunOptions::default().threads(1))
            {
                panic!("{}\n{text}", render_all(failure.diagnostics(), false));
            }
            inlined += usize::from(!before.structural_eq(&after));
            for number in (0..count).rev() {
                match compare_functions(&before, &after, &format!("f{number}"), &config) {
                    Ok(runs) => {
                        returned += runs.returned;
                        trapped += runs.trapped;
                    }
                    Err(difference) => panic!("`{pipeline}`, seed {seed}: {difference}\n{text}"),
                }
            }
        }
    }
    assert!(returned > 5_000 && trapped > 200, "{returned} returned, {trapped} trapped");
    assert!(inlined > 300, "{inlined} modules changed");
}
