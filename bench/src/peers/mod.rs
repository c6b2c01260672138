//! Gradients of the cases that automatic differentiation is compared by, timed with each engine.
//!
//! A case is timed as the field does it: the gradient alone, again and again on the same data, into shadows that are
//! there; each sample repeats the call until it takes a millisecond, and the figure is the median. By the session, shadows are
//! made by the call, in memory that the one before it has left. A line of JSON for each figure joins those of other systems.
//! Beside them stand adjoints that were written by hand in C, where there is a compiler of C.

mod baseline;
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
use crate::table::{Bound, Table};

pub use baseline::{Baseline, PreparedBaseline};
pub use cases::{CASES, Case, Target};
pub use typed::Shape;

/// The samples of a figure, and of one that takes long.
const SAMPLES: usize = 41;
const FEW_SAMPLES: usize = 9;

/// The time of a gradient.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The case.
    pub case: &'static str,
    /// The system that computes it.
    pub system: System,
    /// The median, in nanoseconds.
    pub median: f64,
    /// The least, in nanoseconds.
    pub least: f64,
}

impl Figure {
    /// The line that joins a table of several systems.
    pub fn json(&self) -> String {
        let Self { case, system, median, least } = self;
        let system = match system {
            System::Regraft(engine) => format!("regraft-{}", engine.name()),
            System::C(compiler) => format!("c-{compiler}"),
        };
        json!({ "case": case, "system": system, "kind": "grad", "ns": median, "min": least })
            .to_string()
    }
}

/// A system that computes gradients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// An engine of ours.
    Regraft(EngineKind),
    /// A compiler of C, for adjoints that were written by hand.
    C(&'static str),
}

impl System {
    /// The name of the engine or the compiler.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regraft(engine) => engine.name(),
            Self::C(compiler) => compiler,
        }
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
        let args = arrays(&mut session, case)?;
        let (function, shape) = case.typed;
        let mut run = typed::prepare(&mut session, shape, function, &args, for_lengths)?;
        return time(case.name, System::Regraft(engine), || run().map_err(|error| vec![error]));
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
        time(case.name, System::Regraft(engine), run)
    })
}

/// Times the gradient of a case that was written by hand.
///
/// # Errors
/// If the program of the case is wrong.
pub fn measure_baseline(case: &Case, baseline: &Baseline) -> Result<Figure, Vec<Diagnostic>> {
    let mut session = Session::new(&context());
    case.program.load(&mut session)?;
    let mut prepared = baseline.prepare(case, &arrays(&mut session, case)?)?;
    let run = || {
        prepared.run();
        Ok(())
    };
    time(case.name, System::C(baseline.compiler), run)
}

/// The arrays among the arguments of a case.
///
/// # Errors
/// If they cannot be computed.
pub fn arrays(session: &mut Session, case: &Case) -> Result<Vec<Val>, Vec<Diagnostic>> {
    let args = session.run("arguments", &format!("({},)", case.program.args))?;
    let fields = args.as_fields().unwrap_or_default();
    Ok(fields.iter().filter(|arg| matches!(arg, Val::Array(_))).cloned().collect())
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
    system: System,
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
    Ok(Figure { case, system, median: samples[count / 2], least: samples[0] })
}

/// The figures as a table: a row for each case, a column for each system.
pub fn table(figures: &[Figure], systems: &[System]) -> String {
    let mut out = format!("{:<12}", "ns");
    for system in systems {
        let _ = write!(out, "{:>14}", system.name());
    }
    out.push('\n');
    for case in CASES {
        let mut of_case = figures.iter().filter(|figure| figure.case == case.name).peekable();
        if of_case.peek().is_none() {
            continue;
        }
        let _ = write!(out, "{:<12}", case.name);
        for system in systems {
            match of_case.clone().find(|figure| figure.system == *system) {
                Some(figure) => drop(write!(out, "{:>14.0}", figure.median)),
                None => drop(write!(out, "{:>14}", "-")),
            }
        }
        out.push('\n');
    }
    out
}

/// The figures of our engines, times the best one by C, beside what is asked. What is asked to be 1 is met within a twentieth.
pub fn ratios(figures: &[Figure], math: Math) -> Table {
    let mut table = Table::default();
    for case in CASES {
        let of_case = || figures.iter().filter(|figure| figure.case == case.name);
        let by_c = of_case().filter(|figure| matches!(figure.system, System::C(_)));
        let Some(best) = by_c.min_by(|a, b| a.median.total_cmp(&b.median)) else { continue };
        for figure in of_case() {
            let System::Regraft(engine) = figure.system else { continue };
            let bound = match case.target.of(engine, math) {
                Some(1.0) => Bound::AtMost(1.05),
                Some(most) => Bound::AtMost(most),
                None => Bound::None,
            };
            let what = format!("{}, {} / {}", case.name, engine.name(), best.system.name());
            table.add_ratio(what, figure.median / best.median, bound, "");
        }
    }
    table
}
