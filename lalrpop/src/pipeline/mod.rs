//! Pipelines of passes as text.
//!
//! ```text
//! inline{max-size=80}, sroa, fix{max=8}(sccp, gvn, dce), loop(licm, unroll{factor=4}), verify
//! ```
//!
//! A pass is a name, options in braces, and, for what runs other passes, these in parentheses.
//! An option without a value is switched on. Parentheses without a name group. White space,
//! newlines and comments (`#` to the end of the line) do not matter. Which passes and options
//! there are is none of this module's business.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use lalrpop_util::{ErrorRecovery, ParseError};
use logos::Logos;
use regraft_ir::{Constant, Diagnostic, Label};

use crate::literal;
use crate::pipeline_grammar::PipelineParser;
use crate::report::{expected_words, parts, unexpected_character};

/// The greatest depth to which pipelines nest. Running or dropping one may recurse.
pub const MAX_PIPELINE_DEPTH: usize = 64;
/// The longest text of a pipeline in bytes.
pub const MAX_PIPELINE_LENGTH: usize = 1 << 16;

/// A pipeline as it is written. It prints as text that reads back as an equal one; what it was
/// read from does not take part in the comparison.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The passes in order.
    pub passes: Vec<PassSpec>,
    text: Arc<str>,
}

/// A pass of a pipeline as it is written.
#[derive(Clone, Debug)]
pub struct PassSpec {
    /// Its name; empty for parentheses that only group.
    pub name: String,
    /// Its options in order; no name occurs twice.
    pub options: Vec<PassOption>,
    /// The passes in its parentheses, if it has parentheses.
    pub children: Option<Vec<PassSpec>>,
    /// The bytes of its name; of the opening parenthesis if it has none.
    pub span: Range<usize>,
}

/// An option of a pass as it is written.
#[derive(Clone, Debug)]
pub struct PassOption {
    /// Its name.
    pub name: String,
    /// Its value; `true` if none is written.
    pub value: OptionValue,
    /// The bytes of the name.
    pub span: Range<usize>,
    /// The bytes of the value; of the name if no value is written.
    pub value_span: Range<usize>,
}

/// The value of an option.
#[derive(Clone, PartialEq, Debug)]
pub enum OptionValue {
    /// `true`, `false`.
    Bool(bool),
    /// `80`.
    Int(i64),
    /// `0.5`, `inf`, `nan`.
    Float(f64),
    /// `naive`: what is neither of these and needs no quotes.
    Word(String),
    /// `"some text"`.
    Str(String),
}

impl PartialEq for Pipeline {
    fn eq(&self, other: &Self) -> bool {
        self.passes == other.passes
    }
}

impl PartialEq for PassSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.options == other.options && self.children == other.children
    }
}

impl PartialEq for PassOption {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl Pipeline {
    /// A pipeline that was not read from text.
    pub fn new(passes: Vec<PassSpec>) -> Self {
        Self { passes, text: Arc::default() }
    }

    /// Returns the text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An error about the bytes `span` of its text: an unknown pass, say.
    pub fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        error_in(&self.text, span, message.into(), label.into())
    }
}

fn error_in(text: &Arc<str>, span: Range<usize>, message: String, label: String) -> Diagnostic {
    let label = Label { span, text: label };
    Diagnostic::error(message).in_text("pipeline", Arc::clone(text), vec![label])
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.passes)
    }
}

impl fmt::Display for PassSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.options.is_empty() {
            f.write_str("{")?;
            write_list(f, &self.options)?;
            f.write_str("}")?;
        }
        if let Some(children) = &self.children {
            f.write_str("(")?;
            write_list(f, children)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Display for PassOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.value != OptionValue::Bool(true) {
            write!(f, "={}", self.value)?;
        }
        Ok(())
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(x) => write!(f, "{x}"),
            Self::Int(x) => write!(f, "{x}"),
            Self::Float(x) if x.is_nan() => f.write_str("nan"),
            // `{:?}` gives the shortest digits that read back, with a dot or an exponent.
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Word(word) => f.write_str(word),
            Self::Str(text) => f.write_str(&literal::quote(text)),
        }
    }
}

fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, list: &[T]) -> fmt::Result {
    for (i, item) in list.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        write!(f, "{item}")?;
    }
    Ok(())
}

/// The tokens of the text of a pipeline.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum PipelineToken {
    #[regex(r"[A-Za-z_][A-Za-z0-9_.\-]*")]
    Name,
    #[token("true")]
    #[token("false")]
    Bool,
    #[regex(r"-?[0-9]([0-9A-Za-z_.]|[eE][+-])*")]
    Number,
    #[token("inf")]
    #[token("-inf")]
    #[token("nan")]
    FloatWord,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#)]
    Unterminated,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token("=")]
    Equals,
    Invalid,
}

type PipelineError = ParseError<usize, PipelineToken, std::convert::Infallible>;

/// The state that the grammar works on.
pub(crate) struct Reader<'s> {
    text: &'s str,
    source: Arc<str>,
    errors: Vec<Diagnostic>,
}

/// Reads the text of a pipeline; an empty one has no passes. O(length).
///
/// # Errors
/// Everything that is wrong with the text. Also if it is longer than [`MAX_PIPELINE_LENGTH`] or
/// nested deeper than [`MAX_PIPELINE_DEPTH`].
pub fn parse_pipeline(text: &str) -> Result<Pipeline, Vec<Diagnostic>> {
    if text.len() > MAX_PIPELINE_LENGTH {
        let message = format!(
            "the pipeline is longer than {MAX_PIPELINE_LENGTH} bytes, it has {}",
            text.len()
        );
        return Err(vec![Diagnostic::error(message)]);
    }
    let source: Arc<str> = text.into();
    let mut depth = 0usize;
    let tokens = PipelineToken::lexer(text).spanned();
    let mut tokens =
        tokens.map(|(token, span)| (span.start, token.unwrap_or(PipelineToken::Invalid), span.end));
    for (start, token, end) in tokens.clone() {
        match token {
            PipelineToken::OpenParen => depth += 1,
            PipelineToken::CloseParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_PIPELINE_DEPTH {
            let message = format!("passes are nested more than {MAX_PIPELINE_DEPTH} deep");
            return Err(vec![error_in(&source, start..end, message, "one too many".to_owned())]);
        }
    }
    let mut reader = Reader { text, source, errors: Vec::new() };
    let passes = match PipelineParser::new().parse(&mut reader, &mut tokens) {
        Ok(passes) => passes,
        Err(error) => {
            reader.syntax_error(error);
            Vec::new()
        }
    };
    if reader.errors.is_empty() {
        Ok(Pipeline { passes, text: reader.source })
    } else {
        Err(reader.errors)
    }
}

impl Reader<'_> {
    fn error(&mut self, span: Range<usize>, message: String, label: &str) {
        self.errors.push(error_in(&self.source, span, message, label.to_owned()));
    }

    pub(crate) fn recovered(
        &mut self,
        error: ErrorRecovery<usize, PipelineToken, std::convert::Infallible>,
    ) {
        self.syntax_error(error.error);
    }

    fn syntax_error(&mut self, error: PipelineError) {
        let (span, token, expected) = parts(error);
        let found = match token {
            None => "the end".to_owned(),
            Some(PipelineToken::Unterminated) => {
                return self.error(span, "the string is not closed".to_owned(), "expected `\"`");
            }
            Some(PipelineToken::Invalid) => {
                let (span, message) = unexpected_character(self.text, span.start);
                return self.error(span, message, "");
            }
            Some(_) => format!("`{}`", &self.text[span.clone()]),
        };
        let expected = expected_words(&expected, GROUPS, |terminal| match terminal {
            "name" => "a name".to_owned(),
            other => format!("`{other}`"),
        });
        let label = format!("expected {expected}");
        self.error(span, format!("expected {expected}, found {found}"), &label);
    }

    pub(crate) fn text(&self, span: &Range<usize>) -> String {
        self.text[span.clone()].to_owned()
    }

    pub(crate) fn option(
        &mut self,
        span: Range<usize>,
        value: Option<(OptionValue, Range<usize>)>,
    ) -> PassOption {
        let (value, value_span) = value.unwrap_or_else(|| (OptionValue::Bool(true), span.clone()));
        PassOption { name: self.text(&span), value, span, value_span }
    }

    pub(crate) fn add_option(
        &mut self,
        mut options: Vec<PassOption>,
        option: PassOption,
    ) -> Vec<PassOption> {
        if options.iter().any(|other| other.name == option.name) {
            let message = format!("option `{}` is given twice", option.name);
            self.error(option.span.clone(), message, "second value");
        }
        options.push(option);
        options
    }

    pub(crate) fn number(&mut self, span: &Range<usize>) -> OptionValue {
        match literal::number(&self.text[span.clone()]) {
            Ok(Constant::I64(x)) => return OptionValue::Int(x),
            Ok(Constant::F64(bits)) => return OptionValue::Float(f64::from_bits(bits)),
            Ok(_) => {
                let message =
                    format!("`{}`: numbers have no suffix here", &self.text[span.clone()]);
                self.error(span.clone(), message, "");
            }
            Err(message) => self.error(span.clone(), message, ""),
        }
        OptionValue::Int(0)
    }

    pub(crate) fn float_word(&self, span: &Range<usize>) -> OptionValue {
        let value = match &self.text[span.clone()] {
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => f64::NAN,
        };
        OptionValue::Float(value)
    }

    pub(crate) fn string(&mut self, span: &Range<usize>) -> OptionValue {
        match literal::unquote(&self.text[span.clone()]) {
            Ok(text) => OptionValue::Str(text.into_owned()),
            Err((offset, len)) => {
                let wrong = span.start + offset..span.start + offset + len;
                let message = format!("unknown escape `{}`", &self.text[wrong.clone()]);
                self.error(wrong, message, "");
                OptionValue::Str(String::new())
            }
        }
    }
}

const GROUPS: &crate::report::Groups =
    &[("a value", &["name", "true or false", "number", "float", "text"])];

#[cfg(test)]
mod tests;
