//! The calls that led to an error.

use regraft_ir::{Loc, Symbol, Value};

/// A place in a running program: an instruction of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The name of the function.
    pub function: Symbol,
    /// The instruction.
    pub value: Value,
    /// The place where the user wrote it.
    pub loc: Loc,
}

/// The number of calls that an error shows from either end of a long chain.
const SHOWN: usize = 10;

/// The calls that led to an error, the innermost first.
#[derive(Clone, Default, Debug)]
pub struct Chain {
    /// The innermost ones.
    pub inner: Vec<Spot>,
    /// The number of those left out.
    pub skipped: usize,
    /// The outermost ones.
    pub outer: Vec<Spot>,
}

/// The calls from where an error was thrown to the function whose handler caught it.
///
/// An error that the handler throws on goes further out from there.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The calls, that of the function with the handler last.
    pub(crate) chain: Chain,
    /// The number of frames below that of the function.
    pub(crate) depth: usize,
}

impl Chain {
    /// Adds `count` callers further out, which `spot` gives by their number, the innermost first. At
    /// most twenty calls are kept.
    pub(crate) fn extend(&mut self, count: usize, spot: impl Fn(usize) -> Spot) {
        let near = count.min(2 * SHOWN);
        let far = near.max(count.saturating_sub(SHOWN));
        (0..near).for_each(|i| self.push(spot(i)));
        self.skipped += far - near;
        (far..count).for_each(|i| self.push(spot(i)));
    }

    /// Adds a caller further out.
    pub(crate) fn push(&mut self, spot: Spot) {
        if self.outer.is_empty() {
            if self.inner.len() < 2 * SHOWN {
                return self.inner.push(spot);
            }
            self.outer = self.inner.split_off(SHOWN);
        }
        if self.outer.len() == SHOWN {
            self.outer.remove(0);
            self.skipped += 1;
        }
        self.outer.push(spot);
    }

    /// Drops the outermost caller.
    pub(crate) fn pop(&mut self) {
        if self.outer.pop().is_none() {
            self.inner.pop();
        }
    }

    /// The number of calls, those that were left out among them.
    pub(crate) fn total(&self) -> usize {
        self.inner.len() + self.skipped + self.outer.len()
    }

    /// All spots that are kept, the innermost first.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.inner.iter().chain(&self.outer)
    }
}
