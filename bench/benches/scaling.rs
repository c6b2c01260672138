//! Measures how the time and the memory of gradients grow with the size of the problem.
//!
//! `cargo bench -p regraft-bench --bench scaling` prints a table: for 10³ to 10⁷ elements, the time of a gradient for each
//! element, and how much that is beside a tenth of the elements; the most bytes that a call takes at once for each, and those
//! that it has to keep. These are the gradient, and what a step of a loop needs of the one before. Times are the least of
//! several calls, on native code by Cranelift.

use std::time::Instant;

use regraft_bench::memory::{CountingPeak, forget_peak, keep_heap, live_bytes, peak_bytes};
use regraft_bench::table::{Bound, Table, show};
use regraft_dialects::context;
use regraft_exec::{EngineKind, Val};
use regraft_ir::Diagnostic;
use regraft_lang::Session;

#[global_allocator]
static ALLOCATOR: CountingPeak = CountingPeak;

/// The elements that are worked on for one figure, at least.
const WORK: usize = 30_000_000;

/// The most growth of the time of an element from one size to the next.
const SLACK: f64 = 1.2;

const PROGRAM: &str = "
function total(x)
    s = 0.0
    for i in eachindex(x)
        s += sin(cos(exp(x[i])))
    end
    s
end
function walk(x)
    s = 0.5
    for i in eachindex(x)
        s = sin(s) + x[i] * s
    end
    s
end
points(n) = [1.0 / k for k in 1:n]
";

/// Functions, with the bytes that their gradients have to keep for each element.
const CASES: [(&str, f64); 2] = [("total", 8.0), ("walk", 16.0)];

fn main() {
    keep_heap();
    show(table());
}

fn table() -> Result<Table, Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    session.set_engine(EngineKind::Cranelift).map_err(|error| vec![error])?;
    session.run("scaling", PROGRAM)?;
    let mut table = Table::default();
    for (name, kept) in CASES {
        let callee = session.run("call", &format!("x -> gradient({name}, x)"))?;
        let mut before = None;
        for power in 3..=7 {
            let count = 10_usize.pow(power);
            let points = session.run("points", &format!("points({count})"))?;
            let (seconds, bytes) = measure(&mut session, &callee, &points, count)?;
            let (time, bytes) = (seconds * 1e9 / count as f64, bytes as f64 / count as f64);
            let note = format!("{bytes:.1} bytes at once, {kept} to be kept");
            table.add(format!("{name}, 10^{power}: an element"), time, "ns", Bound::None, note);
            if let Some(before) = before.replace(time) {
                let what = format!("{name}, 10^{power} beside 10^{}", power - 1);
                table.add_ratio(what, time / before, Bound::AtMost(SLACK), "");
            }
        }
    }
    Ok(table)
}

/// The least seconds of a call, and the most bytes that one takes.
fn measure(
    session: &mut Session,
    callee: &Val,
    points: &Val,
    count: usize,
) -> Result<(f64, usize), Vec<Diagnostic>> {
    let (mut seconds, mut bytes) = (f64::INFINITY, 0);
    for run in 0..(WORK / count).clamp(5, 1000) {
        let before = live_bytes();
        forget_peak();
        let start = Instant::now();
        session.call_value(callee, std::slice::from_ref(points))?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        // The first call makes the code.
        if run > 0 {
            bytes = bytes.max(peak_bytes() - before);
        }
    }
    Ok((seconds, bytes))
}
