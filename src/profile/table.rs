//! Profiles as tables, for people and as JSON.

use std::fmt::Write;
use std::time::Duration;

use regraft_exec::Profile;
use regraft_exec::profiler::Row;
use regraft_ir::{Context, Symbol};
use serde_json::{Value, json as object};

use super::{Place, duration_text, place};

/// What a row of a table is about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum By {
    /// A function, with the line of its definition.
    #[default]
    Function,
    /// The calls of a function in a line.
    Line,
}

/// What a table shows.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// What a row is about.
    pub by: By,
    /// Rows of fewer calls are left out.
    pub min_calls: u64,
}

/// A function and a line.
type Key = (Symbol, Option<Place>);

fn rows(ctx: &Context, profile: &Profile, options: Options) -> Vec<Row<Key>> {
    let mut rows = profile.rows(|node| {
        let loc = match options.by {
            By::Function => profile.definitions.get(&node.event).copied(),
            By::Line => Some(node.call),
        };
        Some((node.event, loc.and_then(|loc| place(ctx, loc))))
    });
    rows.retain(|row| row.calls >= options.min_calls);
    rows
}

/// A profile as a table, most own time first, with a last line about the whole.
pub fn table(ctx: &Context, profile: &Profile, options: Options) -> String {
    let all = profile.total().max(1.0);
    let place_head = match options.by {
        By::Function => "defined at",
        By::Line => "called at",
    };
    let heads = ["self", "%", "total", "calls", place_head, "function"].map(str::to_owned);
    let mut lines = vec![heads];
    for row in rows(ctx, profile, options) {
        let (event, place) = row.key;
        lines.push([
            time_text(row.own),
            format!("{:.1}", 100.0 * row.own / all),
            time_text(row.total),
            row.calls.to_string(),
            place.map_or_else(String::new, |place| place.to_string()),
            ctx.str(event).to_string(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let [w0, w1, w2, w3, w4] = [0, 1, 2, 3, 4].map(|column| width(column).unwrap_or(0));
    let mut out = String::new();
    // Names are last: those of specialisations can be long.
    for [own, share, total, calls, place, name] in &lines {
        let _ = writeln!(
            out,
            "{own:>w0$}  {share:>w1$}  {total:>w2$}  {calls:>w3$}  {place:w4$}  {name}"
        );
    }
    let _ = writeln!(out, "\n{}", summary(profile));
    out
}

/// A profile as a whole, in a line or two.
fn summary(profile: &Profile) -> String {
    if profile.nodes.is_empty() {
        return "nothing ran: the value was known before the program ran".to_owned();
    }
    let per_event = profile.subtracted() / (profile.events - profile.lost_events).max(1) as f64;
    let (all, subtracted) = (time_text(profile.total()), time_text(profile.subtracted()));
    let mut out = format!(
        "{all} in {} events; recording them took {subtracted} more ({per_event:.0} ns each), which \
         is subtracted",
        profile.events
    );
    if profile.compilation > 0.0 {
        let _ = write!(out, "\ncompilation meanwhile: {}", time_text(profile.compilation));
    }
    out
}

/// A profile as JSON, times in nanoseconds.
pub fn json(ctx: &Context, profile: &Profile, options: Options) -> Value {
    let rows = rows(ctx, profile, options).into_iter().map(|row| {
        let (event, place) = row.key;
        object!({
            "function": ctx.str(event),
            "file": place.as_ref().map(|place| &*place.file),
            "line": place.as_ref().map(|place| place.line),
            "calls": row.calls,
            "self": row.own.round(),
            "total": row.total.round(),
        })
    });
    let rows: Vec<Value> = rows.collect();
    let key = match options.by {
        By::Function => "functions",
        By::Line => "lines",
    };
    object!({
        key: rows,
        "total": profile.total().round(),
        "compilation": profile.compilation.round(),
        "events": profile.events,
        "lost": profile.lost_events + profile.lost_stamps,
        "overhead": {
            "per_event": profile.overhead.inside + profile.overhead.outside,
            "per_recursive_event": profile.overhead.again,
            "subtracted": profile.subtracted().round(),
        },
    })
}

fn time_text(nanoseconds: f64) -> String {
    duration_text(Duration::from_nanos(nanoseconds.round() as u64))
}
