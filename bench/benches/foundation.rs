//! The foundation at work: parse, print, verify, build, edit, clone, the first passes, and the
//! interpreter, on one core.
//!
//! `cargo bench -p regraft-bench --bench foundation` measures with criterion and prints a table
//! of medians beside the targets, with the figures that peers reach on the same kind of module
//! (integer operations, a million of them in 2000 functions with loops).

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, SamplingMode};
use regraft_bench::memory::{Counting, keep_heap, live_bytes};
use regraft_bench::synthetic;
use regraft_bench::table::{Bound, Table};
use regraft_dialects::{arith, context};
use regraft_exec::{Engine, Interpreter, value::Val};
use regraft_ir::{Context, Cursor, Function, Module, verify_function, verify_module};
use regraft_passes::transforms::{cse::Cse, dce::Dce};
use regraft_passes::{FunctionPass, run_pass};
use regraft_syntax::parse_module;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FUNCTIONS: usize = 2000;
const INSTS: usize = 500;

/// Measures, and keeps the medians.
struct Bench {
    criterion: Criterion,
    folder: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("regraft-bench-{}", std::process::id()));
        let criterion = Criterion::default()
            .output_directory(&folder)
            .without_plots()
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2));
        Self { criterion, folder }
    }

    /// The median time in seconds of `work`, each time on a fresh `setup`.
    fn seconds<T, R>(
        &mut self,
        name: &str,
        mut setup: impl FnMut() -> T,
        mut work: impl FnMut(T) -> R,
    ) -> f64 {
        let mut group = self.criterion.benchmark_group(name);
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function("run", |b| {
            b.iter_batched(&mut setup, |input| black_box(work(input)), BatchSize::PerIteration);
        });
        group.finish();
        median(&self.folder.join(name).join("run").join("new").join("estimates.json"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What criterion left is only of use to this run.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn median(estimates: &Path) -> f64 {
    let text = std::fs::read_to_string(estimates).expect("criterion writes its estimates");
    let estimates: serde_json::Value = serde_json::from_str(&text).expect("they are JSON");
    estimates["median"]["point_estimate"].as_f64().expect("with a median in ns") / 1e9
}

fn main() {
    keep_heap();
    let mut bench = Bench::new();
    let mut table = Table::default();
    module_figures(&mut bench, &mut table);
    linear_figures(&mut bench, &mut table);
    interpreter_figures(&mut bench, &mut table);
    println!("\n{table}");
}

fn run_everywhere<P: FunctionPass>(mut module: Module) -> Module {
    for (_, f) in module.functions_mut() {
        run_pass::<P>(f).expect("the pass does not fail");
    }
    module
}

/// Inserts a copy of each operation before it, lets it take over its uses, and deletes it.
fn edit(f: &mut Function) {
    let mut at = Cursor::new(f);
    while let Some(v) = at.next() {
        let Some(op) = at.op(v).filter(|op| op.dialect() == arith::ADD.dialect()) else { continue };
        let [x, y] = at.matches(v, op).expect("it is binary");
        let copy = at.insert(regraft_ir::Inst::new(op).operand(x).operand(y));
        at.replace_with(v, copy);
    }
}

fn module_figures(bench: &mut Bench, table: &mut Table) {
    let ctx = context();
    let before = live_bytes();
    let module = synthetic::module(&ctx, FUNCTIONS, INSTS);
    let count = module.inst_count();
    let bytes = (live_bytes() - before) as f64 / count as f64;
    let rate = |seconds: f64| count as f64 / seconds / 1e6;
    println!("{count} instructions in {FUNCTIONS} functions");

    let text = module.to_string();
    let parse = bench.seconds("parse", context, |ctx| {
        let module = parse_module(&ctx, "module.ir", &text).expect("it parses");
        verify_module(&module).expect("it is valid");
        module
    });
    let print = bench.seconds("print", || (), |()| module.to_string());
    let verify = bench.seconds("verify", || (), |()| verify_module(&module).is_ok());
    let build = bench.seconds("build", || (), |()| synthetic::module(&ctx, FUNCTIONS, INSTS));
    let edit = bench.seconds(
        "edit",
        || module.clone(),
        |mut module| {
            module.functions_mut().for_each(|(_, f)| edit(f));
            module
        },
    );
    let clone = bench.seconds("clone", || (), |()| module.clone());
    let dce = bench.seconds("dce", || module.clone(), run_everywhere::<Dce>);
    let cse = bench.seconds("cse", || module.clone(), run_everywhere::<Cse>);

    let mut add = |what: &str, seconds: f64, target: f64, peers: &str| {
        table.add(what, rate(seconds), "M/s", Bound::AtLeast(target), peers);
    };
    add("parse to verified IR", parse, 2.0, "Cranelift 2.9, LLVM 1.1–1.4, MLIR 0.70 (parse only)");
    add("print", print, 6.0, "Cranelift 5.8, LLVM 2.0, MLIR 1.05");
    add("verify", verify, 15.0, "Cranelift 14.5, LLVM 4–5.5, MLIR 3.7");
    add("build", build, 25.0, "LLVM 33, Cranelift 21, MLIR 9.5");
    add("insert + replace all uses + delete", edit, 7.0, "LLVM 28, MLIR 5.5 (replace + erase)");
    add("clone", clone, 100.0, "Cranelift 120, MLIR 1.6–2.6, LLVM 0.6");
    add("dce", dce, 8.0, "LLVM ADCE 8");
    add("cse", cse, 3.0, "LLVM EarlyCSE 2.9, MLIR 1.8");
    table.add(
        "memory of a built instruction",
        bytes,
        "bytes",
        Bound::AtMost(96.0),
        "Cranelift 66, LLVM 145, MLIR 177",
    );
}

/// Compares the cost of an operation in one function of 10^6 instructions with ten times its cost
/// in one of 10^5. In both, one value is used in every tenth instruction.
fn linear_figures(bench: &mut Bench, table: &mut Table) {
    let ctx = context();
    let [small, large, huge] = [100_000, 1_000_000, 4_000_000].map(|size| {
        let mut module = Module::new(&ctx);
        module.add(synthetic::hub(&ctx, size)).expect("there is no other");
        module
    });
    let mut ratio = |what: &str, work: &mut dyn FnMut(Module) -> Module| {
        let [a, b] = [("1e5", &small), ("1e6", &large)].map(|(size, module)| {
            bench.seconds(&format!("{what} {size}"), || module.clone(), &mut *work)
        });
        let what = format!("{what}, 10⁶ against ten times 10⁵");
        table.add(what, b / a / 10.0, "×", Bound::AtMost(1.5), "1 is linear");
    };
    let text_of = |module: &Module| module.to_string();
    let texts = [text_of(&small), text_of(&large)];
    ratio("parse", &mut |module| {
        let text = if module.inst_count() < 500_000 { &texts[0] } else { &texts[1] };
        parse_module(&context(), "hub.ir", text).expect("it parses")
    });
    ratio("print", &mut |module| {
        black_box(module.to_string());
        module
    });
    ratio("verify", &mut |module| {
        verify_function(module.functions().next().expect("it has one")).expect("it is valid");
        module
    });
    let ctx2: Arc<Context> = ctx.clone();
    ratio("build", &mut |module| {
        black_box(synthetic::hub(&ctx2, module.inst_count()));
        module
    });
    ratio("insert + replace + delete", &mut |mut module| {
        module.functions_mut().for_each(|(_, f)| edit(f));
        module
    });
    ratio("clone", &mut |module| {
        black_box(module.clone());
        module
    });
    ratio("dce", &mut run_everywhere::<Dce>);
    ratio("cse", &mut run_everywhere::<Cse>);
    // A function of 10^5 instructions fits into the caches and one of 10^6 does not, which shows
    // where memory is all that matters. Beyond that, cost has to grow as size does.
    let mut beyond = |what: &str, work: &mut dyn FnMut(Module) -> Module| {
        let [a, b] = [("1e6", &large), ("4e6", &huge)].map(|(size, module)| {
            bench.seconds(&format!("{what} beyond {size}"), || module.clone(), &mut *work)
        });
        let what = format!("{what}, 4·10⁶ against four times 10⁶");
        table.add(what, b / a / 4.0, "×", Bound::AtMost(1.5), "1 is linear");
    };
    beyond("clone", &mut |module| {
        black_box(module.clone());
        module
    });
    beyond("cse", &mut run_everywhere::<Cse>);
}

fn interpreter_figures(bench: &mut Bench, table: &mut Table) {
    const TRIPS: i64 = 10_000_000;
    // Per trip: a comparison, a branch, four operations, and a jump.
    let text = "func @loop(%1: i64) -> i64 {\n^1:\n  br ^2(0, 0)\n^2(%2: i64, %3: i64):\n  \
        %4: bool = arith.lt %2, %1\n  br %4, ^3, ^4\n^3:\n  %5: i64 = arith.mul %3, 3\n  \
        %6: i64 = arith.add %5, %2\n  %7: i64 = arith.xor %6, 7\n  %8: i64 = arith.add %2, 1\n  \
        br ^2(%8, %7)\n^4:\n  return %3\n}\n";
    let ctx = context();
    let module = parse_module(&ctx, "loop.ir", text).expect("it parses");
    let mut engine = Interpreter::new(&module);
    let seconds =
        bench.seconds("interpret", || (), |()| engine.call("loop", &[Val::I64(TRIPS)]).is_ok());
    let rate = 7.0 * TRIPS as f64 / seconds / 1e6;
    table.add(
        "interpreter, scalar loop",
        rate,
        "M/s",
        Bound::AtLeast(50.0),
        "7 instructions a trip",
    );
}
