//! Measures the cost of gradients where types are known only when the program runs.
//!
//! `cargo bench -p regraft-bench --bench dynamic` prints, for each program in
//! `bench/src/dynamic.jl`, how much longer a call of its gradient takes than one of the function,
//! beside the targets: medians of calls in turn.
//!
//! The name of a program may follow, for that one alone.

use regraft_bench::dynamic::PROGRAMS;
use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table};
use regraft_ir::Diagnostic;

const RUNS: usize = 31;

fn main() {
    keep_heap();
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let mut table = Table::default();
    for program in &PROGRAMS {
        if wanted.as_deref().is_some_and(|wanted| wanted != program.function) {
            continue;
        }
        eprintln!("{}", program.function);
        match program.times(RUNS) {
            Ok(times) => {
                let note = format!("function: {:.3} ms", times.function * 1e3);
                let what = format!("{}, gradient / function", program.function);
                let ratio = times.gradient / times.function;
                table.add(what, ratio, "", Bound::AtMost(program.most), note);
            }
            Err(errors) => {
                let told: Vec<_> = errors.iter().map(Diagnostic::message).collect();
                eprintln!("{}: {}", program.function, told.join("\n"));
            }
        }
    }
    println!("\n{table}");
}
