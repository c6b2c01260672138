//! Measures native code of calls and of scalar loops beside C.
//!
//! `cargo bench -p regraft-bench --bench scalar` prints how much longer the programs in `bench/c/scalar.c` take in our language, with
//! Cranelift and with LLVM, than by each compiler of C on this machine with `-O1`: medians of calls in turn. Cranelift is to take
//! at most 1.5 times as long. Each result is compared with that of C first.

#![allow(unsafe_code, reason = "C is called by its addresses")]

use std::hint::black_box;
use std::path::Path;

use libloading::Library;
use regraft_bench::c_library::{compile, compilers};
use regraft_bench::table::{Bound, Table, paired_seconds, show};
use regraft_dialects::context;
use regraft_exec::typed::Output;
use regraft_exec::{EngineKind, Interpreter, Limits};
use regraft_ir::{Diagnostic, Module};
use regraft_lang::Session;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c/scalar.c");

const PROGRAMS: &str = "
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

function hash(n)
    h = 1469598103934665603
    for i in 1:n
        h = xor(h, i) * 1099511628211
    end
    return h
end

function logistic(n)
    x = 0.5
    for i in 1:n
        x = 3.75 * x * (1.0 - x)
    end
    return x
end

function collatz(n)
    steps = 0
    for i in 1:n
        k = i
        while k != 1
            k = k % 2 == 0 ? div(k, 2) : 3k + 1
            steps += 1
        end
    end
    return steps
end";

const RUNS: usize = 7;

fn main() {
    show(figures());
}

fn figures() -> Result<Table, Vec<Diagnostic>> {
    let mut table = Table::default();
    for compiler in compilers() {
        let library =
            compile(compiler, Path::new(SOURCE), &["-O1"]).map_err(|error| vec![error])?;
        for engine in [EngineKind::Cranelift, EngineKind::Llvm] {
            if let Err(error) = Interpreter::new(&Module::new(&context())).set_engine(engine) {
                println!("{} is not measured: {error}", engine.name());
                continue;
            }
            let mut beside = Beside { compiler, library: &library, engine, table: &mut table };
            beside.add::<i64>("fib", 30)?;
            beside.add::<i64>("hash", 100_000_000)?;
            beside.add::<f64>("logistic", 100_000_000)?;
            beside.add::<i64>("collatz", 300_000)?;
        }
    }
    Ok(table)
}

struct Beside<'a> {
    compiler: &'static str,
    library: &'a Library,
    engine: EngineKind,
    table: &'a mut Table,
}

impl Beside<'_> {
    /// Adds the figure of a function of the programs.
    fn add<R: Output + PartialEq>(&mut self, name: &str, n: i64) -> Result<(), Vec<Diagnostic>> {
        let Self { compiler, library, engine, .. } = self;
        eprintln!("{name}({n}), {}, beside {compiler}", engine.name());
        let wrong = |error: String| vec![Diagnostic::error(error)];
        // SAFETY: the functions of the source are of this type.
        let theirs = unsafe { library.get::<unsafe extern "C" fn(i64) -> R>(name) };
        let theirs = theirs.map_err(|error| wrong(error.to_string()))?;
        let mut session = Session::new(&context());
        session.set_engine(*engine).map_err(|error| vec![error])?;
        session.set_limits(Limits { fuel: None, ..session.limits() });
        session.run("scalar.jl", PROGRAMS)?;
        let ours = session.compile::<fn(i64) -> R>(name)?;
        // SAFETY: it is called as it was declared.
        let call_theirs = || black_box(unsafe { theirs(black_box(n)) });
        let call_ours = || black_box(ours.call((black_box(n),)));
        if call_ours().map_err(|error| vec![error])? != call_theirs() {
            return Err(wrong(format!("{name} differs from that of C")));
        }
        let (ours, theirs) = paired_seconds(RUNS, || call_ours().is_ok(), call_theirs);
        let note = format!("{:.1} ms, {compiler} {:.1} ms", ours * 1e3, theirs * 1e3);
        let most = if *engine == EngineKind::Cranelift { Bound::AtMost(1.5) } else { Bound::None };
        let what = format!("{name}({n}), {} / {compiler} -O1", engine.name());
        self.table.add(what, ours / theirs, "", most, note);
        Ok(())
    }
}
