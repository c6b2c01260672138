//! Measures calls from Rust to native code: nothing but the way in and out.
//!
//! `cargo bench -p regraft-bench --bench calls` prints nanoseconds per call, the least of many samples.

use std::hint::black_box;
use std::time::Instant;

use regraft_bench::table::{Bound, Table};
use regraft_dialects::context;
use regraft_exec::{EngineKind, Val};
use regraft_lang::Session;

const CALLS: u32 = 10_000;
const SAMPLES: usize = 100;

const PROGRAM: &str = "
    add(x, y) = x + y
    first(x) = @inbounds x[1]
    function swap!(x, y)
        @inbounds x[1], y[1] = y[1], x[1]
        return nothing
    end
    pair(x) = (x, 2x)
    newer(x) = x .* 2.0
    function total(x)
        s = 0.0
        for a in x
            s += a
        end
        return s
    end";

fn main() {
    let mut session = Session::new(&context());
    session.set_engine(EngineKind::Cranelift).expect("Cranelift runs on this machine");
    session.run("calls.jl", PROGRAM).expect("the program is right");
    let mut table = Table::default();
    let mut add = |what: &str, ns: f64, most: f64| {
        table.add(what, ns, "ns", Bound::AtMost(most), String::new());
    };
    let (mut x, mut y) = (vec![1.0; 8], vec![2.0; 8]);

    let f = session.compile::<fn(f64, f64) -> f64>("add").expect("it compiles");
    add("two numbers", least(|| f.call((black_box(1.0), 2.0)).is_ok()), 100.0);
    let f = session.compile::<fn(&[f64]) -> f64>("first").expect("it compiles");
    add("a slice", least(|| f.call((black_box(&x),)).is_ok()), 100.0);
    let f = session.compile::<fn(&mut [f64], &mut [f64])>("swap!").expect("it compiles");
    add("two slices that are written to", least(|| f.call((&mut x, &mut y)).is_ok()), 120.0);
    let f = session.compile::<fn(f64) -> (f64, f64)>("pair").expect("it compiles");
    add("a tuple as the result", least(|| f.call((black_box(1.0),)).is_ok()), 200.0);
    let f = session.compile::<fn(&[f64]) -> Vec<f64>>("newer").expect("it compiles");
    add("a vector of 8 as the result", least(|| f.call((black_box(&x),)).is_ok()), 400.0);

    let (x, mut dx) = (vec![1.0; 1000], vec![0.0; 1000]);
    let f = session.compile_gradient::<fn(&[f64]) -> f64>("total").expect("it has a gradient");
    let ns = least(|| f.call((black_box(&x),), (&mut dx,)).is_ok());
    add("value and gradient of a sum of 1000", ns, 3000.0);

    let args = [Val::F64(1.0), Val::F64(2.0)];
    let function = session.run("add", "add").expect("it is there");
    let ns = least(|| session.call_value(&function, black_box(&args)).is_ok());
    add("two values, by the session", ns, 300.0);
    println!("\n{table}");
}

/// The least time of a call, in nanoseconds.
fn least(mut call: impl FnMut() -> bool) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..SAMPLES {
        let start = Instant::now();
        for _ in 0..CALLS {
            assert!(black_box(call()), "the call fails");
        }
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    least
}
