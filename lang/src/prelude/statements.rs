//! Splits a file of the prelude into statements, and tells the methods that they define and that need not
//! be parsed at once.
//!
//! ```text
//! struct Fix1{F, T} <: Function          Other
//!     f::F
//!     x::T
//! end
//! (g::Fix1)(y) = g.f(g.x, y)             Method(Instance("Fix1"))
//! @inline sign(x::Real) = …              Method(Named("sign"))
//! ```
//!
//! A look at the first line of a statement, one pass over the text. A test compares the outcome
//! with what the parser says.

use std::ops::Range;

/// A statement at top level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement<'t> {
    /// Its range in the text.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: Kind<'t>,
}

/// The kind of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'t> {
    /// The definition of methods.
    Method(Owner<'t>),
    /// Anything else.
    Other,
}

/// The owner of a method, as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner<'t> {
    /// `f(x) = …`
    Named(&'t str),
    /// `macro m(x) … end`
    Macro(&'t str),
    /// `(f::F)(x) = …`
    Instance(&'t str),
    /// `(::Type{T})(x) = …`
    Type(&'t str),
}

/// The statements of a file of the prelude, in order.
pub fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let mut lines = Lines { text, at: 0 }.peekable();
    std::iter::from_fn(move || {
        let mut range = lines.find(|line| begins(&text[line.clone()]))?;
        let first = range.clone();
        while let Some(line) = lines.next_if(|line| !begins(&text[line.clone()])) {
            // Comments and empty lines between two statements belong to neither.
            if !matches!(text.as_bytes()[line.start], b'\n' | b'#') {
                range.end = line.end;
            }
        }
        let kind = owner(&text[first]).map_or(Kind::Other, Kind::Method);
        Some(Statement { range, kind })
    })
}

/// The lines of a text, with their ends.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        if rest.is_empty() {
            return None;
        }
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
        Some(start..self.at)
    }
}

/// Returns whether a statement begins with a line.
fn begins(line: &str) -> bool {
    match line.as_bytes().first() {
        None | Some(b' ' | b'\n' | b'#' | b')' | b']') => false,
        // `endswith(…) = …`
        Some(b'e') => match line.strip_prefix("end") {
            Some(rest) => rest.starts_with(is_part_of_name),
            None => !line.starts_with("else"),
        },
        Some(_) => true,
    }
}

/// Returns the owner of the methods that a statement defines, if its first line tells.
fn owner(line: &str) -> Option<Owner<'_>> {
    let mut rest = line;
    for word in ["@inline ", "@noinline ", "@inbounds ", "function "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if let Some(head) = rest.strip_prefix("macro ") {
        return Some(Owner::Macro(name(head)));
    }
    if let Some(instance) = rest.strip_prefix('(') {
        let (_, ty) = instance.split_once(')')?.0.split_once("::")?;
        return Some(match ty.strip_prefix("Type{") {
            Some(of) => Owner::Type(name(of)),
            None => Owner::Instance(name(ty)),
        });
    }
    let open = rest.find('(')?;
    let named = &rest[..open];
    let is_name = named.chars().all(is_part_of_name);
    let is_operator = named.chars().all(|c| !is_part_of_name(c) && !" \"@".contains(c));
    let is_operator = is_operator || named == "!=" || named == "!==";
    (!named.is_empty() && (is_name || is_operator)).then_some(Owner::Named(named))
}

/// The name that a text begins with.
fn name(text: &str) -> &str {
    &text[..text.find(|c| !is_part_of_name(c)).unwrap_or(text.len())]
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '!'
}
