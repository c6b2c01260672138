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
    let Some(at) = chain.inner.first() else { return report };
    let spots: Vec<&Spot> = chain.inner.iter().chain(&chain.outer).collect();
    // Code that was made, such as what calls a derivative, has no line: where others have one, it
    // is left out.
    let any_line = spots.iter().any(|spot| spot.loc.is_known());
    let tells = |spot: &Spot| spot.loc.is_known() || !any_line;
    // The innermost place of the user's: its spot, and its position among the places of that.
    let user = spots.iter().enumerate().find_map(|(nth, spot)| {
        let places = places(ctx, spot.loc);
        let inner = places.iter().position(|&loc| loc.is_known() && !is_library(ctx, loc))?;
        Some((nth, inner, places))
    });
    let (mut report, rest) = match user {
        Some((nth, inner, places)) if (nth, inner) != (0, 0) => {
            let mut report = report.at_loc(ctx, places[inner], "here");
            for (i, spot) in spots[..=nth].iter().enumerate() {
                if i == chain.inner.len() {
                    report = skipped(report, chain);
                }
                if i < nth && tells(spot) {
                    let lead = if i == 0 { "in" } else { "called from" };
                    let text = format!("{lead} {}", name(spot.function));
                    report = report.note(describe(ctx, spot, &text));
                }
            }
            for &loc in &places[..inner] {
                report = report.note(format!("in the library, at {}", ctx.loc_text(loc)));
            }
            for &loc in &places[inner + 1..] {
                report = report.note(format!("inlined at {}", ctx.loc_text(loc)));
            }
            (report, nth + 1)
        }
        _ => {
            let mut report = report.at_loc(ctx, at.loc, "here");
            if !any_line {
                report = report.note(format!("in {}, at {}", name(at.function), at.value));
            }
            (report, 1)
        }
    };
    for (nth, spot) in spots.iter().enumerate().skip(rest) {
        if nth == chain.inner.len() {
            report = skipped(report, chain);
        }
        if tells(spot) {
            let text = format!("called from {}", name(spot.function));
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
    for (nth, spot) in chain.inner.iter().chain(&chain.outer).enumerate() {
        if nth == chain.inner.len() {
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

/// The places of an instruction: where it was written, then the calls that it was inlined at.
fn places(ctx: &Context, loc: Loc) -> Vec<Loc> {
    let (mut places, mut work) = (Vec::new(), vec![loc]);
    while let Some(loc) = work.pop() {
        match ctx.location(loc) {
            Location::Inlined { at, call_site } if work.len() < MAX_PLACES => {
                work.extend([call_site, at]);
            }
            _ if places.len() == MAX_PLACES => break,
            _ => places.push(loc),
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
