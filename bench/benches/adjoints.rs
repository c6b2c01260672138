//! Measures the cost of derivatives in reverse mode.
//!
//! `cargo bench -p regraft-bench --bench adjoints` prints a table beside the targets: for programs
//! in `examples`, the instructions that the interpreter runs for a gradient, for each that it runs
//! for the function itself, and the bytes that are kept in each iteration; the time to the first
//! gradient; the time that it takes to make the derivative of a large function; the time of an iteration of loops that take a
//! derivative each time (`src/derivatives_in_loops.jl`), work on small values (`src/small_values.jl`), hand arrays on or call what is
//! known only when it runs (`src/states_and_types.jl`), or go over arrays of complex numbers, tuples and structs (`src/unboxed_elements.jl`).
//!
//! A word may follow: `programs`, `first`, `growth`, `loops`, `values`, `states` or `elements`, for that part alone.

use regraft_ad::{PlanKind, ReverseOptions, reverse};
use regraft_bench::adjoints::{ADBENCH, Adjoint, LOOPS, MOONCAKE, Program};
use regraft_bench::memory::keep_heap;
use regraft_bench::smooth::{self, Shape};
use regraft_bench::table::{Bound, Table, median_seconds};
use regraft_dialects::context;
use regraft_exec::EngineKind;
use regraft_ir::Diagnostic;
use regraft_lang::Session;

const RUNS: usize = 5;

fn main() {
    keep_heap();
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wants = |part: &str| wanted.as_deref().is_none_or(|wanted| wanted == part);
    let mut table = Table::default();
    if wants("programs") {
        for program in [LOOPS, ADBENCH, MOONCAKE].into_iter().flatten() {
            if let Err(errors) = program_figures(&mut table, program) {
                eprintln!("{}: {}", program.name(), messages(&errors));
            }
        }
    }
    if wants("first") {
        first_gradient(&mut table);
    }
    if wants("growth") {
        growth_figures(&mut table);
    }
    for (part, text, functions) in [
        ("loops", include_str!("../src/derivatives_in_loops.jl"), &IN_LOOPS[..]),
        ("values", include_str!("../src/small_values.jl"), &OF_VALUES),
        ("states", include_str!("../src/states_and_types.jl"), &OF_STATES),
        ("elements", include_str!("../src/unboxed_elements.jl"), &OF_ELEMENTS),
    ] {
        if wants(part)
            && let Err(errors) = loop_figures(&mut table, text, functions)
        {
            eprintln!("{}", messages(&errors));
        }
    }
    println!("\n{table}");
}

fn messages(errors: &[Diagnostic]) -> String {
    let messages: Vec<_> = errors.iter().map(Diagnostic::message).collect();
    messages.join("\n")
}

fn program_figures(table: &mut Table, program: &Program) -> Result<(), Vec<Diagnostic>> {
    let name = program.name();
    eprintln!("{name}");
    let best = Adjoint::new(program, PlanKind::Best, "")?;
    let naive = Adjoint::new(program, PlanKind::Naive, "")?;
    let (kept, all) = (best.made.bytes_per_iteration, naive.made.bytes_per_iteration);
    let note = format!("everything on stacks: {:.2}, {all} bytes an iteration", naive.ratio());
    let ratio = format!("{name}, gradient / function");
    table.add(ratio, best.ratio(), "", Bound::AtMost(program.most), note);
    table.add(format!("{name}, kept"), kept as f64, "bytes an iteration", Bound::None, "");
    Ok(())
}

/// Loops that take a derivative in each iteration, with the most nanoseconds of one.
const IN_LOOPS: [(&str, f64); 8] = [
    ("slopes", 10.0),
    ("curvatures", 10.0),
    ("pullbacks", 10.0),
    ("descent", 20.0),
    ("named_descent", 20.0),
    ("fit", 20.0),
    ("stochastic_descent", 30.0),
    ("arm", 1500.0),
];

/// Loops that work on small values, with the most nanoseconds of an iteration.
const OF_VALUES: [(&str, f64); 6] = [
    ("results", 500.0),
    ("complexes", 3000.0),
    ("complex_gradients", 7000.0),
    ("trees", 4500.0),
    ("tree_gradients", 40_000.0),
    ("table_gradients", 50_000.0),
];

/// Loops that hand arrays on, and calls of what is known only when it runs, with the most nanoseconds of an iteration.
const OF_STATES: [(&str, f64); 7] = [
    ("in_turn", 250.0),
    ("handed_on", 300.0),
    ("refined", 100.0),
    ("orbit", 10.0),
    ("areas", 60.0),
    ("layered", 4000.0),
    ("layer_gradients", 30_000.0),
];

/// Loops over arrays of complex numbers, tuples and structs, with the most nanoseconds of an iteration.
const OF_ELEMENTS: [(&str, f64); 8] = [
    ("transforms", 2500.0),
    ("transform_gradients", 10_000.0),
    ("products", 300.0),
    ("pairs_of_points", 1000.0),
    ("stacks", 300.0),
    ("sorted_pairs", 4000.0),
    ("bodies", 2000.0),
    ("bodies_gradients", 20_000.0),
];

/// The time of an iteration by Cranelift of functions of a program, the median of several runs of many.
fn loop_figures(
    table: &mut Table,
    text: &str,
    functions: &[(&str, f64)],
) -> Result<(), Vec<Diagnostic>> {
    const ITERATIONS: i64 = 20_000;
    let mut session = Session::new(&context());
    session.set_engine(EngineKind::Cranelift).map_err(|error| vec![error])?;
    session.run("loops", text)?;
    for &(function, most) in functions {
        let call = format!("{function}({ITERATIONS})");
        // The first calls compile it.
        session.run("call", &call)?;
        session.run("call", &call)?;
        let callee = session.run("function", function)?;
        let seconds =
            median_seconds(9, || (), |()| session.call_value(&callee, &[ITERATIONS.into()]));
        let what = format!("an iteration of `{function}`");
        let ns = seconds / ITERATIONS as f64 * 1e9;
        table.add(what, ns, "ns", Bound::AtMost(most), String::new());
    }
    Ok(())
}

/// The time from a program that has been read to its gradient, inference included.
fn first_gradient(table: &mut Table) {
    let program = &ADBENCH[0];
    let text = format!(
        "gradient((a, m, c) -> {}(a, m, c, x, prior), alphas, means, icf)",
        program.function
    );
    let seconds = median_seconds(
        RUNS,
        || program.session().expect("it is right"),
        |mut session| {
            session.run("gradient", &text).expect("it has a gradient");
            session
        },
    );
    let bound = Bound::AtMost(30.0);
    table.add("first gradient of the mixture model", seconds * 1e3, "ms", bound, "Mooncake: 15 s");
}

/// The time that it takes to make a derivative, for functions that grow tenfold.
fn growth_figures(table: &mut Table) {
    for shape in Shape::ALL {
        let times = [10_000, 100_000, 1_000_000].map(|insts| {
            eprintln!("{}, {insts} instructions", shape.name());
            let runs = if insts > 100_000 { 1 } else { RUNS };
            median_seconds(
                runs,
                || smooth::module(&context(), shape, insts),
                |mut module| {
                    let main = module.ctx().symbol("main");
                    let active = [true, true, false, true];
                    reverse(&mut module, main, &active, &ReverseOptions::default())
                        .expect("it has a derivative");
                    module
                },
            )
        });
        let name = shape.name();
        let at_most = Bound::AtMost(1.0);
        table.add(format!("adjoint of 10^5 instructions, {name}"), times[1], "s", at_most, "");
        for (i, text) in [(1, "10^4 to 10^5"), (2, "10^5 to 10^6")] {
            let growth = times[i] / times[i - 1];
            let bound = Bound::AtMost(13.0);
            table.add(format!("growth from {text}, {name}"), growth, "times", bound, "");
        }
    }
}
