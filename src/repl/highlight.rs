//! Colours for what is typed.

use std::ops::Range;

use super::commands::find;
use super::reader;

/// What a piece of an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Paint {
    /// A command that there is.
    Command,
    /// A command that there is not.
    WrongCommand,
}

/// The pieces of an input that are coloured, in order.
pub(super) fn pieces(text: &str) -> Vec<(Range<usize>, Paint)> {
    let mut pieces = Vec::new();
    if let Some((name, _)) = reader::command(text) {
        let known = find(&text[name.clone()]).is_ok();
        let paint = if known { Paint::Command } else { Paint::WrongCommand };
        pieces.push((name.start - 1..name.end, paint));
    }
    pieces
}
