//! The report of a run of a pipeline: times, statistics, text, warnings.

use std::fmt::Write;
use std::time::Duration;

use indexmap::IndexMap;
use regraft_ir::{Diagnostic, Value};

use crate::pipeline::Pipeline;

/// The report of a run of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One entry for each pass of the pipeline, in the order of the text.
    pub passes: Vec<PassReport>,
    /// The output of observers and passes, unless [`RunOptions::writer`](crate::RunOptions)
    /// took it.
    pub text: String,
    /// Warnings: nothing failed.
    pub warnings: Vec<Diagnostic>,
    /// The reasons why values were replaced, if [they were asked for](crate::RunOptions::explain).
    pub explanations: Vec<Explanation>,
    /// The wall time of the run.
    pub wall: Duration,
    /// The time that the manager took for copies to restore from, over all threads.
    pub copying: Duration,
    /// The time that observers took (the verifier is one), over all threads.
    pub observing: Duration,
    /// The number of analyses computed.
    pub analyses_computed: u64,
    /// The number of times that a cached analysis was given out.
    pub analyses_reused: u64,
    /// The number of times that a `fix` reached its limit while its passes still changed something.
    pub unsettled: u64,
    /// The execution that an observer did not let run, ending the pipeline.
    pub stopped: Option<Stopped>,
}

/// The reason why a pass replaced a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The pass.
    pub pass: String,
    /// The function that the value is in; empty if the pass did not say.
    pub function: String,
    /// The value.
    pub value: Value,
    /// The old instruction, and under it what it became in each step, with the reason.
    pub text: String,
}

/// The place where a pipeline was ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The last execution that ran, as `pass on @function`.
    pub last: Option<String>,
    /// The one that was not run any more.
    pub next: String,
}

/// The report of one pass of a pipeline, over all functions and repetitions.
#[derive(Clone, Debug, Default)]
pub struct PassReport {
    /// The pass with its options, as in the pipeline text.
    pub pass: String,
    /// The number of runs.
    pub calls: u64,
    /// The number of runs that changed something.
    pub changed: u64,
    /// The time that it took, over all threads.
    pub time: Duration,
    /// Its statistics.
    pub counts: IndexMap<&'static str, u64>,
}

impl PassReport {
    /// The report of one call.
    pub(crate) fn of_call(
        changed: bool,
        time: Duration,
        counts: IndexMap<&'static str, u64>,
    ) -> Self {
        Self { pass: String::new(), calls: 1, changed: changed.into(), time, counts }
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        self.calls += other.calls;
        self.changed += other.changed;
        self.time += other.time;
        for (&what, &n) in &other.counts {
            *self.counts.entry(what).or_default() += n;
        }
    }
}

impl Report {
    pub(crate) fn for_pipeline(pipeline: &Pipeline) -> Self {
        let passes = pipeline.passes();
        let entry = |pass: String| PassReport { pass, ..PassReport::default() };
        let passes = passes.iter().map(|pass| entry(pass.to_string())).collect();
        Self { passes, ..Self::default() }
    }

    /// Returns how many executions there were.
    pub fn executions(&self) -> u64 {
        self.passes.iter().map(|pass| pass.calls).sum()
    }

    /// The total of a statistic over all passes.
    pub fn count(&self, what: &str) -> u64 {
        self.passes.iter().filter_map(|pass| pass.counts.get(what)).sum()
    }

    /// A table of times: per pass its calls, total time and share, in the order of the pipeline;
    /// then the manager's own. Times are summed over threads.
    pub fn time_table(&self) -> String {
        let passes: Duration = self.passes.iter().map(|pass| pass.time).sum();
        let total = passes + self.copying + self.observing;
        let mut rows: Vec<(&str, String, Duration)> = self
            .passes
            .iter()
            .map(|pass| (&*pass.pass, pass.calls.to_string(), pass.time))
            .collect();
        rows.push(("(copies to restore from)", String::new(), self.copying));
        rows.push(("(verifier and observers)", String::new(), self.observing));
        rows.push(("total", self.executions().to_string(), total));
        let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        let mut out = format!("{:width$}  {:>8}  {:>10}  {:>6}\n", "pass", "calls", "ms", "%");
        for (name, calls, time) in rows {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9);
            let ms = time.as_secs_f64() * 1e3;
            let _ = writeln!(out, "{name:width$}  {calls:>8}  {ms:>10.3}  {share:>6.1}");
        }
        let _ = writeln!(out, "wall time {:.3} ms", self.wall.as_secs_f64() * 1e3);
        out
    }

    /// A table of statistics: per pass that ran how often it did, how often it changed something,
    /// and what it counted. What is zero is left out.
    pub fn statistics(&self) -> String {
        let ran = || self.passes.iter().filter(|pass| pass.calls > 0);
        let width = ran().map(|pass| pass.pass.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for pass in ran() {
            let _ = write!(out, "{:width$}  ran {}", pass.pass, pass.calls);
            let counts = pass.counts.iter().map(|(&what, &n)| (what, n));
            for (what, n) in [("changed", pass.changed)].into_iter().chain(counts) {
                if n > 0 {
                    let _ = write!(out, ", {what} {n}");
                }
            }
            out.push('\n');
        }
        let analyses =
            [("computed", self.analyses_computed), ("reused", self.analyses_reused)].into_iter();
        let analyses: Vec<String> =
            analyses.filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
        if !analyses.is_empty() {
            let _ = writeln!(out, "analyses: {}", analyses.join(", "));
        }
        if self.unsettled > 0 {
            let _ = writeln!(out, "fix: {} times still changing at its limit", self.unsettled);
        }
        out
    }
}
