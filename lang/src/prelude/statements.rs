//! Splits a file of the prelude into statements, and tells what they define that need not be parsed at once.
//!
//! ```text
//! struct Fix1{F, T} <: Function          Declaration("Fix1")
//!     f::F
//!     x::T
//! end
//! (g::Fix1)(y) = g.f(g.x, y)             Method(Instance("Fix1"))
//! @inline sign(x::Real) = …              Method(Named("sign"))
//! const ComplexF64 = Complex{Float64}    Alias("ComplexF64")
//! function rrule end                     Function("rrule")
//! const missing = __new(Missing)         Constant("missing")
//! const im = __new(Complex{Bool}, …)     Other
//! ```
//!
//! A look at the first line of a statement, one pass over the text. A test compares the outcome
//! with what the parser says.

use std::borrow::Cow;
use std::ops::Range;

/// A statement at top level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement<'t> {
    /// Its range in the text.
    pub range: Range<u32>,
    /// Its kind.
    pub kind: Kind<'t>,
}

/// The kind of a statement, with the name that it defines as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'t> {
    /// The definition of methods.
    Method(Owner<'t>),
    /// The declaration of a function without methods: `function f end`
    Function(&'t str),
    /// The declaration of a struct or of an abstract type.
    Declaration(&'t str),
    /// The definition of a name for a type with parameters.
    Alias(&'t str),
    /// The definition of a name for what another one stands for, or for the only value of a type.
    Constant(&'t str),
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

impl<'t> Kind<'t> {
    /// The name that the one in the text stands for.
    pub(super) fn name(self) -> Option<Cow<'t, str>> {
        match self {
            Self::Method(Owner::Macro(of)) => Some(Cow::Owned(format!("@{of}"))),
            Self::Method(Owner::Named(of) | Owner::Instance(of) | Owner::Type(of))
            | Self::Function(of)
            | Self::Declaration(of)
            | Self::Alias(of)
            | Self::Constant(of) => Some(internal(of)),
            Self::Other => None,
        }
    }
}

/// The name that a name in the text of the prelude stands for.
pub(super) fn internal(name: &str) -> Cow<'_, str> {
    match name.strip_prefix("__") {
        Some(rest) => format!("#{rest}").into(),
        None => name.into(),
    }
}

/// The words that may stand before the name of a function that is defined, in this order.
pub(super) const BEFORE_NAME: [&str; 4] = ["@inline ", "@noinline ", "@inbounds ", "function "];

/// The statements of a file of the prelude, in order.
pub fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let missing = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    let mut start = 0;
    let lines = ends.chain(missing).map(move |end| std::mem::replace(&mut start, end)..end);
    let mut lines = lines.peekable();
    std::iter::from_fn(move || {
        let mut range = lines.find(|line| begins(&text[line.clone()]))?;
        let first = range.clone();
        while let Some(line) = lines.next_if(|line| !begins(&text[line.clone()])) {
            // Comments and empty lines between two statements belong to neither.
            if !matches!(text.as_bytes()[line.start], b'\n' | b'#') {
                range.end = line.end;
            }
        }
        let kind = kind(&text[first]);
        Some(Statement { range: range.start as u32..range.end as u32, kind })
    })
}

/// Returns whether a statement begins with a line.
fn begins(line: &str) -> bool {
    match line.as_bytes()[0] {
        b' ' | b'\n' | b'#' | b')' | b']' => false,
        // `endswith(…) = …`
        b'e' => match line.strip_prefix("end") {
            Some(rest) => rest.starts_with(is_part_of_name),
            None => !line.starts_with("else"),
        },
        _ => true,
    }
}

/// Returns the kind of the statement that begins with a line.
fn kind(line: &str) -> Kind<'_> {
    for word in ["struct ", "mutable struct ", "abstract type "] {
        if let Some(head) = line.strip_prefix(word) {
            return Kind::Declaration(name(head));
        }
    }
    if let Some((alias, ty)) = line.strip_prefix("const ").and_then(|rest| rest.split_once(" = ")) {
        return match ty[name(ty).len()..].starts_with('{') {
            true => Kind::Alias(alias),
            false if is_plain_constant(ty.trim_end()) => Kind::Constant(alias),
            false => Kind::Other,
        };
    }
    if let Some(named) = line.trim_end().strip_prefix("function ")
        && let Some(named) = named.strip_suffix(" end")
        && name(named) == named
    {
        return Kind::Function(named);
    }
    owner(line).map_or(Kind::Other, Kind::Method)
}

/// Returns whether a text is another name, or the only value of a type.
fn is_plain_constant(value: &str) -> bool {
    let of = value.strip_prefix("__new(").and_then(|of| of.strip_suffix(')'));
    let is_name = name(value) == value && !value.starts_with(|c: char| c.is_ascii_digit());
    of.map_or(is_name, |of| !of.contains(','))
}

/// Returns the owner of the methods that a statement defines, if its first line tells.
fn owner(line: &str) -> Option<Owner<'_>> {
    let mut rest = line;
    for word in BEFORE_NAME {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if let Some(head) = rest.strip_prefix("macro ") {
        return Some(Owner::Macro(name(head)));
    }
    if let Some(instance) = rest.strip_prefix('(') {
        let (callee, _) = instance.split_once(')')?;
        let Some((_, ty)) = callee.split_once("::") else {
            // `(:)(a, b) = …`
            return is_operator(callee).then_some(Owner::Named(callee));
        };
        return Some(match ty.strip_prefix("Type{") {
            Some(of) => Owner::Type(name(of)),
            None => Owner::Instance(name(ty)),
        });
    }
    let named = name(rest);
    let named = match &rest[named.len()..] {
        after if after.starts_with('(') => named,
        _ => {
            let named = &rest[..rest.find('(')?];
            (is_operator(named) || named == "!=" || named == "!==").then_some(named)?
        }
    };
    (!named.is_empty()).then_some(Owner::Named(named))
}

/// Returns whether a text is the name of an operator.
fn is_operator(text: &str) -> bool {
    text.chars().all(|c| !is_part_of_name(c) && !" \"@".contains(c))
}

/// The name that a text begins with.
pub(super) fn name(text: &str) -> &str {
    let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!');
    let plain = text.bytes().take_while(is_plain).count();
    match text.as_bytes().get(plain) {
        Some(byte) if !byte.is_ascii() => {
            &text[..text.find(|c| !is_part_of_name(c)).unwrap_or(text.len())]
        }
        _ => &text[..plain],
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '!'
}
