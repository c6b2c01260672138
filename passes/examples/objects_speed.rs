//! The speed of turning objects and aggregates into values: `cargo run --release -p regraft-passes
//! --example objects_speed`.
//!
//! Ten functions of 10⁵ instructions against one of 10⁶, of several shapes: where the cost is
//! linear, both take as long, but for the caches.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regraft_ir::Function;
use regraft_passes::transforms::{
    mem2reg::Mem2reg, specialize_getfield::SpecializeGetfield, sroa::Sroa,
};
use regraft_passes::{FunctionPass, run_pass};

type Run = fn(&mut Function);
type Make = fn(usize) -> String;

fn run<P: FunctionPass>(f: &mut Function) {
    run_pass::<P>(f).unwrap_or_else(|error| panic!("{error:?}"));
}

fn main() {
    let shapes: [(&str, &str, Run, Make); 6] = [
        ("mem2reg", "loops, each with a ref of its own", run::<Mem2reg>, own_refs),
        ("mem2reg", "one ref, written in each of many forks", run::<Mem2reg>, |n| forks(n, 1)),
        ("mem2reg", "ten refs, written in turns in many forks", run::<Mem2reg>, |n| forks(n, 10)),
        ("sroa", "loops, each with a mutable struct", run::<Sroa>, structs),
        ("sroa", "a tuple that goes through loops", run::<Sroa>, tuples),
        ("specialize-getfield", "fields of tuples as any", run::<SpecializeGetfield>, fields),
    ];
    for (name, shape, run, make) in shapes {
        println!("{name}: {shape}");
        let (small, large) = (vec![read(&make(100_000)); 10], vec![read(&make(1_000_000))]);
        let ((a, before, _), (b, _, left)) = (best(&small, run), best(&large, run));
        let ratio = b.as_secs_f64() / a.as_secs_f64();
        let speed = before as f64 / a.as_secs_f64() / 1e6;
        println!("  {speed:5.1} M instructions/s; {a:.2?} {b:.2?}, {ratio:.1} times, {left} left");
    }
}

fn read(text: &str) -> Function {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "speed.ir", text)
        .unwrap_or_else(|errors| panic!("{:?}", errors.first()));
    module.functions().next().expect("there is a function").clone()
}

/// The shortest of three runs, and how many instructions there were and are.
fn best(functions: &[Function], run: Run) -> (Duration, usize, usize) {
    let count = |all: &[Function]| all.iter().map(Function::inst_count).sum();
    let (mut best, mut left) = (Duration::MAX, 0);
    for _ in 0..3 {
        let mut copies = functions.to_vec();
        let start = Instant::now();
        copies.iter_mut().for_each(run);
        best = best.min(start.elapsed());
        left = count(&copies);
    }
    (best, count(functions), left)
}

/// A text in which values and blocks get their numbers one after the other.
#[derive(Default)]
struct Text {
    text: String,
    values: usize,
    blocks: usize,
}

impl Text {
    fn start(head: &str) -> Self {
        let mut text = Self { text: String::from(head), values: 1, blocks: 1 };
        text.text.push_str("func @f(%1: i64) -> i64 {\n^1:\n");
        text
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn value(&mut self, ty: &str, line: &str) -> String {
        self.values += 1;
        let _ = writeln!(self.text, "  %{}: {ty} = {line}", self.values);
        format!("%{}", self.values)
    }

    fn name(&mut self) -> String {
        self.blocks += 1;
        format!("^{}", self.blocks)
    }

    fn block(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    fn finish(mut self, result: &str) -> String {
        let _ = writeln!(self.text, "  return {result}\n}}");
        self.text
    }
}

/// Loops of ten instructions that count in a ref.
fn own_refs(insts: usize) -> String {
    let mut t = Text::start("");
    let mut last = "%1".to_owned();
    for _ in 0..insts / 10 {
        let (head, next) = (t.name(), t.name());
        let cell = t.value("ref<i64>", &format!("mem.ref_new {last}"));
        t.line(&format!("br {head}"));
        t.block(&head);
        let x = t.value("i64", &format!("mem.ref_get {cell}"));
        let y = t.value("i64", &format!("arith.add {x}, 1"));
        let z = t.value("i64", &format!("arith.mul {y}, 3"));
        t.value("unit", &format!("mem.ref_set {cell}, {z}"));
        let u = t.value("i64", &format!("mem.ref_get {cell}"));
        let w = t.value("i64", &format!("arith.xor {u}, 5"));
        t.value("unit", &format!("mem.ref_set {cell}, {w}"));
        let c = t.value("bool", &format!("arith.lt {w}, 100"));
        t.line(&format!("br {c}, {head}, {next}"));
        t.block(&next);
        last = t.value("i64", &format!("mem.ref_get {cell}"));
    }
    t.finish(&last)
}

/// Forks, in one arm of which one of `count` refs is written.
fn forks(insts: usize, count: usize) -> String {
    let mut t = Text::start("");
    let cells: Vec<String> = (0..count).map(|_| t.value("ref<i64>", "mem.ref_new %1")).collect();
    for i in 0..insts / 5 {
        let cell = &cells[i % count];
        let (then, join) = (t.name(), t.name());
        let x = t.value("i64", &format!("mem.ref_get {cell}"));
        let c = t.value("bool", &format!("arith.lt {x}, {i}"));
        t.line(&format!("br {c}, {then}, {join}"));
        t.block(&then);
        let y = t.value("i64", &format!("arith.add {x}, 1"));
        let z = t.value("i64", &format!("arith.mul {y}, 3"));
        t.value("unit", &format!("mem.ref_set {cell}, {z}"));
        t.line(&format!("br {join}"));
        t.block(&join);
    }
    let mut sum = "0".to_owned();
    for cell in &cells {
        let x = t.value("i64", &format!("mem.ref_get {cell}"));
        sum = t.value("i64", &format!("arith.add {sum}, {x}"));
    }
    t.finish(&sum)
}

/// Loops of ten instructions that keep their state in a mutable struct.
fn structs(insts: usize) -> String {
    let mut t = Text::start("mutable struct @S { n: i64, x: i64 }\n");
    let mut last = "%1".to_owned();
    for _ in 0..insts / 10 {
        let (head, next) = (t.name(), t.name());
        let s = t.value("@S", &format!("data.new_object 0, {last}"));
        t.line(&format!("br {head}"));
        t.block(&head);
        let n = t.value("i64", &format!("data.getfield {s}, :n"));
        let m = t.value("i64", &format!("arith.add {n}, 1"));
        t.value("unit", &format!("data.setfield {s}, :n, {m}"));
        let x = t.value("i64", &format!("data.getfield {s}, :x"));
        let y = t.value("i64", &format!("arith.mul {x}, 3"));
        t.value("unit", &format!("data.setfield {s}, :x, {y}"));
        let c = t.value("bool", &format!("arith.lt {m}, 100"));
        t.line(&format!("br {c}, {head}, {next}"));
        t.block(&next);
        let n = t.value("i64", &format!("data.getfield {s}, :n"));
        let x = t.value("i64", &format!("data.getfield {s}, :x"));
        last = t.value("i64", &format!("arith.add {x}, {n}"));
    }
    t.finish(&last)
}

/// Loops of ten instructions through which a tuple goes.
fn tuples(insts: usize) -> String {
    let mut t = Text::start("");
    let mut last = t.value("tuple<i64, i64>", "core.tuple 0, %1");
    for _ in 0..insts / 10 {
        let (head, next) = (t.name(), t.name());
        t.line(&format!("br {head}({last})"));
        t.values += 1;
        let state = format!("%{}", t.values);
        t.block(&format!("{head}({state}: tuple<i64, i64>)"));
        let n = t.value("i64", &format!("core.get {state}, 1"));
        let m = t.value("i64", &format!("arith.add {n}, 1"));
        let x = t.value("i64", &format!("core.get {state}, 2"));
        let y = t.value("i64", &format!("arith.mul {x}, 3"));
        let z = t.value("i64", &format!("arith.xor {y}, {m}"));
        let w = t.value("i64", &format!("arith.sub {z}, 7"));
        let u = t.value("i64", &format!("arith.and {w}, 1023"));
        let v = t.value("tuple<i64, i64>", &format!("core.tuple {m}, {u}"));
        let c = t.value("bool", &format!("arith.lt {m}, 100"));
        t.line(&format!("br {c}, {head}({v}), {next}"));
        t.block(&next);
        last = v;
    }
    let x = t.value("i64", &format!("core.get {last}, 2"));
    t.finish(&x)
}

/// Fields of tuples whose types were lost.
fn fields(insts: usize) -> String {
    let mut t = Text::start("");
    let mut last = "%1".to_owned();
    for i in 0..insts / 5 {
        let tuple = t.value("{a: i64, b: f64}", &format!("data.named {last}, {i}.5"));
        let a = t.value("any", &format!("data.getfield {tuple}, :a"));
        let b = t.value("any", &format!("arith.add {a}, {i}"));
        let c = t.value("any", &format!("core.convert {b}"));
        last = t.value("i64", &format!("core.typeassert {c}"));
    }
    t.finish(&last)
}
