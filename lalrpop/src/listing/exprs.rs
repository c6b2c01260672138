//! The expressions of a listing, read by the parser of the language.
//!
//! The parts of them that are no Julia are masked: replaced by as many bytes of something that is. A
//! value `%3` becomes a name, `$(…)` loses its `$`, the margins become blank. Places stay what they
//! are, so that afterwards each name is what the listing itself has at its place. All expressions
//! are read at once.

use std::ops::Range;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Label, Source};

use super::scan::{closing, in_name, literal_end, unmatched};
use crate::julia::{Ast, ExprId, Kind, Options, read};

/// The number of an expression of a listing.
pub(super) type ExprAt = usize;

/// The places of expressions, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Exprs {
    ranges: Vec<Range<usize>>,
}

/// The expressions as trees.
#[derive(Debug)]
pub(super) struct Trees {
    pub(super) ast: Ast,
    /// None where an expression is wrong.
    pub(super) roots: Vec<Option<ExprId>>,
    pub(super) errors: Vec<Diagnostic>,
}

impl Exprs {
    /// Notes an expression; those of one text come in order.
    pub(super) fn add(&mut self, range: Range<usize>) -> ExprAt {
        self.ranges.push(range);
        self.ranges.len() - 1
    }

    pub(super) fn range(&self, at: ExprAt) -> Range<usize> {
        self.ranges[at].clone()
    }

    /// Reads them all. O(length of the text).
    pub(super) fn read(&self, ctx: &Arc<Context>, source: &Source) -> Trees {
        let text = &*source.text;
        let mut errors = Vec::new();
        let mut masked: Vec<u8> =
            text.bytes().map(|byte| if byte == b'\n' { byte } else { b' ' }).collect();
        let mut is_read = vec![false; self.ranges.len()];
        for (at, range) in self.ranges.iter().enumerate() {
            if range.is_empty() {
                let error = Diagnostic::error("an expression is missing");
                errors.push(error.at(source, range.clone(), "expected here"));
            } else if let Some(bracket) = unmatched(text, range.clone()) {
                let error = Diagnostic::error("a bracket or a quote has no other one");
                errors.push(error.at(source, bracket..bracket + 1, ""));
            } else {
                is_read[at] = true;
                mask(text, range.clone(), &mut masked);
                if let Some(byte) = masked.get_mut(range.end).filter(|byte| **byte == b' ') {
                    *byte = b';';
                }
            }
        }
        let masked = String::from_utf8(masked).expect("bytes are replaced by ASCII");
        let parsed = read(ctx, source, &masked, 0, Options::default());
        errors.extend(parsed.errors.into_iter().map(|error| at_characters(error, source)));
        let mut ast = parsed.ast;
        // What could not be read has been reported, and has no tree that can be relied on.
        let roots = if errors.is_empty() {
            self.roots(&ast, source, &is_read, &mut errors)
        } else {
            vec![None; self.ranges.len()]
        };
        unmask(ctx, &mut ast);
        Trees { ast, roots, errors }
    }

    /// The one statement that stands at the place of each expression.
    fn roots(
        &self,
        ast: &Ast,
        source: &Source,
        is_read: &[bool],
        errors: &mut Vec<Diagnostic>,
    ) -> Vec<Option<ExprId>> {
        let mut statements = ast.statements().iter().copied().peekable();
        let mut roots = Vec::with_capacity(self.ranges.len());
        for (range, _) in self.ranges.iter().zip(is_read).filter(|(_, read)| **read) {
            let mut found = Vec::new();
            while let Some(&id) = statements.peek()
                && (ast.span(id).start as usize) < range.end
            {
                found.push(id);
                statements.next();
            }
            match *found {
                [id] if ast.span(id).end as usize <= range.end => roots.push(Some(id)),
                _ => {
                    let error = Diagnostic::error("this is not one expression");
                    errors.push(error.at(source, range.clone(), ""));
                    roots.push(None);
                }
            }
        }
        roots
    }
}

/// Moves the places of an error to between characters: where there is no expression, the text that is
/// read has others than the listing.
fn at_characters(error: Diagnostic, source: &Source) -> Diagnostic {
    let text = &source.text;
    let labels = error.labels().iter().map(|label| {
        let span =
            text.floor_char_boundary(label.span.start)..text.ceil_char_boundary(label.span.end);
        Label { span, text: label.text.clone() }
    });
    let labels = labels.collect();
    error.in_text(&source.name, &**text, labels)
}

/// Copies an expression into a text, with names in place of what is no Julia.
fn mask(text: &str, range: Range<usize>, into: &mut [u8]) {
    let bytes = text.as_bytes();
    let mut at = range.start;
    while at < range.end {
        if bytes[at..range.end].starts_with(b"var\"")
            && (at == 0 || !in_name(bytes[at - 1]))
            && let Some(next) = literal_end(text, at + 3, range.end)
        {
            into[at..next].fill(b'v');
            at = next;
            continue;
        }
        if let Some(next) = literal_end(text, at, range.end) {
            into[at..next].copy_from_slice(&bytes[at..next]);
            at = next;
            continue;
        }
        if let Some(next) = named_tuple_end(text, at, range.end) {
            into[at..next].fill(b'v');
            at = next;
            continue;
        }
        let next = if at + 1 < range.end { bytes[at + 1] } else { b' ' };
        into[at] = match bytes[at] {
            b'%' if next.is_ascii_alphanumeric() => b'v',
            b'@' if next == b'_' => b'v',
            b'#' => b'v',
            b'$' if next == b'(' => b' ',
            byte => byte,
        };
        at += 1;
    }
}

/// The end of `@NamedTuple{…}`: a type that only its text stands for.
fn named_tuple_end(text: &str, at: usize, end: usize) -> Option<usize> {
    let open = text.as_bytes()[at..end].starts_with(b"@NamedTuple{").then_some(at + 11)?;
    closing(text, open, end).map(|close| close + 1)
}

/// Gives names the text that they have in the listing.
fn unmask(ctx: &Arc<Context>, ast: &mut Ast) {
    let source = ast.source.clone();
    let text = &source.text;
    let shown = |start: usize, end: usize| {
        let name = text.get(start..end)?.trim_matches(['(', ')', ' ']);
        let name = match name.strip_prefix("var\"") {
            Some(quoted) => quoted.strip_suffix('"')?,
            None if name.contains(['%', '@', '#']) => name,
            None => return None,
        };
        Some(ctx.symbol(name))
    };
    for expr in &mut ast.exprs {
        let (start, end) = (expr.span.start as usize, expr.span.end as usize);
        match &mut expr.kind {
            Kind::Name(name) => *name = shown(start, end).unwrap_or(*name),
            Kind::Field { name, .. } => {
                // The name stands at the end.
                let start = end.saturating_sub(ctx.str(*name).len()).max(start);
                *name = shown(start, end).unwrap_or(*name);
            }
            _ => {}
        }
    }
}
