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

impl Chain {
    /// Keeps at most twenty of `total` spots, which `spot` gives by their number, the innermost
    /// first.
    pub fn collect(total: usize, spot: impl Fn(usize) -> Spot) -> Self {
        if total <= 2 * SHOWN {
            return Self { inner: (0..total).map(spot).collect(), ..Self::default() };
        }
        Self {
            inner: (0..SHOWN).map(&spot).collect(),
            skipped: total - 2 * SHOWN,
            outer: (total - SHOWN..total).map(spot).collect(),
        }
    }

    /// All spots that are kept, the innermost first.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.inner.iter().chain(&self.outer)
    }
}
