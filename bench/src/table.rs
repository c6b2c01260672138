//! Figures beside their targets, as a Markdown table.

use std::fmt;
use std::time::Instant;

use regraft_ir::Diagnostic;

/// The direction in which a figure is better.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// At least this much is wanted.
    AtLeast(f64),
    /// At most this much is wanted.
    AtMost(f64),
    /// Nothing is wanted in particular.
    None,
}

#[derive(Clone, Debug)]
struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    bound: Bound,
    note: String,
    /// The digits behind the point.
    digits: usize,
}

/// A table of figures.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a figure with its unit, its target, and what peers have.
    pub fn add(
        &mut self,
        what: impl Into<String>,
        figure: f64,
        unit: &'static str,
        bound: Bound,
        note: impl Into<String>,
    ) {
        let (what, note) = (what.into(), note.into());
        self.rows.push(Row { what, figure, unit, bound, note, digits: 2 });
    }

    /// Adds a ratio, of which one digit more is shown.
    pub fn add_ratio(
        &mut self,
        what: impl Into<String>,
        figure: f64,
        bound: Bound,
        note: impl Into<String>,
    ) {
        let (what, note) = (what.into(), note.into());
        self.rows.push(Row { what, figure, unit: "", bound, note, digits: 3 });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | figure | target | met | peers |\n|---|---:|---:|---|---|")?;
        for Row { what, figure, unit, bound, note, digits } in &self.rows {
            let (target, met) = match *bound {
                Bound::AtLeast(least) => (format!("≥ {least}"), Some(*figure >= least)),
                Bound::AtMost(most) => (format!("≤ {most}"), Some(*figure <= most)),
                Bound::None => (String::new(), None),
            };
            let met = met.map_or("", |met| if met { "yes" } else { "NO" });
            let figure = format!("{figure:.digits$} {unit}");
            writeln!(f, "| {what} | {} | {target} | {met} | {note} |", figure.trim_end())?;
        }
        Ok(())
    }
}

/// The median time of `runs` runs of `work` in seconds, each on a fresh `setup`.
pub fn median_seconds<T, R>(
    runs: usize,
    mut setup: impl FnMut() -> T,
    mut work: impl FnMut(T) -> R,
) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let input = setup();
            let start = Instant::now();
            let output = work(input);
            let time = start.elapsed().as_secs_f64();
            drop(output);
            time
        })
        .collect();
    median(&mut times)
}

/// The median times of `runs` runs each of two pieces of work in turn, in seconds.
pub fn paired_seconds<R, S>(
    runs: usize,
    mut first: impl FnMut() -> R,
    mut second: impl FnMut() -> S,
) -> (f64, f64) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..runs {
        times.0.push(median_seconds(1, || (), |()| first()));
        times.1.push(median_seconds(1, || (), |()| second()));
    }
    (median(&mut times.0), median(&mut times.1))
}

/// The median of some times, which are left in order; of an even number, the upper one.
///
/// # Panics
/// If there are none.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints a table, or why there is none.
pub fn show(table: Result<Table, Vec<Diagnostic>>) {
    match table {
        Ok(table) => println!("\n{table}"),
        Err(errors) => {
            let told: Vec<_> = errors.iter().map(Diagnostic::message).collect();
            eprintln!("{}", told.join("\n"));
        }
    }
}
