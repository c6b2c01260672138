//! The time until the first result: of native code of a small loop, and of whole commands.
//!
//! `cargo bench -p regraft-bench --bench latency` prints a table of medians beside the targets. Commands run as they are
//! published if that is there (`cargo build --profile dist`).
//!
//! A figure of native code is the way from optimized IR to the result of a call: compact code, its translation, the back end,
//! the link, and the call. Each is of another function, in a process that has compiled some before, unless it says that it is the
//! first one.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use regraft_bench::counted_loops;
use regraft_bench::memory::keep_heap;
use regraft_bench::published::published;
use regraft_bench::table::{Bound, Table, median, median_seconds};
use regraft_dialects::context;
use regraft_exec::value::Array;
use regraft_exec::{Engine, EngineKind, Interpreter, Val};
use regraft_ir::Module;

const RUNS: usize = 31;

fn main() {
    keep_heap();
    let mut table = Table::default();
    compile_figures(&mut table, EngineKind::Cranelift, None, 0.3);
    compile_figures(&mut table, EngineKind::Llvm, Some(15.0), 6.0);
    command_figures(&mut table);
    println!("\n{table}");
}

/// The first function of a process, and those after it.
fn compile_figures(table: &mut Table, engine: EngineKind, first: Option<f64>, most: f64) {
    if let Err(error) = Interpreter::new(&loops(0)).set_engine(engine) {
        println!("{} is not measured: {error}", engine.name());
        return;
    }
    let milliseconds = |seed| {
        let module = loops(seed);
        let start = Instant::now();
        compile(&module, engine);
        start.elapsed().as_secs_f64() * 1e3
    };
    let what = format!("a loop of {} operations, {}", counted_loops::LOOP, engine.name());
    let bound = first.map_or(Bound::None, Bound::AtMost);
    table.add(format!("{what}, the first of a process"), milliseconds(0), "ms", bound, "");
    let mut times: Vec<f64> = (1..=RUNS as u64).map(milliseconds).collect();
    table.add(what, median(&mut times), "ms", Bound::AtMost(most), "");
}

/// A function with one loop, another one for each seed.
fn loops(seed: u64) -> Module {
    let ctx = context();
    let mut module = Module::new(&ctx);
    module.add(counted_loops::function(&ctx, 1, seed)).expect("there is no other");
    module
}

/// Compiles and calls the loop of a module.
fn compile(module: &Module, engine: EngineKind) {
    let mut interpreter = Interpreter::new(module);
    interpreter.set_engine(engine).expect("it is there");
    // Some of the loops run to a constant of up to a hundred.
    let (floats, ints) = (Array::vector(&[1.0; 100]), Array::vector(&[1i64; 100]));
    let args = [Val::I64(1), floats.into(), ints.into(), Val::I64(3)];
    black_box(interpreter.call("loops", &args)).expect("the loop runs");
}

fn command_figures(table: &mut Table) {
    let Some(command) = published() else { return };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let gmm = "gmm_objective(alphas, means, icf, x, prior)";
    for (name, file, call, most) in [
        ("_sum", "jl/sum.jl", "_sum(abs, [1.0, -2.0])", 6.0),
        ("a small gmm", "adbench/gmm.jl", gmm, 40.0),
    ] {
        let run = || Command::new(&command).arg("grad").arg(examples.join(file)).arg(call).output();
        assert!(run().is_ok_and(|output| output.status.success()), "{call} has a gradient");
        let seconds = median_seconds(RUNS, || (), |()| run());
        let what = format!("`regraft grad` of {name}");
        table.add(what, seconds * 1e3, "ms", Bound::AtMost(most), "");
    }
}
