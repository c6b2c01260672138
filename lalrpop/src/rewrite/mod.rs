//! Rewrite rules as text.
//!
//! ```text
//! rule add-neg exact: arith.add ?a, (arith.neg ?b) => arith.sub ?a, ?b
//! rule mul-one exact: arith.mul ?a, 1.0 => ?a  if quiet ?a
//! rule neg-mul exact: arith.neg (arith.mul ?a, ?b) <=> arith.mul (arith.neg ?a), ?b
//!     if float ?a, not const ?b
//! ```
//!
//! A rule is one line; a line that starts with blanks goes on with the one before. Comments go
//! from `#` to the end of the line. `=>` replaces the left side by the right one, `<=>` also the
//! right one by the left. Which ops, sets and conditions there are is none of this module's
//! business.

use std::ops::Range;

use logos::Logos;
use regraft_ir::{Constant, Diagnostic};

use crate::report::Groups;
use crate::rewrite_grammar::RulesParser;
use crate::rule_reader::{Name, RuleReader, RuleSource, RuleTokens};

/// The greatest depth to which the terms of rewrite rules nest. A walk of one may recurse.
pub const MAX_TERM_DEPTH: usize = 32;

/// Rewrite rules as they are written.
#[derive(Clone, Debug, Default)]
pub struct RewriteText {
    /// The rules in order.
    pub rules: Vec<RewriteRule>,
    source: RuleSource,
}

/// A rewrite rule as it is written.
#[derive(Clone, Debug)]
pub struct RewriteRule {
    /// The name of the rule.
    pub name: Name,
    /// The set that it belongs to.
    pub set: Name,
    /// The term that is replaced.
    pub from: RewriteTerm,
    /// The term that replaces it.
    pub to: RewriteTerm,
    /// Tells whether the right side may be replaced by the left one too: `<=>`.
    pub both_ways: bool,
    /// The conditions on its variables, all of which must hold.
    pub conditions: Vec<RewriteCondition>,
    /// Its bytes.
    pub span: Range<usize>,
}

/// A term of a rewrite rule.
#[derive(Clone, Debug)]
pub struct RewriteTerm {
    /// The kind of term that it is.
    pub kind: RewriteTermKind,
    /// Its bytes.
    pub span: Range<usize>,
    /// The depth to which terms nest in it, itself counted.
    depth: usize,
}

/// The kind of a term of a rewrite rule, with its parts.
#[derive(Clone, Debug)]
pub enum RewriteTermKind {
    /// `?a`.
    Variable(String),
    /// `1`, `-0.0`, `true`. An integer stands for a float too, if the term beside it is one.
    Literal(Constant),
    /// `arith.add ?a, ?b`.
    Op(Name, Vec<RewriteTerm>),
}

/// A condition of a rewrite rule: `not const ?a`.
#[derive(Clone, Debug)]
pub struct RewriteCondition {
    /// Tells whether the opposite is asked for.
    pub negated: bool,
    /// The name of the condition.
    pub name: Name,
    /// The variable, without its question mark.
    pub variable: Name,
}

impl RewriteText {
    /// An error about the bytes `span` of the text.
    pub fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.source.error(span, message.into(), label.into())
    }

    /// The bytes `span` of the text.
    pub fn text(&self, span: Range<usize>) -> &str {
        self.source.slice(span)
    }
}

/// The tokens of rewrite rules.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum RewriteToken {
    #[token("\n")]
    Newline,
    #[token("rule", priority = 10)]
    Rule,
    #[token("if", priority = 10)]
    If,
    #[token("not", priority = 10)]
    Not,
    #[token("true", priority = 10)]
    True,
    #[token("false", priority = 10)]
    False,
    #[token("inf", priority = 10)]
    #[token("-inf", priority = 10)]
    Infinity,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*([-.][A-Za-z0-9_]+)*")]
    Name,
    // Blanks, for terms that Rust's `stringify!` has spaced out.
    #[regex(r"\? *[A-Za-z_][A-Za-z0-9_]*")]
    Variable,
    #[regex(r"(- *)?[0-9][0-9A-Za-z]*(\.[0-9]+([eE][+-]?[0-9]+)?(f32|f64)?)?")]
    Number,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("=>")]
    Arrow,
    #[token("<=>")]
    BothWays,
    Invalid,
}

impl RuleTokens<'_> for RewriteToken {
    const NEWLINE: Self = Self::Newline;
    const INVALID: Self = Self::Invalid;
    const GROUPS: &'static Groups = &[
        ("a term", &["name", "variable", "number", "true", "false", "inf", "("]),
        ("an operand", &["variable", "number", "true", "false", "inf", "("]),
    ];
}

/// Reads rewrite rules. `name` is what errors call the text. O(length).
///
/// # Errors
/// Everything that is wrong with the text. Also if a term is nested deeper than [`MAX_TERM_DEPTH`].
pub fn parse_rewrites(name: &str, text: &str) -> Result<RewriteText, Vec<Diagnostic>> {
    let mut reader = RuleReader::new(name, text);
    let tokens = reader.tokens();
    let rules = RulesParser::new().parse(&mut reader, tokens);
    let (rules, source) = reader.finish(rules)?;
    Ok(RewriteText { rules, source })
}

/// A variable or literal.
pub(crate) fn leaf(kind: RewriteTermKind, span: Range<usize>) -> RewriteTerm {
    RewriteTerm { kind, span, depth: 1 }
}

/// A number as a term.
pub(crate) fn number(b: &mut RuleReader<'_>, span: Range<usize>) -> RewriteTerm {
    leaf(RewriteTermKind::Literal(b.number(span.clone())), span)
}

/// An infinity as a term.
pub(crate) fn infinity(b: &RuleReader<'_>, span: Range<usize>) -> RewriteTerm {
    let negative = b.slice(span.clone()).starts_with('-');
    let value = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    leaf(RewriteTermKind::Literal(value.into()), span)
}

/// The name of a variable without its question mark.
pub(crate) fn variable(b: &RuleReader<'_>, span: Range<usize>) -> Name {
    let text = b.slice(span.clone()).trim_start_matches(['?', ' ']).to_owned();
    Name { text, span }
}

/// An op with its operands.
pub(crate) fn op(
    b: &mut RuleReader<'_>,
    name: Name,
    operands: Vec<RewriteTerm>,
    span: Range<usize>,
) -> RewriteTerm {
    let depth = 1 + operands.iter().map(|term| term.depth).max().unwrap_or(0);
    if depth > MAX_TERM_DEPTH {
        b.error(span.clone(), format!("terms are nested more than {MAX_TERM_DEPTH} deep"), "");
        return leaf(RewriteTermKind::Literal(Constant::I64(0)), span);
    }
    RewriteTerm { kind: RewriteTermKind::Op(name, operands), span, depth }
}

#[cfg(test)]
mod tests;
