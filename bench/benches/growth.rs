//! Measures how the time that passes take grows with the size of what they are given.
//!
//! `cargo bench -p regraft-bench --bench growth` prints a table: for shapes that are prone to take
//! more than linear time, the times at two sizes, how much longer the larger one takes, and the
//! most that is wanted, which is 1.2 times as much as there is more of it. A word may follow:
//! only cases whose name begins with it are measured.
//!
//! A time is the processor time of a run of the pipeline on one core, what the pass manager does
//! included: the least of several runs. `expand` is measured by the operands of its output, which
//! is larger than its input.

use regraft_ad::{ReverseOptions, reverse};
use regraft_bench::cpu::cpu_seconds;
use regraft_bench::growth::Shape;
use regraft_bench::memory::{CountingPeak, forget_peak, keep_heap, live_bytes, peak_bytes};
use regraft_bench::smooth;
use regraft_dialects::context;
use regraft_ir::{Function, Module, Value};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};

#[global_allocator]
static ALLOCATOR: CountingPeak = CountingPeak;

/// The most time that is accepted, as a multiple of linear growth.
const SLACK: f64 = 1.2;

/// The most seconds of a short run. A longer one is run three times, a short one more often.
const LONG: f64 = 0.05;

/// A pipeline, and what it is run on.
struct Case {
    pipeline: &'static str,
    sizes: [Shape; 2],
    /// The most seconds and megabytes for the larger size.
    most: Option<(f64, f64)>,
}

fn cases() -> Vec<Case> {
    let case = |pipeline, small, large| Case { pipeline, sizes: [small, large], most: None };
    let nest = |depth, count| Shape::Nest { depth, count };
    let refs = [Shape::Refs(200, 2_000), Shape::Refs(2_000, 20_000)];
    let mut cases = vec![
        case("loop-rotate", Shape::Row(2_500), Shape::Row(25_000)),
        case("bounds-elim{versions}", Shape::Row(2_500), Shape::Row(25_000)),
        Case { pipeline: "mem2reg", sizes: refs, most: Some((1.0, 400.0)) },
        Case { pipeline: "sroa", sizes: refs, most: Some((1.0, 400.0)) },
        case("O2", Shape::Irreducible(10_000), Shape::Irreducible(100_000)),
        case("expand", nest(200, 1), nest(1_000, 1)),
        case("indvars", nest(1_000, 1), nest(2_000, 1)),
        case("loop-rotate", nest(1_000, 1), nest(2_000, 1)),
    ];
    let passes = [
        "bounds-elim",
        "indvars",
        "licm",
        "dse",
        "load-pre",
        "loop-delete",
        "loop-idiom",
        "loop-rotate",
        "loop-simplify",
        "strength-reduce",
        "unroll",
        "O2",
    ];
    // Ten times as deep, and then ten times as deep at the same size.
    cases.extend(passes.map(|pass| case(pass, nest(20, 1), nest(200, 1))));
    cases.extend(passes.map(|pass| case(pass, nest(20, 100), nest(200, 10))));
    cases
}

fn main() {
    keep_heap();
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let registry = PassRegistry::standard();
    println!("| case | sizes | seconds | times longer | wanted | met | peak |");
    println!("|---|---|---|---:|---:|---|---:|");
    for case in cases().iter().filter(|case| case.pipeline.starts_with(&wanted)) {
        let measured = case.sizes.map(|shape| measure(&registry, case.pipeline, shape));
        print(case.pipeline, case.sizes.map(Shape::size), &measured, case.most);
    }
    for shape in smooth::Shape::ALL.into_iter().filter(|_| "adjoint".starts_with(&wanted)) {
        let sizes = [10_000, 100_000];
        let measured = sizes.map(|insts| adjoint(shape, insts));
        let sizes = sizes.map(|insts| format!("{insts} instructions"));
        print(&format!("adjoint, {}", shape.name()), sizes, &measured, None);
    }
}

/// The measurements of a case at one size.
struct Measured {
    amount: f64,
    seconds: f64,
    /// The most megabytes that were allocated at once, beside those that there were before.
    megabytes: f64,
}

fn measure(registry: &PassRegistry, text: &str, shape: Shape) -> Measured {
    let module = shape.module(&context());
    let pipeline = Pipeline::parse(registry, text).expect("it is a pipeline");
    let run = || {
        let mut copy = module.clone();
        let options = RunOptions::default().threads(1).verify(false);
        let (seconds, report) = cpu_seconds(|| run_pipeline(&mut copy, &pipeline, &options));
        report.expect("it does not fail");
        (seconds, copy)
    };
    forget_peak();
    let before = live_bytes();
    let (first, made) = run();
    let megabytes = (peak_bytes() - before) as f64 / 1e6;
    let amount = match text {
        "expand" => operands(&made) as f64,
        _ => shape.amount() as f64,
    };
    drop(made);
    Measured { amount, seconds: least(first, || run().0), megabytes }
}

/// The least time of several runs, of which one is over.
fn least(first: f64, mut run: impl FnMut() -> f64) -> f64 {
    let more = if first > LONG { 2 } else { 20 };
    (0..more).map(|_| run()).fold(first, f64::min)
}

/// The operands of all instructions.
fn operands(module: &Module) -> usize {
    let of = |f: &Function| {
        let of_block = |block| f.insts(block).map(|v: Value| f.operand_count(v)).sum::<usize>();
        f.blocks().map(of_block).sum::<usize>()
    };
    module.functions().map(of).sum()
}

fn adjoint(shape: smooth::Shape, insts: usize) -> Measured {
    let run = || {
        let mut module = smooth::module(&context(), shape, insts);
        let main = module.ctx().symbol("main");
        let active = [true, true, false, true];
        let (seconds, made) =
            cpu_seconds(|| reverse(&mut module, main, &active, &ReverseOptions::default()));
        made.expect("it has a derivative");
        seconds
    };
    let first = run();
    forget_peak();
    let before = live_bytes();
    let seconds = least(first, run);
    let megabytes = (peak_bytes() - before) as f64 / 1e6;
    Measured { amount: insts as f64, seconds, megabytes }
}

fn print(name: &str, sizes: [String; 2], measured: &[Measured; 2], most: Option<(f64, f64)>) {
    let [small, large] = measured;
    let growth = large.seconds / small.seconds;
    let wanted = SLACK * large.amount / small.amount;
    let (mut met, mut limits) = (growth <= wanted, String::new());
    if let Some((seconds, megabytes)) = most {
        met &= large.seconds <= seconds && large.megabytes <= megabytes;
        limits = format!(", {seconds} s, {megabytes} MB");
    }
    println!(
        "| {name} | {} → {} | {:.4} → {:.4} | {growth:.1} | ≤ {wanted:.1}{limits} | {} | {:.0} MB |",
        sizes[0],
        sizes[1],
        small.seconds,
        large.seconds,
        if met { "yes" } else { "NO" },
        large.megabytes,
    );
}
