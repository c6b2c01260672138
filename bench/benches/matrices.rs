//! Measures products and factorisations of dense matrices in scripts.
//!
//! `cargo bench -p regraft-bench --bench matrices` prints how much longer a product of two matrices takes in
//! a script than one by the library that it is computed with, called from Rust: medians of calls in turn. It
//! also prints what gradients and factorisations cost, in times of a product.

use std::time::Instant;

use nalgebra::DMatrix;
use regraft_bench::memory::keep_heap;
use regraft_bench::table::{Bound, Table, median, show};
use regraft_dialects::context;
use regraft_exec::Val;
use regraft_exec::value::Array;
use regraft_ir::Diagnostic;
use regraft_lang::Session;

const SIZE: usize = 512;
const RUNS: usize = 21;

/// The most time that a product in a script may take, in times of one by the library.
const TARGET: f64 = 1.3;

/// Other work on the same matrices.
const OTHERS: [(&str, &str); 8] = [
    ("gradient of a product", "(a, b) -> gradient(x -> sum(x * b), a)[1]"),
    ("transposed product", "(a, b) -> a' * b"),
    ("product into a matrix", "(a, b) -> mul!(copy(b), a, b)"),
    ("solution", "(a, b) -> a \\ b"),
    ("lu", "(a, b) -> lu(a)"),
    ("cholesky", "(a, b) -> cholesky(a * a')"),
    ("qr", "(a, b) -> qr(a)"),
    ("eigen, symmetric", "(a, b) -> eigvals(Symmetric(a))"),
];

fn main() {
    keep_heap();
    show(table());
}

fn table() -> Result<Table, Vec<Diagnostic>> {
    let (a, b) = (numbers(1), numbers(2));
    let args: Vec<Val> = [&a, &b].map(array).to_vec();
    let mut session = Session::new(&context());
    let script = session.run("script", "(a, b) -> a * b")?;
    let mut time = |callee: &Val| {
        let start = Instant::now();
        session.call_value(callee, &args).map(|_| start.elapsed().as_secs_f64())
    };
    time(&script)?;
    let (mut scripted, mut direct) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        scripted.push(time(&script)?);
        let start = Instant::now();
        let product = std::hint::black_box(&a * &b);
        direct.push(start.elapsed().as_secs_f64());
        drop(product);
    }
    let (scripted, direct) = (median(&mut scripted), median(&mut direct));
    let mut table = Table::default();
    let note = format!("nalgebra: {:.2} ms", direct * 1e3);
    let what = format!("product of {SIZE}³ in a script / in Rust");
    table.add_ratio(what, scripted / direct, Bound::AtMost(TARGET), note);
    for (name, text) in OTHERS {
        let callee = session.run("other", text)?;
        let mut times = Vec::new();
        for _ in 0..=3 {
            let start = Instant::now();
            session.call_value(&callee, &args)?;
            times.push(start.elapsed().as_secs_f64());
        }
        // The first call makes the code.
        let once = median(&mut times[1..].to_vec());
        let note = format!("{:.2} ms", once * 1e3);
        table.add(format!("{name} / product"), once / scripted, "", Bound::None, note);
    }
    Ok(table)
}

/// A matrix of numbers between -1 and 1, larger on the diagonal.
fn numbers(seed: usize) -> DMatrix<f64> {
    DMatrix::from_fn(SIZE, SIZE, |i, j| {
        let diagonal = if i == j { 30.0 } else { 0.0 };
        ((i * 31 + j * 17 + seed * 7) as f64).sin() + diagonal
    })
}

fn array(of: &DMatrix<f64>) -> Val {
    Array::of(of.as_slice(), &[SIZE, SIZE]).expect("the length is that of the elements").into()
}
