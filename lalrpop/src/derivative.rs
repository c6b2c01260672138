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
use std::sync::Arc;

use lalrpop_util::{ErrorRecovery, ParseError};
use logos::Logos;
use regraft_ir::{Constant, Diagnostic, Label};

use crate::derivative_grammar::RulesParser;
use crate::literal;
use crate::report::expected_words;

/// The greatest depth to which the expressions of derivative rules nest. A walk of one may recurse.
pub const MAX_DERIVATIVE_DEPTH: usize = 64;

/// Derivative rules as they are written.
#[derive(Clone, Debug, Default)]
pub struct DerivativeText {
    /// The rules in order.
    pub rules: Vec<DerivativeRule>,
    name: Arc<str>,
    text: Arc<str>,
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

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its bytes.
    pub span: Range<usize>,
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
        error_in(&self.name, &self.text, span, message.into(), label.into())
    }
}

fn error_in(
    name: &str,
    text: &Arc<str>,
    span: Range<usize>,
    message: String,
    label: String,
) -> Diagnostic {
    let label = Label { span, text: label };
    Diagnostic::error(message).in_text(name, Arc::clone(text), vec![label])
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

type RuleError = ParseError<usize, RuleToken, std::convert::Infallible>;

/// The state that the grammar works on.
pub(crate) struct Reader<'s> {
    name: &'s str,
    text: &'s str,
    source: Arc<str>,
    errors: Vec<Diagnostic>,
}

/// Reads derivative rules. `name` is what errors call the text. O(length).
///
/// # Errors
/// Everything that is wrong with the text. Also if an expression is nested deeper than
/// [`MAX_DERIVATIVE_DEPTH`].
pub fn parse_derivatives(name: &str, text: &str) -> Result<DerivativeText, Vec<Diagnostic>> {
    let mut reader = Reader { name, text, source: text.into(), errors: Vec::new() };
    // The next line that says anything goes on with this one if it starts with blanks.
    let goes_on = |end: usize| {
        let is_empty = |line: &str| line.is_empty() || line.starts_with('#');
        let next = text[end..].lines().find(|line| !is_empty(line.trim()));
        next.is_some_and(|line| line.starts_with([' ', '\t']))
    };
    let tokens = RuleToken::lexer(text)
        .spanned()
        .map(|(token, span)| (span.start, token.unwrap_or(RuleToken::Invalid), span.end))
        .filter(|&(_, token, end)| token != RuleToken::Newline || !goes_on(end));
    let rules = match RulesParser::new().parse(&mut reader, tokens) {
        Ok(rules) => rules,
        Err(error) => {
            reader.syntax_error(error);
            Vec::new()
        }
    };
    if reader.errors.is_empty() {
        Ok(DerivativeText { rules, name: name.into(), text: reader.source })
    } else {
        Err(reader.errors)
    }
}

impl Reader<'_> {
    fn error(&mut self, span: Range<usize>, message: String, label: &str) {
        let error = error_in(self.name, &self.source, span, message, label.to_owned());
        self.errors.push(error);
    }

    pub(crate) fn recovered(
        &mut self,
        error: ErrorRecovery<usize, RuleToken, std::convert::Infallible>,
    ) {
        self.syntax_error(error.error);
    }

    fn syntax_error(&mut self, error: RuleError) {
        let (span, token, expected) = match error {
            ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
                (start..end, Some(token), expected)
            }
            ParseError::ExtraToken { token: (start, token, end) } => {
                (start..end, Some(token), Vec::new())
            }
            ParseError::UnrecognizedEof { location, expected } => {
                (location..location, None, expected)
            }
            ParseError::InvalidToken { location } => (location..location, None, Vec::new()),
        };
        let found = match token {
            None => "the end".to_owned(),
            Some(RuleToken::Newline) => "the end of the line".to_owned(),
            Some(RuleToken::Invalid) => {
                let c = self.text[span.start..].chars().next().unwrap_or(' ');
                let span = span.start..span.start + c.len_utf8();
                let message = format!("unexpected character `{}`", c.escape_debug());
                return self.error(span, message, "");
            }
            Some(_) => format!("`{}`", &self.text[span.clone()]),
        };
        let expected = expected_words(&expected, GROUPS, |terminal| match terminal {
            "newline" => "the end of the line".to_owned(),
            "name" => "a name".to_owned(),
            "number" => "a number".to_owned(),
            "text" => "a string".to_owned(),
            other => format!("`{other}`"),
        });
        let label = format!("expected {expected}");
        self.error(span, format!("expected {expected}, found {found}"), &label);
    }

    pub(crate) fn name(&self, span: Range<usize>) -> Name {
        Name { text: self.text[span.clone()].to_owned(), span }
    }

    pub(crate) fn number(&mut self, span: Range<usize>) -> DerivativeExpr {
        let kind = match literal::number(&self.text[span.clone()]) {
            Ok(Constant::I64(x)) => DerivativeExprKind::Int(x),
            Ok(Constant::F64(bits)) => DerivativeExprKind::Float(f64::from_bits(bits)),
            Ok(_) => DerivativeExprKind::Int(0),
            Err(message) => {
                self.error(span.clone(), message, "");
                DerivativeExprKind::Int(0)
            }
        };
        DerivativeExpr { kind, span, depth: 1 }
    }

    pub(crate) fn named(&self, span: Range<usize>) -> DerivativeExpr {
        let kind = DerivativeExprKind::Name(self.text[span.clone()].to_owned());
        DerivativeExpr { kind, span, depth: 1 }
    }

    pub(crate) fn call(
        &mut self,
        op: Name,
        args: Vec<DerivativeExpr>,
        span: Range<usize>,
    ) -> DerivativeExpr {
        let depth = 1 + args.iter().map(|arg| arg.depth).max().unwrap_or(0);
        if depth > MAX_DERIVATIVE_DEPTH {
            let message = format!("expressions are nested more than {MAX_DERIVATIVE_DEPTH} deep");
            self.error(span.clone(), message, "");
            return DerivativeExpr { kind: DerivativeExprKind::Int(0), span, depth: 1 };
        }
        DerivativeExpr { kind: DerivativeExprKind::Call(op, args), span, depth }
    }

    /// An operator stands for the op of that name.
    pub(crate) fn operator(
        &mut self,
        op: &str,
        at: Range<usize>,
        args: Vec<DerivativeExpr>,
        span: Range<usize>,
    ) -> DerivativeExpr {
        self.call(Name { text: op.to_owned(), span: at }, args, span)
    }

    pub(crate) fn string(&mut self, span: Range<usize>) -> String {
        match literal::unquote(&self.text[span.clone()]) {
            Ok(text) => text.into_owned(),
            Err((offset, len)) => {
                let wrong = span.start + offset..span.start + offset + len;
                let message = format!("unknown escape `{}`", &self.text[wrong.clone()]);
                self.error(wrong, message, "");
                String::new()
            }
        }
    }
}

const GROUPS: &crate::report::Groups = &[
    ("an operator", &["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">="]),
    ("an expression", &["name", "number", "(", "-"]),
];

#[cfg(test)]
mod tests;
