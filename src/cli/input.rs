//! Reading programs: IR, and scripts of the language.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use regraft_ir::{Context, Module};
use regraft_lang::Listing;
use regraft_syntax::{decode, listing, parse_and_verify};

use super::output::{Failed, report};

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    /// IR text.
    Ir,
    /// The Julia subset.
    Julia,
    /// Listings of Julia's IR.
    Listing,
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
            Some("lowered") => Language::Listing,
            _ if listing::is_listing(&text) => Language::Listing,
            _ => otherwise.unwrap_or_else(|| sniff(&text)),
        };
        Ok(Self { name, text, language })
    }

    /// Parses and verifies IR. Of a listing, these are lowered functions.
    pub(super) fn module(&self, ctx: &Arc<Context>) -> Result<Module, Failed> {
        if self.language == Language::Listing {
            let read = Listing::read(ctx, &self.name, &self.text)?;
            report(&read.warnings);
            return Ok(read.module);
        }
        Ok(parse_and_verify(ctx, &self.name, &self.text)?)
    }

    /// Returns whether the functions of the text are a module by themselves.
    pub(super) fn is_module(&self) -> bool {
        self.language != Language::Julia
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
