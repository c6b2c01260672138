//! Lines of files.

use std::fmt;
use std::sync::Arc;

use regraft_ir::{Context, Loc, Location};

/// A line of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The name of the file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Returns the line that a location is in, if it is known: of inlined code that in which it was written.
pub fn place(ctx: &Context, loc: Loc) -> Option<Place> {
    match ctx.location(loc) {
        Location::Unknown => None,
        Location::File { file, line, .. } => Some(Place { file, line }),
        Location::Inlined { at, .. } => place(ctx, at),
    }
}
