//! Derivative rules of scalar ops as text.
//!
//! ```text
//! d math.sin(x) = cos(x)               # one partial derivative per operand
//! d arith.mul(x, y) = y, x
//! d math.exp(x) -> z = z               # the result has a name
//! d math.sqrt(x) -> z = strong 0.5 / z # a zero times this is zero, even where it is infinite
//! d math.powi(x, n) = float(n) * powi(x, n - 1), _    # no derivative by an integer
//! d data.bits(x) = error "bits have no derivative"
//! ```
//!
//! A rule is one line; a line that starts with blanks goes on with the one before. Comments go
//! from `#` to the end of the line. Which ops there are, and what the names in an expression
//! stand for, is none of this module's business.

use std::ops::Range;

use logos::Logos;
use regraft_ir::{Constant, Diagnostic};

use crate::derivative_grammar::RulesParser;
use crate::report::Groups;
use crate::rule_reader::{Name, RuleReader, RuleSource, RuleTokens};

/// The greatest depth to which the expressions of derivative rules nest. A walk of one may recurse.
pub const MAX_DERIVATIVE_DEPTH: usize = 64;

/// Derivative rules as they are written.
#[derive(Clone, Debug, Default)]
pub struct DerivativeText {
    /// The rules in order.
    pub rules: Vec<DerivativeRule>,
    source: RuleSource,
}

/// A derivative rule as it is written.
#[derive(Clone, Debug)]
pub struct DerivativeRule {
    /// The op in full, such as `math.sin`.
    pub op: Name,
    /// The names of its operands.
    pub operands: Vec<Name>,
    /// The name of its result, if it has one.
    pub result: Option<Name>,
    /// One for each operand, if the rule is right.
    pub partials: Vec<DerivativePartial>,
}

/// The derivative by one operand as it is written.
#[derive(Clone, Debug)]
pub struct DerivativePartial {
    /// The kind of derivative that it is.
    pub kind: PartialKind,
    /// Its bytes.
    pub span: Range<usize>,
}

/// The kind of the derivative by one operand, with its parts.
#[derive(Clone, Debug)]
pub enum PartialKind {
    /// An expression, and whether a zero times it is zero whatever it is: `strong`.
    Expression(DerivativeExpr, bool),
    /// `_`: there is none, as by an integer.
    None,
    /// `error "text"`: it is not known how to compute it.
    Error(String),
}

/// An expression of a derivative rule.
#[derive(Clone, Debug)]
pub struct DerivativeExpr {
    /// The kind of expression that it is.
    pub kind: DerivativeExprKind,
    /// Its bytes.
    pub span: Range<usize>,
    /// The depth to which expressions nest in it, itself counted.
    depth: usize,
}

/// The kind of an expression of a derivative rule, with its parts.
#[derive(Clone, Debug)]
pub enum DerivativeExprKind {
    /// `x`, `pi`.
    Name(String),
    /// `2`.
    Int(i64),
    /// `0.5`.
    Float(f64),
    /// `cos(x)`, `math.cos(x)`; of `-x`, `x + y`, `x == y`, the op that it stands for.
    Call(Name, Vec<DerivativeExpr>),
}

impl DerivativeText {
    /// An error about the bytes `span` of the text.
    pub fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.source.error(span, message.into(), label.into())
    }
}

/// The tokens of derivative rules.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum RuleToken {
    #[token("\n")]
    Newline,
    #[token("d", priority = 3)]
    D,
    #[token("strong")]
    Strong,
    #[token("error")]
    Error,
    #[token("_", priority = 3)]
    Nothing,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")]
    Name,
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token(",")]
    Comma,
    #[token("=")]
    Equals,
    #[token("->")]
    Arrow,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("==")]
    Same,
    #[token("!=")]
    Differs,
    #[token("<")]
    Less,
    #[token("<=")]
    AtMost,
    #[token(">")]
    Greater,
    #[token(">=")]
    AtLeast,
    Invalid,
}

impl RuleTokens<'_> for RuleToken {
    const NEWLINE: Self = Self::Newline;
    const INVALID: Self = Self::Invalid;
    const GROUPS: &'static Groups = &[
        ("an operator", &["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">="]),
        ("an expression", &["name", "number", "(", "-"]),
    ];
}

/// Reads derivative rules. `name` is what errors call the text. O(length).
///
/// # Errors
/// Everything that is wrong with the text. Also if an expression is nested deeper than
/// [`MAX_DERIVATIVE_DEPTH`].
pub fn parse_derivatives(name: &str, text: &str) -> Result<DerivativeText, Vec<Diagnostic>> {
    let mut reader = RuleReader::new(name, text);
    let tokens = reader.tokens();
    let rules = RulesParser::new().parse(&mut reader, tokens);
    let (rules, source) = reader.finish(rules)?;
    Ok(DerivativeText { rules, source })
}

/// A number as an expression; the grammar's lexer lets through integers and doubles only.
pub(crate) fn number(b: &mut RuleReader<'_>, span: Range<usize>) -> DerivativeExpr {
    let kind = match b.number(span.clone()) {
        Constant::I64(x) => DerivativeExprKind::Int(x),
        Constant::F64(bits) => DerivativeExprKind::Float(f64::from_bits(bits)),
        _ => DerivativeExprKind::Int(0),
    };
    DerivativeExpr { kind, span, depth: 1 }
}

pub(crate) fn named(b: &RuleReader<'_>, span: Range<usize>) -> DerivativeExpr {
    let kind = DerivativeExprKind::Name(b.slice(span.clone()).to_owned());
    DerivativeExpr { kind, span, depth: 1 }
}

pub(crate) fn call(
    b: &mut RuleReader<'_>,
    op: Name,
    args: Vec<DerivativeExpr>,
    span: Range<usize>,
) -> DerivativeExpr {
    let depth = 1 + args.iter().map(|arg| arg.depth).max().unwrap_or(0);
    if depth > MAX_DERIVATIVE_DEPTH {
        let message = format!("expressions are nested more than {MAX_DERIVATIVE_DEPTH} deep");
        b.error(span.clone(), message, "");
        return DerivativeExpr { kind: DerivativeExprKind::Int(0), span, depth: 1 };
    }
    DerivativeExpr { kind: DerivativeExprKind::Call(op, args), span, depth }
}

/// An operator, which stands for the op of that name.
pub(crate) fn operator(
    b: &mut RuleReader<'_>,
    op: &str,
    at: Range<usize>,
    args: Vec<DerivativeExpr>,
    span: Range<usize>,
) -> DerivativeExpr {
    call(b, Name { text: op.to_owned(), span: at }, args, span)
}

#[cfg(test)]
mod tests;
