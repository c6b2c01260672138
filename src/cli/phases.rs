//! The times of the phases of a command, for `--time`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use regraft_lang::phase_times;
use serde_json::{Map, Value, json};

use super::json::ms;

/// The time of each phase of a command, and of the command as a whole.
pub(super) struct Times {
    /// Names and times, in the order in which a program goes through the phases.
    phases: Vec<(&'static str, Duration)>,
    total: Duration,
}

impl Times {
    /// The times since `start`. What no phase accounts for is the start of the session.
    pub(super) fn since(start: Instant) -> Self {
        let total = start.elapsed();
        let mut phases: Vec<_> =
            phase_times().into_iter().map(|(phase, time)| (phase.name(), time)).collect();
        let known: Duration = phases.iter().map(|(_, time)| *time).sum();
        phases.insert(0, ("start", total.saturating_sub(known)));
        Self { phases, total }
    }

    /// A table of milliseconds and shares.
    pub(super) fn table(&self) -> String {
        let mut out = format!("{:13}  {:>10}  {:>6}\n", "phase", "ms", "%");
        for &(name, time) in self.phases.iter().chain([&("total", self.total)]) {
            let share = 100.0 * time.as_secs_f64() / self.total.as_secs_f64().max(1e-9);
            let _ = writeln!(out, "{name:13}  {:>10.3}  {share:>6.1}", ms(time));
        }
        out
    }

    /// Milliseconds by phase.
    pub(super) fn json(&self) -> Value {
        let all = self.phases.iter().copied().chain([("total", self.total)]);
        let times: Map<String, Value> =
            all.map(|(name, time)| (name.to_owned(), json!(ms(time)))).collect();
        Value::Object(times)
    }
}
