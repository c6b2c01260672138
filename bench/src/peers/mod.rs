//! Gradients of the cases that automatic differentiation is compared by, timed with each engine.
//!
//! A case is timed as the field does it: the gradient alone, again and again on the same data, into shadows that are
//! there; each sample repeats the call until it takes a millisecond, and the figure is the median. By the session, shadows are
//! made by the call, in memory that the one before it has left. A line of JSON for each figure joins those of other systems.

mod cases;
mod typed;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use regraft_dialects::context;
use regraft_exec::{EngineKind, Pool, PreparedCall, Val};
use regraft_ir::{Diagnostic, Module};
use regraft_lang::{GradientCall, Mode, Session};
use regraft_passes::rewrite::Math;
use serde_json::json;

use crate::adjoints::Program;

pub use cases::{CASES, Case};
pub use typed::Shape;

/// The samples of a figure, and of one that takes long.
const SAMPLES: usize = 41;
const FEW_SAMPLES: usize = 9;

/// The time of a gradient.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The case.
    pub case: &'static str,
    /// The engine.
    pub engine: EngineKind,
    /// The median, in nanoseconds.
    pub median: f64,
    /// The least, in nanoseconds.
    pub least: f64,
}

impl Figure {
    /// The line that joins a table of several systems.
    pub fn json(&self) -> String {
        let Self { case, engine, median, least } = self;
        let system = format!("regraft-{}", engine.name());
        json!({ "case": case, "system": system, "kind": "grad", "ns": median, "min": least })
            .to_string()
    }
}

/// The way in which a gradient is made and called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caller {
    /// As a function of Rust, with shadows that are there.
    Rust,
    /// By values of the session.
    Session,
}

/// Times the gradient of a case with an engine, by an algebra of floats, made for the lengths of its arguments if so asked.
///
/// # Errors
/// If the program is wrong, or there is no such engine for this machine.
pub fn measure(
    case: &Case,
    engine: EngineKind,
    math: Math,
    caller: Caller,
    for_lengths: bool,
) -> Result<Figure, Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    case.program.load(&mut session)?;
    session.set_engine(engine).map_err(|error| vec![error])?;
    session.set_math(math);
    if caller == Caller::Rust {
        let text = format!("({},)", case.program.args);
        let args = session.run("arguments", &text)?;
        let fields = args.as_fields().unwrap_or_default();
        let args: Vec<Val> =
            fields.iter().filter(|arg| matches!(arg, Val::Array(_))).cloned().collect();
        let (function, shape) = case.typed;
        let mut run = typed::prepare(&mut session, shape, function, &args, for_lengths)?;
        return time(case.name, engine, || run().map_err(|error| vec![error]));
    }
    session.set_for_lengths(for_lengths);
    let (module, callee, args) = call_by_values(&mut session, case)?;
    session.with_interpreter(&module, |interpreter| {
        let mut pool = Pool::default();
        let mut site = PreparedCall::default();
        let run = || {
            let result = pool.run(|| interpreter.call_prepared(&mut site, &callee, &args));
            black_box(result.map_err(|error| vec![error.to_diagnostic()])?);
            Ok(())
        };
        time(case.name, engine, run)
    })
}

/// The functions of a gradient, and the call that gives it.
fn call_by_values(
    session: &mut Session,
    case: &Case,
) -> Result<(Module, Val, Vec<Val>), Vec<Diagnostic>> {
    let Program { function, args, .. } = case.program;
    let text = format!("{function}({args})");
    if let (_, Shape::Jacobian) = case.typed {
        // They are evaluated once: each closure has a type of its own.
        let callee = session.run("function", &format!("jacobian = {function}"))?;
        let args = session.run("arguments", &format!("arguments = ({args},)"))?;
        let module = session.optimized_for_native("jacobian(arguments...)", None)?;
        return Ok((module, callee, args.as_fields().unwrap_or_default().to_vec()));
    }
    let GradientCall { module, callee, args } =
        session.gradient_alone_call(&text, Mode::Reverse)?;
    Ok((module, callee, args.to_vec()))
}

/// Times what runs again and again.
fn time(
    case: &'static str,
    engine: EngineKind,
    mut run: impl FnMut() -> Result<(), Vec<Diagnostic>>,
) -> Result<Figure, Vec<Diagnostic>> {
    let mut repeats = 1u32;
    let mut time = |repeats: u32| {
        let start = Instant::now();
        for _ in 0..repeats {
            run()?;
        }
        Ok::<_, Vec<Diagnostic>>(start.elapsed().as_nanos() as f64)
    };
    let last = loop {
        let taken = time(repeats)?;
        if taken > 1e6 {
            break taken;
        }
        repeats *= 2;
    };
    let count = if last > 2e8 { FEW_SAMPLES } else { SAMPLES };
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        samples.push(time(repeats)? / f64::from(repeats));
    }
    samples.sort_unstable_by(f64::total_cmp);
    Ok(Figure { case, engine, median: samples[count / 2], least: samples[0] })
}

/// The figures as a table: a row for each case, a column for each engine.
pub fn table(figures: &[Figure], engines: &[EngineKind]) -> String {
    let mut out = format!("{:<12}", "ns");
    for engine in engines {
        let _ = write!(out, "{:>14}", engine.name());
    }
    out.push('\n');
    for case in CASES {
        let of_case: Vec<&Figure> = figures.iter().filter(|f| f.case == case.name).collect();
        if of_case.is_empty() {
            continue;
        }
        let _ = write!(out, "{:<12}", case.name);
        for engine in engines {
            match of_case.iter().find(|figure| figure.engine == *engine) {
                Some(figure) => drop(write!(out, "{:>14.0}", figure.median)),
                None => drop(write!(out, "{:>14}", "-")),
            }
        }
        out.push('\n');
    }
    out
}
