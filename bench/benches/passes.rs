//! Measures the cost of the passes, on one core.
//!
//! `cargo bench -p regraft-bench --bench passes` prints a table of medians beside the targets,
//! with what peers reach on the same kind of module (integer operations, a million of them in
//! 2000 functions with loops). The name of a pass may follow, to measure it alone.
//!
//! A figure is the time that the pass itself takes, analyses included, as the pass manager
//! measures it; the manager's copies are not counted.

use std::sync::Arc;

use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, median};
use regraft_bench::{counted_loops, synthetic};
use regraft_dialects::context;
use regraft_ir::{Context, Module};
use regraft_passes::{PassRegistry, PassReport, Pipeline, RunOptions, run_pipeline};

const FUNCTIONS: usize = 2000;
const INSTS: usize = 500;
const RUNS: usize = 3;

/// The speed that is wanted of O2 on one function with very many small loops, in millions of
/// instructions a second.
const LOOPS_TARGET: f64 = 0.3;

/// The passes with the speed that is wanted of each, in millions of instructions a second, and
/// what peers reach.
const TARGETS: &[(&str, f64, &str)] = &[
    ("sccp", 5.0, "LLVM SCCP 4.8"),
    ("gvn", 3.0, "LLVM GVN 1.8, MLIR CSE 1.8"),
    ("licm", 11.0, "LLVM LICM 11"),
    ("adce", 8.0, "LLVM ADCE 8"),
    ("simplify-cfg", 8.0, ""),
    ("inline", 5.0, ""),
    ("O1", f64::NAN, ""),
    ("O2", 0.5, "Cranelift's e-graph mid-end 1.75"),
];

fn main() {
    keep_heap();
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let registry = PassRegistry::standard();
    let mut names: Vec<&str> = TARGETS.iter().map(|&(name, ..)| name).collect();
    for pass in registry.iter().map(|pass| pass.name) {
        if !names.contains(&pass) && !["print", "verify"].contains(&pass) {
            names.push(pass);
        }
    }
    names.retain(|name| wanted.as_deref().is_none_or(|wanted| wanted == *name));

    let mut table = Table::default();
    let ctx = context();
    module_figures(&mut table, &registry, &ctx, &names);
    loop_figures(&mut table, &registry, &ctx, &names);
    growth_figures(&mut table, &registry, &ctx, &names);
    println!("\n{table}");
}

/// The median time in seconds that the passes of a pipeline take on a module.
fn seconds(registry: &PassRegistry, text: &str, module: &Module) -> f64 {
    eprintln!("{text} on {} instructions", module.inst_count());
    let pipeline = Pipeline::parse(registry, text).expect("it is a pipeline");
    let run = || {
        let mut copy = module.clone();
        let options = RunOptions::default().threads(1).verify(false);
        run_pipeline(&mut copy, &pipeline, &options).expect("it does not fail").passes
    };
    let total = |passes: &[PassReport]| passes.iter().map(|pass| pass.time.as_secs_f64()).sum();
    let first = run();
    // Of a whole pipeline, what each pass takes is worth knowing too.
    if first.len() > 1 {
        for PassReport { pass, calls, time, .. } in &first {
            eprintln!("    {pass:20} {calls:6} calls {:8.1} ms", time.as_secs_f64() * 1e3);
        }
    }
    let mut times: Vec<f64> = (1..RUNS).map(|_| total(&run())).collect();
    times.push(total(&first));
    median(&mut times)
}

/// On many functions of ordinary size.
fn module_figures(table: &mut Table, registry: &PassRegistry, ctx: &Arc<Context>, names: &[&str]) {
    let loops = synthetic::module(ctx, FUNCTIONS, INSTS);
    let calls = synthetic::calling_module(ctx, FUNCTIONS, INSTS);
    for &name in names {
        let target = TARGETS.iter().find(|&&(pass, ..)| pass == name);
        let (bound, peers) = match target {
            Some(&(_, target, peers)) if target.is_finite() => (Bound::AtLeast(target), peers),
            _ => (Bound::None, ""),
        };
        let rate =
            |module: &Module| module.inst_count() as f64 / seconds(registry, name, module) / 1e6;
        table.add(name, rate(&loops), "M/s", bound, peers);
        if ["inline", "O2"].contains(&name) {
            let what = format!("{name}, where one instruction in ten is a call");
            table.add(what, rate(&calls), "M/s", bound, "");
        }
    }
}

/// On one function of very many small counted loops.
fn loop_figures(table: &mut Table, registry: &PassRegistry, ctx: &Arc<Context>, names: &[&str]) {
    for loops in [2_500, 25_000] {
        let mut module = Module::new(ctx);
        module.add(counted_loops::function(ctx, loops, 7)).expect("there is no other");
        for &name in names {
            let rate = module.inst_count() as f64 / seconds(registry, name, &module) / 1e6;
            let bound = if name == "O2" { Bound::AtLeast(LOOPS_TARGET) } else { Bound::None };
            table.add(format!("{name}: {loops} loops in one function"), rate, "M/s", bound, "");
        }
    }
}

/// One function of 10⁶ instructions against ten times one of 10⁵, and nested loops: ten times
/// the depth at the same size.
fn growth_figures(table: &mut Table, registry: &PassRegistry, ctx: &Arc<Context>, names: &[&str]) {
    let of = |f: regraft_ir::Function| {
        let mut module = Module::new(ctx);
        module.add(f).expect("there is no other");
        module
    };
    let row = |insts| of(synthetic::function(ctx, "row", insts, 7));
    let nest = |depth, insts| of(synthetic::nests(ctx, depth, insts));
    let rows = [row(100_000), row(1_000_000)];
    let nests = [nest(100, 30_000), nest(100, 300_000)];
    let shallow = nest(10, 30_000);
    for &name in names {
        let mut ratio = |what: &str, [small, large]: [&Module; 2], times: f64| {
            let [a, b] = [small, large].map(|module| seconds(registry, name, module));
            table.add(format!("{name}: {what}"), b / a / times, "×", Bound::None, "1 is linear");
        };
        ratio("10⁶ against ten times 10⁵", [&rows[0], &rows[1]], 10.0);
        ratio("3·10⁵ against ten times 3·10⁴, nested 100 deep", [&nests[0], &nests[1]], 10.0);
        ratio("nested 100 deep against 10 deep", [&shallow, &nests[0]], 1.0);
    }
}
