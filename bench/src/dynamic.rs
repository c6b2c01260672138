//! Programs of which much is found out only while they run, and what their gradients cost.

use std::time::Instant;

use regraft_dialects::context;
use regraft_exec::Val;
use regraft_ir::Diagnostic;
use regraft_lang::Session;

use crate::table::median;

/// A call of a program in `dynamic.jl`.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    /// The function.
    pub function: &'static str,
    /// Its arguments, as text.
    pub args: &'static str,
    /// The most time that its gradient may take, in times of the function.
    pub most: f64,
}

const fn dynamic(function: &'static str, args: &'static str) -> Dynamic {
    Dynamic { function, args, most: 6.0 }
}

/// The programs, those with the most dynamic calls first.
pub const PROGRAMS: [Dynamic; 11] = [
    Dynamic { most: 10.0, ..dynamic("array_splat", "0.3") },
    Dynamic { most: 10.0, ..dynamic("array_splat_into_varargs", "0.3") },
    dynamic("captured_variable", "0.3"),
    dynamic("unstable_variable", "0.3"),
    dynamic("ref_of_any", "0.3"),
    dynamic("recursive_closure", "0.3"),
    dynamic("abstract_elements", "0.3"),
    dynamic("sorted_tuples", "[sin(1.0 * i) for i in 1:200]"),
    dynamic(
        "grammar",
        "[1 + i % 3 for i in 1:12], [0.1 * (1 + (a * w) % 5) for a in 1:4, w in 1:3], \
         [0.5, 0.4, 0.3, 0.6, 0.7, 0.2]",
    ),
    dynamic("polynomial_roots", "[0.5, -1.5, 0.25, 2.0, -0.75]"),
    dynamic("kalman", "0.1, 0.2, [sin(0.3 * i) for i in 1:200]"),
];

/// Times in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Of the function.
    pub function: f64,
    /// Of value and gradient.
    pub gradient: f64,
}

impl Dynamic {
    /// The medians of `runs` calls of the function and of its gradient in turn, after one of each
    /// in which everything is made.
    ///
    /// # Errors
    /// If the program is wrong, or something in it has no derivative.
    pub fn times(&self, runs: usize) -> Result<Times, Vec<Diagnostic>> {
        let mut session = Session::new(&context());
        session.run("dynamic.jl", include_str!("dynamic.jl"))?;
        let function = session.run("function", self.function)?;
        let gradient = session.run("gradient", "withgradient")?;
        let args = session.run("arguments", &format!("({},)", self.args))?;
        let args = args.as_fields().unwrap_or_default().to_vec();
        let all: Vec<Val> = std::iter::once(function.clone()).chain(args.iter().cloned()).collect();
        let mut time = |callee: &Val, args: &[Val]| {
            let start = Instant::now();
            session.call_value(callee, args).map(|_| start.elapsed().as_secs_f64())
        };
        time(&function, &args)?;
        time(&gradient, &all)?;
        let (mut plain, mut both) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            plain.push(time(&function, &args)?);
            both.push(time(&gradient, &all)?);
        }
        Ok(Times { function: median(&mut plain), gradient: median(&mut both) })
    }
}
