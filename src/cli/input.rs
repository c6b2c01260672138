//! Reading programs.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use regraft_ir::{Context, Module};
use regraft_syntax::{decode, parse_and_verify};

use super::output::Failed;

/// A program that was read.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) module: Module,
    pub(super) text: String,
}

/// Reads, parses and verifies a program; `-` is the standard input.
pub(super) fn read(path: &Path, ctx: &Arc<Context>) -> Result<Input, Failed> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        (String::from("<stdin>"), read.map(|_| bytes))
    } else {
        (path.display().to_string(), std::fs::read(path))
    };
    let bytes = bytes.map_err(|error| Failed::message(format!("cannot read {name}: {error}")))?;
    let text = decode(&name, &bytes)?;
    let module = parse_and_verify(ctx, &name, &text)?;
    Ok(Input { module, text })
}
