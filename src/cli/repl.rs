//! `regraft repl`: a session on the terminal.

use std::io;
use std::path::PathBuf;

use super::Tool;
use super::output::{Failed, Outcome};
use crate::repl;

pub(super) fn run(files: &[PathBuf], tool: &Tool) -> Outcome {
    repl::run(files, tool).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failed::Closed,
        _ => Failed::unwritten(&error),
    })
}
