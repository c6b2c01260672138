//! Gradients of the cases that automatic differentiation is compared by, timed with each engine.
//!
//! A case is timed as the field does it: the gradient alone, accumulated into shadows that the caller
//! made, again and again on the same data; each sample repeats the call until it takes a millisecond,
//! and the figure is the median. A line of JSON for each figure joins those of other systems.

mod cases;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use regraft_ad::PlanKind;
use regraft_exec::EngineKind;
use regraft_ir::Diagnostic;
use serde_json::json;

use crate::adjoints::Adjoint;
pub use cases::{CASES, Case};

/// What runs on a function before it is differentiated.
const PREPARE: &str = "inline, fix{max=2}(sccp, specialize-getfield, simplify-cfg, sroa, gvn, dce), \
                       bounds-elim, licm, indvars, dce, simplify-cfg";

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

/// Times the gradient of a case with an engine. `pipeline` runs on the derivative.
///
/// # Errors
/// If the program is wrong, or there is no such engine for this machine.
pub fn measure(case: &Case, engine: EngineKind, pipeline: &str) -> Result<Figure, Vec<Diagnostic>> {
    let adjoint = Adjoint::new(&case.program, PlanKind::Best, PREPARE)?;
    let mut gradient = adjoint.gradient_alone(engine, pipeline)?;
    let mut run = || {
        let result = gradient.run();
        black_box(result.expect("the program works"));
    };
    let mut repeats = 1u32;
    let mut time = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| run());
        start.elapsed().as_nanos() as f64
    };
    let last = loop {
        let taken = time(repeats);
        if taken > 1e6 {
            break taken;
        }
        repeats *= 2;
    };
    let count = if last > 2e8 { FEW_SAMPLES } else { SAMPLES };
    let mut samples: Vec<f64> = (0..count).map(|_| time(repeats) / f64::from(repeats)).collect();
    samples.sort_unstable_by(f64::total_cmp);
    Ok(Figure { case: case.name, engine, median: samples[count / 2], least: samples[0] })
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
