//! Where code is read as data: in quotes and in the arguments of macros, but not in `$(…)` there.

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

    /// A quote begins.
    pub(super) fn begin_quote(&mut self) {
        self.enter(self.level + 1);
    }

    /// The arguments of a macro begin.
    pub(super) fn begin_arguments(&mut self) {
        self.enter(if self.is_data() { self.level } else { DATA });
    }

    /// What stands behind a `$` begins.
    pub(super) fn begin_value(&mut self) {
        self.enter(self.level.saturating_sub(1));
    }

    /// What was begun last ends.
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
