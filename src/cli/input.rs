//! Reading programs: IR, and scripts of the language.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use regraft_ir::{Context, Module};
use regraft_syntax::{decode, parse_and_verify};

use super::output::Failed;

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    /// IR text.
    Ir,
    /// The Julia subset.
    Julia,
}

/// The text of a program.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) language: Language,
}

impl Input {
    /// Reads a program; `-` is the standard input. If its name does not tell what it is written
    /// in, it is `otherwise`, or what its first line looks like.
    pub(super) fn read(path: &Path, otherwise: Option<Language>) -> Result<Self, Failed> {
        let (name, bytes) = if path == Path::new("-") {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            (String::from("<stdin>"), read.map(|_| bytes))
        } else {
            (path.display().to_string(), std::fs::read(path))
        };
        let bytes =
            bytes.map_err(|error| Failed::message(format!("cannot read {name}: {error}")))?;
        let text = decode(&name, &bytes)?;
        let language = match path.extension().and_then(|extension| extension.to_str()) {
            Some("jl") => Language::Julia,
            Some("ir") => Language::Ir,
            _ => otherwise.unwrap_or_else(|| sniff(&text)),
        };
        Ok(Self { name, text, language })
    }

    /// Parses and verifies IR.
    pub(super) fn module(&self, ctx: &Arc<Context>) -> Result<Module, Failed> {
        Ok(parse_and_verify(ctx, &self.name, &self.text)?)
    }
}

/// Returns the language of a text. The first line that says something decides:
/// all of IR is functions (`func @f`) and structs (`struct @P`), which no script begins with.
fn sniff(text: &str) -> Language {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let ir = first.split_whitespace().next() == Some("func")
        || ["struct @", "mutable struct @"].iter().any(|start| first.starts_with(start));
    if ir { Language::Ir } else { Language::Julia }
}
