//! The level of quoting: in quotes and in the arguments of macros code is read as data, but not in
//! `$(…)` there.

use crate::julia::Options;

/// A level of quoting that no `$` leads out of.
const DATA: u32 = 1 << 20;

/// The level of quoting that is reached, and those around it.
#[derive(Clone, Debug)]
pub(super) struct Code {
    level: u32,
    outer: Vec<u32>,
    /// The level of statements at top level.
    base: u32,
}

impl Code {
    /// The level of a text that is read so.
    pub(super) fn of(options: Options) -> Self {
        let base = if options.code { DATA } else { 0 };
        Self { level: base, outer: Vec::new(), base }
    }

    /// Returns whether what is read is data.
    #[inline]
    pub(super) fn is_data(&self) -> bool {
        self.level > 0
    }

    /// Begins a quote.
    pub(super) fn begin_quote(&mut self) {
        self.enter(self.level + 1);
    }

    /// Begins the arguments of a macro.
    pub(super) fn begin_arguments(&mut self) {
        self.enter(if self.is_data() { self.level } else { DATA });
    }

    /// Begins an interpolated value, behind a `$`.
    pub(super) fn begin_value(&mut self) {
        self.enter(self.level.saturating_sub(1));
    }

    /// Ends the quote, arguments or value that was begun last.
    pub(super) fn end(&mut self) {
        self.level = self.outer.pop().unwrap_or(self.base);
    }

    /// Goes back to between statements at top level.
    pub(super) fn rewind(&mut self) {
        self.outer.clear();
        self.level = self.base;
    }

    fn enter(&mut self, level: u32) {
        self.outer.push(self.level);
        self.level = level;
    }
}
