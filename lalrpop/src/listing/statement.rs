//! One statement of a listing.

use std::ops::Range;

use regraft_ir::{Diagnostic, Source};

use super::exprs::{ExprAt, Exprs};
use super::scan::{Reader, closing, find, in_name, list_items, literal_end};

/// A statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) at: Range<usize>,
    /// `%3 = …`
    pub(super) result: Option<u32>,
    pub(super) kind: StatementKind,
}

/// The kind of a statement.
#[derive(Debug)]
pub(super) enum StatementKind {
    /// An expression, or an assignment to a slot.
    Expr(ExprAt),
    /// `π (value, type)`
    Pi(ExprAt, ExprAt),
    /// `φ (#1 => 0, #3 => %7)`; a value may be missing.
    Phi(Vec<PhiEdge>),
    /// `goto #4`, `goto #4 if not %5`, `br 4 (%1, 0) unless %5`
    Goto(Goto),
    /// `return %3`
    Return(Option<ExprAt>),
    /// `unreachable`
    Unreachable,
}

/// The value of a φ for one block before it.
#[derive(Debug)]
pub(super) struct PhiEdge {
    pub(super) block: u32,
    pub(super) at: Range<usize>,
    pub(super) value: Option<ExprAt>,
}

/// A jump.
#[derive(Debug)]
pub(super) struct Goto {
    pub(super) target: u32,
    pub(super) at: Range<usize>,
    /// The jump is taken if it is false.
    pub(super) unless: Option<ExprAt>,
    pub(super) args: Vec<ExprAt>,
}

/// A reader of statements.
pub(super) struct Statements<'a> {
    pub(super) source: &'a Source,
    pub(super) exprs: &'a mut Exprs,
    pub(super) errors: &'a mut Vec<Diagnostic>,
}

/// Beginnings of statements that have no counterpart, with the reason.
const REFUSED: [(&str, &str); 6] = [
    ("φᶜ", "values that a `catch` meets (φᶜ) are not supported"),
    ("ϒ", "values that are kept for a `catch` (ϒ) are not supported"),
    ("enter ", "exceptions in a listing are not supported"),
    ("leave ", "exceptions in a listing are not supported"),
    ("$(Expr(:enter", "exceptions in a listing are not supported"),
    ("$(Expr(:leave", "exceptions in a listing are not supported"),
];

impl Statements<'_> {
    fn error<T>(&mut self, at: Range<usize>, message: &str, label: &str) -> Option<T> {
        self.errors.push(Diagnostic::error(message).at(self.source, at, label));
        None
    }

    /// Reads the statements on a line; there are several where the ends of lines were lost.
    pub(super) fn line(&mut self, range: Range<usize>, into: &mut Vec<Statement>) {
        for range in split(&self.source.text, range) {
            into.extend(self.statement(range));
        }
    }

    /// Reads one statement.
    pub(super) fn statement(&mut self, range: Range<usize>) -> Option<Statement> {
        let source = self.source.clone();
        let mut reader = Reader::new(&source.text, range);
        let at = reader.range();
        let result = result(&mut reader);
        for prefix in ["invoke", "builtin", "intrinsic", "dynamic"] {
            let rest = reader.rest();
            if rest.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(' ')) {
                reader.eat(prefix);
                break;
            }
        }
        let rest = reader.range();
        if let Some((_, message)) =
            REFUSED.iter().find(|(start, _)| reader.rest().starts_with(start))
        {
            return self.error(rest, message, "");
        }
        let kind = if reader.eat_word("goto") {
            self.goto(&mut reader, "#", "if not")?
        } else if result.is_none() && reader.rest().starts_with("br ") {
            reader.eat("br");
            self.goto(&mut reader, "", "unless")?
        } else if reader.eat_word("return") {
            let value = (!reader.is_at_end()).then(|| self.exprs.add(reader.range()));
            StatementKind::Return(value)
        } else if reader.rest() == "unreachable" {
            StatementKind::Unreachable
        } else if reader.rest().starts_with("φ (") || reader.rest().starts_with("φ(") {
            reader.eat("φ");
            self.phi(&mut reader)?
        } else if reader.rest().starts_with("π (") {
            reader.eat("π");
            let Some(inner) = reader.bracketed() else {
                return self.error(rest, "a `π` has a value and a type in brackets", "");
            };
            match &*list_items(&source.text, inner) {
                [value, ty] => {
                    let value = self.exprs.add(value.clone());
                    StatementKind::Pi(value, self.exprs.add(ty.clone()))
                }
                _ => return self.error(rest, "a `π` has a value and a type in brackets", ""),
            }
        } else if reader.is_at_end() {
            return self.error(at, "a statement is missing", "the value of what?");
        } else {
            StatementKind::Expr(self.exprs.add(reader.range()))
        };
        Some(Statement { at, result, kind })
    }

    /// `#4`, `#4 if not %5`; `4 (%1, 0) unless %5`
    fn goto(&mut self, reader: &mut Reader<'_>, mark: &str, unless: &str) -> Option<StatementKind> {
        let start = reader.at;
        let target = if mark.is_empty() || reader.eat(mark) { reader.number() } else { None };
        let at = start..reader.at.max(start);
        let Some(target) = target else {
            let rest = reader.range();
            return self.error(rest, "a jump names a block", "expected the number of a block");
        };
        let mut args = Vec::new();
        if mark.is_empty()
            && let Some(inner) = reader.bracketed()
        {
            for item in list_items(reader.text, inner) {
                args.push(self.exprs.add(item));
            }
        }
        let unless = reader.eat(unless).then(|| self.exprs.add(reader.range()));
        if unless.is_none() && !reader.is_at_end() {
            let rest = reader.range();
            return self.error(rest, "a jump ends behind its block", "not expected here");
        }
        let at = super::scan::trim(reader.text, at);
        Some(StatementKind::Goto(Goto { target, at, unless, args }))
    }

    /// `(#1 => 0, #3 => %7)::Int64`
    fn phi(&mut self, reader: &mut Reader<'_>) -> Option<StatementKind> {
        let rest = reader.range();
        let Some(inner) = reader.bracketed() else {
            return self.error(rest, "the brackets of a `φ` do not end", "");
        };
        if !(reader.is_at_end() || reader.rest().starts_with("::")) {
            let rest = reader.range();
            return self.error(rest, "a `φ` ends behind its brackets, or its type", "");
        }
        let mut edges = Vec::new();
        for item in list_items(reader.text, inner) {
            let mut edge = Reader::new(reader.text, item.clone());
            let block = if edge.eat("#") { edge.number() } else { None };
            let (Some(block), true) = (block, edge.eat("=>")) else {
                let message = "a `φ` has a value for each block before it";
                return self.error(item, message, "expected `#3 => %7`");
            };
            let is_there = edge.rest() != "#undef";
            let value = is_there.then(|| self.exprs.add(edge.range()));
            edges.push(PhiEdge { block, at: item, value });
        }
        Some(StatementKind::Phi(edges))
    }
}

/// `%3 =` at the beginning of a statement.
fn result(reader: &mut Reader<'_>) -> Option<u32> {
    let mut ahead = reader.clone();
    let number = if ahead.eat("%") { ahead.number() } else { None }?;
    if ahead.rest().starts_with("==") || ahead.rest().starts_with("=>") || !ahead.eat("=") {
        return None;
    }
    *reader = ahead;
    Some(number)
}

/// The statements on a line: each further one begins with `%3 =`, outside of all brackets.
fn split(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    while at < range.end {
        if let Some(next) = literal_end(text, at, range.end) {
            at = next;
            continue;
        }
        match text.as_bytes()[at] {
            b'(' | b'[' | b'{' => match closing(text, at, range.end) {
                Some(close) => at = close,
                None => break,
            },
            b'%' if at > start && !text[start..at].trim().is_empty() => {
                let mut ahead = Reader::new(text, at..range.end);
                // `x % 3` has an operand before the sign.
                let touches =
                    in_name(text.as_bytes()[at - 1]) || b"})]".contains(&text.as_bytes()[at - 1]);
                if touches && result(&mut ahead).is_some() {
                    parts.push(start..at);
                    start = at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(start..range.end);
    parts
}

/// Cuts off what stands behind a statement, in the column of what was inlined.
pub(super) fn without_column(text: &str, range: Range<usize>) -> Range<usize> {
    let begins_column = |rest: &str| rest.chars().next().is_some_and(super::scan::is_box);
    let end = find(text, range.clone(), begins_column).unwrap_or(range.end);
    range.start..end
}
