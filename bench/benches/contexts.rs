//! The cost of contexts: nothing where they do nothing, the first call, hooks, a redefinition.
//!
//! `cargo bench -p regraft-bench --bench contexts` prints a table of medians beside the targets.

use std::fmt::Write;
use std::hint::black_box;

use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, median_seconds};
use regraft_dialects::context;
use regraft_exec::{Engine, Interpreter};
use regraft_lang::Session;

const RUNS: usize = 15;

/// Contexts, and programs with and without them.
const PROGRAM: &str = "
import Cassette
Cassette.@context Noop
Cassette.@context Inner
Cassette.@context Count
Cassette.prehook(c::Count, f, args...) = (c.metadata[] += 1; nothing)
poly(xs) = sum(map(x -> x^2 + 3x, xs))
noop(xs) = Cassette.overdub(Noop(), poly, xs)
nested(xs) = Cassette.overdub(Noop(), Cassette.overdub, Inner(), Cassette.overdub, Noop(), poly, xs)
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
noop_fib(n) = Cassette.overdub(Noop(), fib, n)
count_fib(n) = Cassette.overdub(Count(metadata = Ref(0)), fib, n)
xs = collect(1.0:1000.0)
";

fn main() {
    keep_heap();
    let mut table = Table::default();
    no_op(&mut table);
    first_call(&mut table);
    calls(&mut table);
    redefinition(&mut table);
    println!("\n{table}");
}

fn session() -> Session {
    let mut session = Session::new(&context());
    session.run("program.jl", PROGRAM).expect("the program is right");
    session
}

/// Optimized code in contexts that do nothing, beside the same without: instructions executed.
fn no_op(table: &mut Table) {
    let instructions = |call: &str| {
        let mut session = session();
        let module = session.optimized(call, None).expect("it is optimized");
        let name = module.functions().next().expect("there is an entry").name_str().to_owned();
        let mut interpreter = Interpreter::new(&module);
        let xs = session.value_of("xs").expect("it is a global");
        black_box(interpreter.call(&name, &[xs]).expect("it runs"));
        interpreter.instructions() as f64
    };
    let plain = instructions("poly([1.0])");
    for (what, call) in [("one", "noop([1.0])"), ("three nested", "nested([1.0])")] {
        let ratio = instructions(call) / plain;
        let what = format!("{what} no-op context, optimized, instructions executed");
        table.add_ratio(what, ratio, Bound::AtMost(1.0), "");
    }
}

/// The first call in a context, with the inference of all that it reaches.
fn first_call(table: &mut Table) {
    let call = |text: &'static str| {
        1e3 * median_seconds(RUNS, session, |mut session| {
            black_box(session.eval(text).expect("it runs"));
            session
        })
    };
    let plain = call("sum(map(x -> 2x + 1, xs))");
    let first = call("Cassette.overdub(Noop(), () -> sum(map(x -> 2x + 1, xs)))");
    table.add("first call of sum(map(f, x))", plain, "ms", Bound::None, "");
    table.add("the same, overdubbed", first, "ms", Bound::AtMost(5.0), "");
}

/// Recursive calls that are not optimized.
fn calls(table: &mut Table) {
    let call = |text: &'static str| {
        median_seconds(RUNS, session, |mut session| {
            black_box(session.eval(text).expect("it runs"));
            session
        })
    };
    let plain = call("fib(22)");
    for (what, text) in
        [("a no-op context", "noop_fib(22)"), ("a hook at each call", "count_fib(22)")]
    {
        let what = format!("fib(22) as it is inferred, {what}");
        table.add_ratio(what, call(text) / plain, Bound::None, "");
    }
}

/// A leaf that one of a thousand overdubbed functions reaches is defined anew.
fn redefinition(table: &mut Table) {
    const FUNCTIONS: usize = 1000;
    let prepared = || {
        let mut session = session();
        let mut text = String::from("leaf(x) = x + 1\nother(x) = x + 2\n");
        for i in 0..FUNCTIONS {
            let leaf = if i == 0 { "leaf" } else { "other" };
            let _ = writeln!(text, "f{i}(x) = {leaf}(x) * {i}");
            let _ = writeln!(text, "Cassette.overdub(Noop(), f{i}, 1.5)");
        }
        session.run("many.jl", &text).expect("the program is right");
        session
    };
    let before = prepared().function_names().len();
    let mut left = 0;
    let seconds = median_seconds(5, prepared, |mut session| {
        session.run("again.jl", "leaf(x) = x + 3").expect("the program is right");
        left = session.function_names().len();
        black_box(session.run("call.jl", "Cassette.overdub(Noop(), f0, 1.5)").expect("it runs"));
        session
    });
    let note = format!("{} of {before} functions dropped", before - left);
    table.add(
        "a leaf of one of 1,000 defined anew, and a call",
        seconds * 1e3,
        "ms",
        Bound::None,
        note,
    );
}
