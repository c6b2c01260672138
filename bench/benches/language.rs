//! The language at work: reading, lowering, inference, the start of the command, and programs and
//! dictionaries against CPython.
//!
//! `cargo bench -p regraft-bench --bench language` prints a table of medians beside the targets.
//! It runs `regraft` as it is published if that is there (`cargo build --profile dist`),
//! and `python3.11` or `python3` if there is one.

use std::cell::Cell;
use std::collections::HashMap;
use std::hint::black_box;
use std::process::Command;

use regraft_bench::julia::{
    DICTIONARY, FIB, LOOP, SPREAD, ordinary, python, python_dictionary, scalar,
};
use regraft_bench::memory::keep_heap;
use regraft_bench::published::published;
use regraft_bench::table::{Bound, Table, median_seconds};
use regraft_dialects::context;
use regraft_ir::Function;
use regraft_lang::definition::Space;
use regraft_lang::testing::{LowerOptions, lower};
use regraft_lang::{Entry, Session};
use regraft_syntax::julia::{Options, parse};

const RUNS: usize = 9;

/// Measures one part.
type Figures = fn(&mut Table);

fn main() {
    keep_heap();
    // `cargo bench --bench language -- text` measures one part alone.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let mut table = Table::default();
    let parts: [(&str, Figures); 5] = [
        ("text", text_figures),
        ("inference", inference_figures),
        ("start", start_figures),
        ("programs", program_figures),
        ("dictionaries", dictionary_figures),
    ];
    for (name, figures) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            figures(&mut table);
        }
    }
    println!("\n{table}");
}

fn text_figures(table: &mut Table) {
    let text = ordinary(100_000);
    let lines = text.lines().count() as f64 / 1e6;
    let reading =
        median_seconds(RUNS, context, |ctx| parse(&ctx, "ordinary.jl", &text, Options::default()));
    let both = median_seconds(RUNS, context, |ctx| {
        let parsed = parse(&ctx, "ordinary.jl", &text, Options::default());
        let counter = Cell::new(0);
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space: Space::Main,
            counter: &counter,
        };
        let items = lower(&ctx, &parsed.ast, &options).expect("the program is right");
        (parsed, items)
    });
    table.add("parse", lines / reading, "M lines/s", Bound::None, "");
    table.add("parse and lower", lines / both, "M lines/s", Bound::AtLeast(1.0), "");
}

fn inference_figures(table: &mut Table) {
    let text = scalar(3000);
    let mut count = 0;
    let seconds = median_seconds(
        5,
        || {
            let mut session = Session::new(&context());
            session.run("scalar.jl", &text).expect("the program is right");
            session
        },
        |mut session| {
            let module = session.typed(Entry::Types("main(Float64, Int64)"));
            count = module.expect("it has types").functions().map(Function::inst_count).sum();
            session
        },
    );
    let rate = count as f64 / seconds / 1e6;
    let note = format!("{count} typed instructions, to a module");
    table.add("specialise, infer, emit", rate, "M/s", Bound::AtLeast(1.0), note);
}

fn start_figures(table: &mut Table) {
    let loading = median_seconds(RUNS, context, |ctx| Session::new(&ctx));
    table.add("load the prelude", loading * 1e3, "ms", Bound::AtMost(10.0), "");
    let Some(command) = published() else { return };
    let file = std::env::temp_dir().join(format!("regraft-bench-{}.jl", std::process::id()));
    std::fs::write(&file, "println(1 + 1)\n").expect("there is a folder for temporary files");
    let start = median_seconds(
        21,
        || (),
        |()| Command::new(&command).arg("run").arg(&file).output().expect("it runs"),
    );
    std::fs::write(&file, "").expect("there is a folder for temporary files");
    let empty = median_seconds(
        21,
        || (),
        |()| Command::new(&command).arg("run").arg(&file).output().expect("it runs"),
    );
    let bare = median_seconds(
        21,
        || (),
        |()| Command::new(&command).arg("--version").output().expect("it runs"),
    );
    // Nothing is lost if it stays.
    let _ = std::fs::remove_file(&file);
    table.add("`regraft run` of an empty file", empty * 1e3, "ms", Bound::AtMost(4.0), "");
    let note = format!("of which {:.1} ms are those of `regraft --version`", bare * 1e3);
    table.add("`regraft run` of one line", start * 1e3, "ms", Bound::AtMost(5.0), note);
}

fn program_figures(table: &mut Table) {
    const TRIPS: i64 = 100_000_000;
    let seconds = |program: &str, call: &str| {
        let mut session = Session::new(&context());
        let mut limits = session.limits();
        limits.fuel = None;
        session.set_limits(limits);
        session.run("program.jl", program).expect("the program is right");
        median_seconds(3, || (), |()| black_box(session.run("call.jl", call)).is_ok())
    };
    let fib = seconds(FIB, "fib(30)");
    let count = seconds(LOOP, &format!("count({TRIPS})"));
    let peer = cpython(&python(TRIPS));
    for (what, ours, theirs) in [
        ("fib(30)", fib, peer.map(|(fib, _)| fib)),
        ("a loop of 10⁸ trips", count, peer.map(|(_, count)| count)),
    ] {
        table.add(what, ours * 1e3, "ms", Bound::None, "");
        if let Some(theirs) = theirs {
            let note = format!("CPython {:.0} ms", theirs * 1e3);
            table.add(
                format!("{what}, times faster than CPython"),
                theirs / ours,
                "",
                Bound::AtLeast(2.0),
                note,
            );
        }
    }
}

/// Fills a dictionary and looks everything up. Beside it stand three times what a `HashMap` takes,
/// and the calls that each of the two makes in the interpreter, at the cost of a call of `fib`.
fn dictionary_figures(table: &mut Table) {
    const ENTRIES: i64 = 1_000_000;
    let mut session = Session::new(&context());
    session.run("dictionary.jl", DICTIONARY).expect("the program is right");
    let mut seconds =
        |call: &str| median_seconds(3, || (), |()| session.run("call.jl", call).is_ok());
    let call = seconds("fib(25)") / 242_785.0;
    let filled = seconds(&format!("d = filled({ENTRIES})"));
    let found = seconds(&format!("total(d, {ENTRIES})"));
    let mut map = HashMap::new();
    let rust_filled = median_seconds(
        3,
        || (),
        |()| map = (1..=ENTRIES).map(|i| (i * SPREAD, i)).collect::<HashMap<i64, i64>>(),
    );
    let rust_found =
        median_seconds(3, || (), |()| (1..=ENTRIES).map(|i| map[&(i * SPREAD)]).sum::<i64>());
    let peer = cpython(&python_dictionary(ENTRIES));
    let nanoseconds = |seconds: f64| seconds / ENTRIES as f64 * 1e9;
    for (what, ours, rust, calls, theirs) in [
        ("insert", filled, rust_filled, 3.0, peer.map(|(filled, _)| filled)),
        ("look up", found, rust_found, 2.0, peer.map(|(_, found)| found)),
    ] {
        let note = format!(
            "`HashMap` {:.0} ns, {calls} calls of {:.0} ns{}",
            nanoseconds(rust),
            call * 1e9,
            theirs.map_or(String::new(), |s| format!("; CPython {:.0} ns", nanoseconds(s)))
        );
        let bound = 3.0 * nanoseconds(rust) + calls * call * 1e9;
        let what = format!("{what} in a `Dict{{Int, Int}}` of 10⁶");
        table.add(what, nanoseconds(ours), "ns", Bound::AtMost(bound.round()), note);
    }
}

/// The seconds that CPython takes for two programs, which it prints.
fn cpython(program: &str) -> Option<(f64, f64)> {
    let output = ["python3.11", "python3"].iter().find_map(|name| {
        let output = Command::new(name).arg("-c").arg(program).output().ok()?;
        output.status.success().then_some(output.stdout)
    });
    let Some(output) = output else {
        println!("CPython is not compared: there is no `python3`");
        return None;
    };
    let text = String::from_utf8(output).ok()?;
    let mut figures = text.split_whitespace().map(str::parse);
    Some((figures.next()?.ok()?, figures.next()?.ok()?))
}
