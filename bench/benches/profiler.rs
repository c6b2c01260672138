//! The cost of the profiler: programs of small functions without it, with sums, with a log.
//!
//! `cargo bench -p regraft-bench --bench profiler` prints a table of medians beside the targets.

use std::hint::black_box;

use regraft_bench::julia::{FIB, STEPS};
use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, median_seconds};
use regraft_dialects::context;
use regraft_exec::ProfilerOptions;
use regraft_lang::{ProfileOptions, Session};

const RUNS: usize = 9;

/// Programs, with their calls in millions: recursion of one function, and functions that call others.
const PROGRAMS: [(&str, &str, f64); 2] =
    [("fib(30)", FIB, 2.692_537), ("steps(900_000)", STEPS, 2.7)];

fn main() {
    keep_heap();
    let mut table = Table::default();
    for (call, program, millions) in PROGRAMS {
        figures(&mut table, call, program, millions);
    }
    println!("\n{table}");
}

fn figures(table: &mut Table, call: &str, program: &str, millions: f64) {
    let session = || {
        let mut session = Session::new(&context());
        session.run("program.jl", program).expect("the program is right");
        session
    };
    let plain = median_seconds(RUNS, session, |mut session| {
        black_box(session.eval(call).expect("it runs"));
        session
    });
    table.add(format!("{call} in the interpreter"), plain * 1e3, "ms", Bound::None, "");
    let log = ProfilerOptions { log: Some(1 << 23), sums: None };
    let both = ProfilerOptions { sums: ProfilerOptions::SUM.sums, ..log };
    let kinds = [
        ("recorded as sums", ProfilerOptions::SUM, Bound::AtMost(3.0)),
        ("recorded as a log", log, Bound::None),
        ("recorded as both", both, Bound::None),
    ];
    for (what, keep, bound) in kinds {
        let (mut subtracted, mut lost) = (0.0, 0);
        let seconds = median_seconds(RUNS, session, |mut session| {
            let (value, profile) = session.profile(call, ProfileOptions { keep, ops: false });
            black_box(value.expect("it runs"));
            subtracted = profile.subtracted() / profile.events as f64;
            lost = profile.lost_events + profile.lost_stamps;
            session
        });
        let more = (seconds - plain) / millions * 1e3;
        let note = format!("{more:.0} ns a call more, {subtracted:.0} subtracted; {lost} lost");
        table.add_ratio(format!("the same, {what}"), seconds / plain, bound, note);
    }
}
