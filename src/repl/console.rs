//! The output of the REPL: results to one stream, diagnostics to another.

use std::io::{self, Write};

use regraft_ir::Diagnostic;

use crate::cli::output::rendered;
use crate::paint;

/// The two streams. Each text is written out at once, so that what goes to one comes before what
/// goes to the other later.
pub(super) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// True if results, and diagnostics, are coloured.
    color: (bool, bool),
    /// The reason why nothing can be written any more.
    broken: Option<io::Error>,
}

impl<'a> Console<'a> {
    /// Without colours.
    pub(super) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, color: (false, false), broken: None }
    }

    /// With colours for results, for diagnostics.
    pub(super) fn colored(mut self, out: bool, err: bool) -> Self {
        self.color = (out, err);
        self
    }

    /// Writes a result, with a line end if it has none.
    pub(super) fn result(&mut self, text: &str) {
        if text.is_empty() || self.broken.is_some() {
            return;
        }
        let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
        let write = |out: &mut dyn Write| {
            out.write_all(text.as_bytes())?;
            out.write_all(end)?;
            out.flush()
        };
        self.broken = write(self.out).err();
    }

    /// Writes what a program has printed, as it is.
    pub(super) fn printed(&mut self, text: &str) {
        if !text.is_empty() && self.broken.is_none() {
            let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
            self.broken = written.err();
        }
    }

    /// Writes a diff, coloured if results are.
    pub(super) fn diff(&mut self, diff: &str) {
        if !self.color.0 {
            return self.result(diff);
        }
        self.result(&paint::diff(diff));
    }

    /// Writes IR, coloured if results are.
    pub(super) fn ir(&mut self, ir: &str) {
        if self.color.0 { self.result(&paint::ir(ir)) } else { self.result(ir) }
    }

    /// Writes diagnostics. Where they cannot be written there is nobody to tell.
    pub(super) fn report(&mut self, diagnostics: &[Diagnostic]) {
        let text = rendered(diagnostics, self.color.1);
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }

    /// Returns whether results cannot be written any more.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Returns the reason why results could not be written, if there is one.
    pub(super) fn into_broken(self) -> Option<io::Error> {
        self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::Console;

    #[test]
    fn a_diff_is_coloured_only_if_asked_for() {
        let (mut plain, mut colored, mut err) = (Vec::new(), Vec::new(), Vec::new());
        Console::new(&mut plain, &mut err).diff("-a\n b\n");
        Console::new(&mut colored, &mut err).colored(true, true).diff("-a\n b\n");
        assert_eq!(plain, b"-a\n b\n");
        assert_eq!(colored, b"\x1b[31m-a\x1b[0m\n b\n");
    }
}
