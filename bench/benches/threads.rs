//! Measures what threads save in scripts.
//!
//! `cargo bench -p regraft-bench --bench threads` prints how many times faster a sum over a million points, and its
//! gradient, are on two threads than on one: the least times of calls in turn. It needs two cores that nobody else uses.

use std::time::Instant;

use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, show};
use regraft_dialects::context;
use regraft_exec::{EngineKind, Val};
use regraft_ir::Diagnostic;
use regraft_lang::Session;

const RUNS: usize = 15;

/// The least ratio of the times with one thread and with two.
const TARGET: f64 = 1.6;

const PROGRAM: &str = "
model(w, x) = sin(w[1] * x) * exp(-w[2] * x)
loss(w, xs) = tmapreduce(x -> abs2(model(w, x) - 0.5), +, xs)
plain(w, xs) = sum(x -> abs2(model(w, x) - 0.5), xs)
points = [1e-6 * k for k in 1:1_000_000]
weights = [1.5, 0.5]
";

const CALLS: [(&str, &str); 3] = [
    ("sum", "() -> loss(weights, points)"),
    ("gradient by the weights", "() -> gradient(w -> loss(w, points), weights)"),
    ("gradient by weights and points", "() -> gradient(loss, weights, points)"),
];

const PLAIN: &str = "() -> gradient(w -> plain(w, points), weights)";

fn main() {
    keep_heap();
    show(table());
}

fn table() -> Result<Table, Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    session.set_engine(EngineKind::Cranelift).map_err(|error| vec![error])?;
    session.run("threads", PROGRAM)?;
    let mut table = Table::default();
    let mut plain = f64::INFINITY;
    let callee = session.run("plain", PLAIN)?;
    for _ in 0..RUNS {
        plain = plain.min(time(&mut session, 1, &callee)?);
    }
    for (name, text) in CALLS {
        let callee = session.run("call", text)?;
        let mut least = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            for (threads, least) in (1..).zip(&mut least) {
                *least = least.min(time(&mut session, threads, &callee)?);
            }
        }
        let [one, two] = least;
        let note = format!("{:.2} ms, {:.2} ms on two", one * 1e3, two * 1e3);
        table.add_ratio(
            format!("{name}: one thread / two"),
            one / two,
            Bound::AtLeast(TARGET),
            note,
        );
        if name == "gradient by the weights" {
            let note = format!("plain: {:.2} ms", plain * 1e3);
            table.add_ratio(
                format!("{name}: one thread / plain loop"),
                one / plain,
                Bound::None,
                note,
            );
        }
    }
    Ok(table)
}

/// The seconds that a call takes with so many threads.
fn time(session: &mut Session, threads: usize, callee: &Val) -> Result<f64, Vec<Diagnostic>> {
    session.set_threads(threads);
    let start = Instant::now();
    session.call_value(callee, &[])?;
    Ok(start.elapsed().as_secs_f64())
}
