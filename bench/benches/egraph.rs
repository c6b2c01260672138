//! Measures what the e-graph makes of derivatives, and how long it takes.
//!
//! `cargo bench -p regraft-bench --bench egraph` prints a table beside the targets: the throughput of
//! the pass, the sizes of adjoints, of higher derivatives and of single programs beside those
//! after `O2`, the instructions of gradients of sums over Kronecker products.
//!
//! A word may follow: `speed`, `adjoints`, `higher`, `single` or `kron`, for that part alone;
//! `sizes` prints the sizes of each derivative as well.

use regraft_ad::PlanKind;
use regraft_bench::adjoints::{Adjoint, apply};
use regraft_bench::memory::keep_heap;
use regraft_bench::simplified::{
    BASE, FUNCTIONS, POWER, Size, Sizes, all_programs, derivative, difference, finish, gradient,
    instructions, kronecker_gradient, mean, product_of_powers, program, simplify, sizes,
    sum_of_terms,
};
use regraft_bench::smooth;
use regraft_bench::table::{Bound, Table};
use regraft_dialects::context;
use regraft_ir::{Diagnostic, Module};
use regraft_passes::rewrite::Math;
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};

const RUNS: usize = 9;

type Outcome = Result<(), Vec<Diagnostic>>;
/// A part of the table: tells if it is wanted, and adds its rows.
type Part<'a> = (bool, &'a dyn Fn(&mut Table) -> Outcome);

fn main() {
    keep_heap();
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let (all, each) = (wanted.is_none(), wanted.as_deref() == Some("sizes"));
    let wants = |part: &str| all || wanted.as_deref() == Some(part);
    let mut table = Table::default();
    let parts: [Part<'_>; 5] = [
        (wants("speed"), &speed),
        (wants("adjoints") || each, &|table| adjoints(table, each)),
        (wants("higher") || each, &|table| higher(table, each)),
        (wants("single"), &single),
        (wants("kron"), &kronecker),
    ];
    for (_, part) in parts.iter().filter(|(wanted, _)| *wanted) {
        if let Err(errors) = part(&mut table) {
            eprintln!("{}", regraft_ir::render_all(&errors, false));
        }
    }
    println!("\n{table}");
}

/// The least time in seconds that the pass takes on a module, with the analyses that it asks for.
fn seconds(module: &Module, math: Math) -> f64 {
    let text = format!("e-graph{{math={}}}", math.name());
    let pipeline = Pipeline::parse(&PassRegistry::standard(), &text).expect("it is a pipeline");
    let run = || {
        let mut copy = module.clone();
        let options = RunOptions::default().threads(1).verify(false);
        let report = run_pipeline(&mut copy, &pipeline, &options).expect("it does not fail");
        report.passes.iter().map(|pass| pass.time.as_secs_f64()).sum()
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// The throughput on adjoints, and how the time grows.
fn speed(table: &mut Table) -> Outcome {
    let mut modules = Vec::new();
    for program in all_programs() {
        modules.push(Adjoint::new(program, PlanKind::Best, "")?.optimized);
    }
    let count: usize = modules.iter().map(Module::inst_count).sum();
    for (math, target) in [(Math::Exact, 1000.0), (Math::Fast, 200.0)] {
        let time: f64 = modules.iter().map(|module| seconds(module, math)).sum();
        let what = format!("throughput on adjoints, {}", math.name());
        let note = format!("{} adjoints, {count} instructions", modules.len());
        table.add(what, count as f64 / time / 1e3, "k/s", Bound::AtLeast(target), note);
    }
    for math in [Math::Exact, Math::Fast] {
        let times = [1_000, 10_000, 100_000].map(|insts| {
            let module = smooth::module(&context(), smooth::Shape::Straight, insts);
            seconds(&module, math) / module.inst_count() as f64 * 1e9
        });
        let note = format!("{:.0}, {:.0}, {:.0} ns an instruction", times[0], times[1], times[2]);
        let what = format!("time of an instruction, 10⁵ beside 10³ of them, {}", math.name());
        table.add(what, times[2] / times[0], "×", Bound::AtMost(1.5), note);
    }
    Ok(())
}

/// Prints the sizes of derivatives.
fn print(all: &[Sizes]) {
    for Sizes { name, base, finished } in all {
        let show = |size: Size| {
            let [ops, latency] = size.beside(*base);
            format!("{} ops ({ops:.3}), latency {latency:.3}", size.ops)
        };
        println!(
            "{name}: {} ops; exact {}; fast {}",
            base.ops,
            show(finished[0]),
            show(finished[2])
        );
    }
}

/// Adds the means of sizes, and the worst of them.
fn means(table: &mut Table, what: &str, all: &[Sizes], math: Math, targets: [Bound; 2]) {
    for (i, name) in ["pure ops", "latency"].into_iter().enumerate() {
        let ratio = |sizes: &Sizes| sizes.after(math).beside(sizes.base)[i];
        let worst = all.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let note = worst.map_or(String::new(), |worst| {
            format!("{} of them; worst {:.3}, {}", all.len(), ratio(worst), worst.name)
        });
        let what = format!("{what}, {name}, {}", math.name());
        table.add_ratio(what, mean(all.iter().map(ratio)), targets[i], note);
    }
}

/// Adjoints of all programs: their sizes, instructions, and how far `fast` is from `exact`.
fn adjoints(table: &mut Table, each: bool) -> Outcome {
    let mut all = Vec::new();
    for program in all_programs() {
        all.push(sizes(program, false)?);
    }
    if each {
        print(&all);
    }
    let (exact, fast) = (Bound::AtMost(0.97), Bound::AtMost(0.93));
    means(table, "adjoints beside O2", &all, Math::Exact, [exact, Bound::None]);
    means(table, "adjoints beside O2", &all, Math::Fast, [fast, Bound::None]);
    let mut worst = [(0.0, String::new()), (0.0, String::new())];
    let mut apart = Vec::new();
    for program in all_programs() {
        let mut adjoint = Adjoint::new(program, PlanKind::Best, "")?;
        let base = adjoint.gradient(1);
        for (i, math) in [Math::Exact, Math::Fast].into_iter().enumerate() {
            adjoint.optimize(&finish(math))?;
            let found = adjoint.gradient(1);
            let ratio = found.instructions as f64 / base.instructions as f64;
            if ratio > worst[i].0 {
                worst[i] = (ratio, program.name());
            }
            if math == Math::Fast {
                apart.push((difference(&found.tangents, &base.tangents), program.name()));
            }
        }
    }
    for ((ratio, name), math) in worst.into_iter().zip([Math::Exact, Math::Fast]) {
        let what = format!("instructions executed beside O2, the worst, {}", math.name());
        table.add_ratio(what, ratio, Bound::AtMost(1.0), name);
    }
    apart.sort_by(|a, b| b.0.total_cmp(&a.0));
    let over: Vec<String> = (apart.iter().filter(|(difference, _)| *difference > 1e-12))
        .map(|(difference, name)| format!("{name}: {difference:.0e}"))
        .collect();
    let greatest = apart.first().map_or(0.0, |(difference, _)| difference * 1e15);
    let what = "greatest difference between fast and exact";
    table.add(what, greatest, "·10⁻¹⁵", Bound::AtMost(1000.0), over.join(", "));
    Ok(())
}

/// Second and third derivatives.
fn higher(table: &mut Table, each: bool) -> Outcome {
    let mut functions = Vec::new();
    for order in [2, 3] {
        for &(name, text) in FUNCTIONS {
            let name = format!("{name}, order {order}");
            functions.push(Sizes::of(name, |pipeline| derivative(text, order, pipeline))?);
        }
    }
    let mut products = Vec::new();
    for program in all_programs() {
        match sizes(program, true) {
            Ok(sizes) => products.push(sizes),
            Err(errors) => eprintln!("{}: {}", program.name(), errors[0].message()),
        }
    }
    if each {
        print(&functions);
        print(&products);
    }
    let targets = [Bound::AtMost(0.55), Bound::AtMost(0.35)];
    for (what, all) in
        [("second and third derivatives", &functions), ("Hessian-vector products", &products)]
    {
        means(table, what, all, Math::Exact, [Bound::None; 2]);
        means(table, what, all, Math::Fast, targets);
    }
    Ok(())
}

/// Single programs.
fn single(table: &mut Table) -> Outcome {
    let fast = simplify(Math::Fast);
    let mut count = |what: &str, base: u64, now: u64, most: f64| {
        let note = format!("{base} after O2");
        table.add(what, now as f64, "ops", Bound::AtMost(most), note);
    };
    let of = |name: &str| sizes(program(name).expect("there is such a program"), false);
    let rk4 = of("jl/rk4: rk4")?;
    count("rk4, floats", rk4.base.float_ops, rk4.after(Math::Fast).float_ops, 12.0);
    let lstm = of("jl/lstm_step: remember")?;
    count("LSTM step", lstm.base.ops, lstm.after(Math::Fast).ops, 57.0);
    let powers = |pipeline| gradient(product_of_powers(POWER), pipeline);
    let [base, now] = [BASE.as_str(), &fast].map(powers);
    count("value and gradient of x y⁴⁰⁰", Size::of(&base?).ops, Size::of(&now?).ops, 40.0);
    let base = sum_of_terms(100, 20);
    let mut sum = base.clone();
    apply(&mut sum, &fast)?;
    count("100 terms, 20 variables", Size::of(&base).ops, Size::of(&sum).ops, 60.0);
    let identity = "sin(x)^2 + cos(x)^2";
    for (order, what) in [(0, "sin² + cos²"), (1, "its derivative")] {
        let [base, now] =
            [BASE.as_str(), &fast].map(|pipeline| derivative(identity, order, pipeline));
        count(what, Size::of(&base?).ops, Size::of(&now?).ops, 0.0);
    }
    let time = seconds(&base, Math::Fast) * 1e3;
    table.add("100 terms, 20 variables: time", time, "ms", Bound::AtMost(1.0), "");
    Ok(())
}

/// Gradients of sums over Kronecker products.
fn kronecker(table: &mut Table) -> Outcome {
    let rows = [
        ("kron_loops, gradient alone", "the_gradient_of_four_loops", Math::Exact, 0.02),
        (
            "kron_loops, value and gradient",
            "fast_math_separates_the_value_of_four_loops",
            Math::Fast,
            0.04,
        ),
        ("_kron_sum, gradient alone", "the_gradient_of_a_product_in_memory", Math::Exact, 0.1),
        (
            "sum(collect(kron(a, b))), gradient alone",
            "the_gradient_of_a_copied_product",
            Math::Exact,
            0.1,
        ),
    ];
    for (what, name, math, most) in rows {
        let base = kronecker_gradient(name)?;
        let mut module = base.clone();
        apply(&mut module, &finish(math))?;
        let [base, now] = [&base, &module].map(|module| instructions(module, [20, 40]));
        let what = format!("{what}, {}", math.name());
        let note = format!("{now} instructions of {base}");
        table.add_ratio(what, now as f64 / base as f64, Bound::AtMost(most), note);
    }
    Ok(())
}
