//! The cost of the profiler: a program of small functions without it, with sums, with a log.
//!
//! `cargo bench -p regraft-bench --bench profiler` prints a table of medians beside the targets.

use std::hint::black_box;

use regraft_bench::julia::FIB;
use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, median_seconds};
use regraft_dialects::context;
use regraft_exec::ProfilerOptions;
use regraft_lang::{ProfileOptions, Session};

const RUNS: usize = 9;

/// 2.7 million calls, of some 17 ns each.
const CALL: &str = "fib(30)";
const CALLS: f64 = 2_692_537.0;

fn main() {
    keep_heap();
    let mut table = Table::default();
    let plain = median_seconds(RUNS, session, |mut session| {
        black_box(session.eval(CALL).expect("it runs"));
        session
    });
    table.add("fib(30) in the interpreter", plain * 1e3, "ms", Bound::None, "");
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
            let (value, profile) = session.profile(CALL, ProfileOptions { keep, ops: false });
            black_box(value.expect("it runs"));
            subtracted = profile.overhead.inside + profile.overhead.outside;
            lost = profile.lost_events + profile.lost_stamps;
            session
        });
        let more = (seconds - plain) / CALLS * 1e9;
        let note = format!("{more:.0} ns a call more, {subtracted:.0} subtracted; {lost} lost");
        table.add_ratio(format!("the same, {what}"), seconds / plain, bound, note);
    }
    println!("\n{table}");
}

fn session() -> Session {
    let mut session = Session::new(&context());
    session.run("fib.jl", FIB).expect("the program is right");
    session
}
