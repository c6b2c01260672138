//! The chain of calls in the report of a run-time error.
//!
//! A user looks for the mistake in their own program. If an error happened in the library (a
//! source whose name begins with `prelude/`), the line that is shown is the innermost one of
//! the user's, and notes tell how it got from there to the error.

use regraft_ir::{Context, Diagnostic, Loc, Location, Symbol};

use crate::chain::{Chain, Spot};

/// The beginning of the names of the library's sources.
const LIBRARY: &str = "prelude/";

/// The number of places of one instruction that are looked at: code that was inlined has several.
const MAX_PLACES: usize = 64;

/// Adds the place of an error and the calls that led there.
pub(crate) fn add_chain(
    report: Diagnostic,
    ctx: &Context,
    chain: &Chain,
    name: impl Fn(Symbol) -> String,
) -> Diagnostic {
    let (spots, inner) = calls(ctx, chain);
    let Some(at) = spots.first() else { return report };
    // Code that was made, such as what calls a derivative, has no line: where others have one, it
    // is left out.
    let any_line = spots.iter().any(|spot| spot.loc.is_known());
    let tells = |spot: &Spot| spot.loc.is_known() || !any_line;
    let is_users = |spot: &Spot| spot.loc.is_known() && !is_library(ctx, spot.loc);
    // The innermost place of the user's is the one that is shown.
    let shown = spots.iter().position(is_users).unwrap_or(0);
    let mut report = report.at_loc(ctx, spots[shown].loc, "here");
    if !any_line {
        report = report.note(format!("in {}, at {}", name(at.function), at.value));
    }
    for (nth, spot) in spots.iter().enumerate() {
        if nth == inner {
            report = skipped(report, chain);
        }
        if nth != shown && tells(spot) {
            let lead = if nth == 0 { "in" } else { "called from" };
            let text = format!("{lead} {}", name(spot.function));
            report = report.note(describe(ctx, spot, &text));
        }
    }
    report
}

/// Adds the calls that led to an error that has places of its own.
pub(crate) fn add_callers(
    mut report: Diagnostic,
    ctx: &Context,
    chain: &Chain,
    name: impl Fn(Symbol) -> String,
) -> Diagnostic {
    let (spots, inner) = calls(ctx, chain);
    for (nth, spot) in spots.iter().enumerate() {
        if nth == inner {
            report = skipped(report, chain);
        }
        if spot.loc.is_known() && !is_library(ctx, spot.loc) {
            let text = format!("called from {}", name(spot.function));
            report = report.note(describe(ctx, spot, &text));
        }
    }
    report
}

fn skipped(report: Diagnostic, chain: &Chain) -> Diagnostic {
    if chain.skipped == 0 {
        return report;
    }
    report.note(format!("... {} more calls ...", chain.skipped))
}

fn describe(ctx: &Context, spot: &Spot, text: &str) -> String {
    if spot.loc.is_known() {
        format!("{text}, at {}", ctx.loc_text(spot.loc))
    } else {
        format!("{text}, at {}", spot.value)
    }
}

/// The calls of a chain, with those that were inlined, and how many of them are inner ones.
pub(crate) fn calls(ctx: &Context, chain: &Chain) -> (Vec<Spot>, usize) {
    let mut calls: Vec<Spot> = chain.inner.iter().flat_map(|spot| places(ctx, spot)).collect();
    let inner = calls.len();
    calls.extend(chain.outer.iter().flat_map(|spot| places(ctx, spot)));
    (calls, inner)
}

/// The places of an instruction, each in its function: where it was written, then the calls that it was inlined at.
pub(crate) fn places(ctx: &Context, spot: &Spot) -> Vec<Spot> {
    let (mut places, mut work) = (Vec::new(), vec![*spot]);
    while let Some(spot) = work.pop() {
        match ctx.location(spot.loc) {
            Location::Inlined { at, callee, call_site } if work.len() < MAX_PLACES => {
                let caller = Spot { loc: call_site, ..spot };
                work.extend([caller, Spot { function: callee, loc: at, ..spot }]);
            }
            _ if places.len() == MAX_PLACES => break,
            _ => places.push(spot),
        }
    }
    places
}

/// Returns whether a place is in the library.
pub(crate) fn is_library(ctx: &Context, loc: Loc) -> bool {
    match ctx.location(loc) {
        Location::File { file, .. } => file.starts_with(LIBRARY),
        _ => false,
    }
}
