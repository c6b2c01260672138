//! The output of programs.

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::rc::Rc;

use super::output::Failed;

/// The output of a program: to a terminal line by line, to anything else in large pieces.
pub(super) struct ProgramOutput {
    /// The reason why it could not be written, the last pieces included: the program may have ended before
    /// they were. If its reader has gone, as `head` does, the program ends quietly.
    error: Rc<Cell<Option<io::Error>>>,
}

impl ProgramOutput {
    /// The standard output, and the writer to be given to what runs the program.
    pub(super) fn stdout() -> (Self, Box<dyn Write>) {
        Self::to(io::stdout(), io::stdout().is_terminal())
    }

    /// The standard error, for commands whose result is something else than what the program
    /// prints.
    pub(super) fn stderr() -> (Self, Box<dyn Write>) {
        Self::to(io::stderr(), io::stderr().is_terminal())
    }

    fn to(stream: impl Write + 'static, terminal: bool) -> (Self, Box<dyn Write>) {
        let error = Rc::default();
        let watched = Watched { stream, error: Rc::clone(&error) };
        let writer: Box<dyn Write> =
            if terminal { Box::new(watched) } else { Box::new(BufWriter::new(watched)) };
        (Self { error }, writer)
    }

    /// Returns the result of a run, once everything has been written: an output that could not be written
    /// is an error, and one whose reader has gone leaves nothing to be told.
    pub(super) fn outcome<T>(&self, result: Result<T, Failed>) -> Result<T, Failed> {
        match self.error.take() {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failed::Closed),
            Some(error) => result.and(Err(Failed::unwritten(&error))),
            None => result,
        }
    }
}

struct Watched<W> {
    stream: W,
    error: Rc<Cell<Option<io::Error>>>,
}

impl<W> Watched<W> {
    fn seen<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.error.set(Some(error.kind().into()));
        }
        result
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.stream.write(bytes);
        self.seen(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.stream.flush();
        self.seen(result)
    }
}
