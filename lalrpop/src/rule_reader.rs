//! Texts of rules, one on each line: their lines, places and errors.
//!
//! A line that starts with blanks goes on with the one before.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use lalrpop_util::ParseError;
use logos::Logos;
use regraft_ir::{Constant, Diagnostic, Label};

use crate::literal;
use crate::report::{Groups, expected_words, parts, unexpected_character};

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its bytes.
    pub span: Range<usize>,
}

/// A text of rules and what it is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSource {
    name: Arc<str>,
    text: Arc<str>,
}

impl RuleSource {
    /// An error about the bytes `span` of the text.
    pub(crate) fn error(&self, span: Range<usize>, message: String, label: String) -> Diagnostic {
        let label = Label { span, text: label };
        Diagnostic::error(message).in_text(&self.name, Arc::clone(&self.text), vec![label])
    }

    /// The text of the bytes `span`.
    pub(crate) fn slice(&self, span: Range<usize>) -> &str {
        &self.text[span]
    }
}

/// Splits a text into its rules, each with the number of its first line. O(length).
///
/// ```
/// let text = "# Sums\nd o.p(x) = 1\n\nd o.q(x) =\n  2\n";
/// let rules: Vec<_> = regraft_syntax::rule_texts(text).collect();
/// assert_eq!(rules, [(2, "d o.p(x) = 1\n"), (4, "d o.q(x) =\n  2\n")]);
/// ```
pub fn rule_texts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rules: Vec<(usize, Range<usize>)> = Vec::new();
    let mut end = 0;
    for (before, line) in text.split_inclusive('\n').enumerate() {
        let range = end..end + line.len();
        end = range.end;
        match (line.as_bytes()[0], rules.last_mut()) {
            (b' ' | b'\t', Some((_, rule))) => rule.end = end,
            (b' ' | b'\t' | b'\r' | b'\n' | b'#', _) => {}
            _ => rules.push((before + 1, range)),
        }
    }
    rules.into_iter().map(move |(line, range)| (line, &text[range]))
}

/// The tokens of a text of rules.
pub(crate) trait RuleTokens<'s>: Logos<'s, Source = str> + Copy + PartialEq {
    /// The end of a line.
    const NEWLINE: Self;
    /// Anything that is no token.
    const INVALID: Self;
    /// The terminals that are one thing to the user.
    const GROUPS: &'static Groups;
}

/// The words for a terminal.
fn describe(terminal: &str) -> String {
    match terminal {
        "newline" => "the end of the line".to_owned(),
        "name" => "a name".to_owned(),
        "variable" => "a variable such as `?a`".to_owned(),
        "number" => "a number".to_owned(),
        "text" => "a string".to_owned(),
        other => format!("`{other}`"),
    }
}

/// The state that the grammars of rules work on.
pub(crate) struct RuleReader<'s> {
    text: &'s str,
    source: RuleSource,
    errors: Vec<Diagnostic>,
}

impl<'s> RuleReader<'s> {
    /// Of a text that errors call `name`.
    pub(crate) fn new(name: &str, text: &'s str) -> Self {
        let source = RuleSource { name: name.into(), text: text.into() };
        Self { text, source, errors: Vec::new() }
    }

    /// The tokens, without the ends of lines that the next one goes on with.
    pub(crate) fn tokens<T: RuleTokens<'s> + 's>(
        &self,
    ) -> impl Iterator<Item = (usize, T, usize)> + use<'s, T>
    where
        T::Extras: Default,
    {
        let text = self.text;
        let goes_on = move |end: usize| {
            let is_empty = |line: &str| line.is_empty() || line.starts_with('#');
            let next = text[end..].lines().find(|line| !is_empty(line.trim()));
            next.is_some_and(|line| line.starts_with([' ', '\t']))
        };
        T::lexer(text)
            .spanned()
            .map(|(token, span)| (span.start, token.unwrap_or(T::INVALID), span.end))
            .filter(move |&(_, token, end)| token != T::NEWLINE || !goes_on(end))
    }

    /// The rules that a grammar has made, with the text, or everything that is wrong with it.
    pub(crate) fn finish<R, T: RuleTokens<'s>>(
        mut self,
        made: Result<Vec<R>, ParseError<usize, T, Infallible>>,
    ) -> Result<(Vec<R>, RuleSource), Vec<Diagnostic>> {
        let rules = made.unwrap_or_else(|error| {
            self.syntax_error(error);
            Vec::new()
        });
        if self.errors.is_empty() { Ok((rules, self.source)) } else { Err(self.errors) }
    }

    pub(crate) fn error(&mut self, span: Range<usize>, message: String, label: &str) {
        self.errors.push(self.source.error(span, message, label.to_owned()));
    }

    pub(crate) fn syntax_error<T: RuleTokens<'s>>(
        &mut self,
        error: ParseError<usize, T, Infallible>,
    ) {
        let (span, token, expected) = parts(error);
        let found = match token {
            None => "the end".to_owned(),
            Some(token) if token == T::NEWLINE => "the end of the line".to_owned(),
            Some(token) if token == T::INVALID => {
                let (span, message) = unexpected_character(self.text, span.start);
                return self.error(span, message, "");
            }
            Some(_) => format!("`{}`", &self.text[span.clone()]),
        };
        let expected = expected_words(&expected, T::GROUPS, describe);
        let label = format!("expected {expected}");
        self.error(span, format!("expected {expected}, found {found}"), &label);
    }

    /// The text of the bytes `span`.
    pub(crate) fn slice(&self, span: Range<usize>) -> &'s str {
        &self.text[span]
    }

    pub(crate) fn name(&self, span: Range<usize>) -> Name {
        Name { text: self.text[span.clone()].to_owned(), span }
    }

    /// A number; 0 if it is none, which is reported.
    pub(crate) fn number(&mut self, span: Range<usize>) -> Constant {
        literal::number(&self.text[span.clone()].replace(' ', "")).unwrap_or_else(|message| {
            self.error(span, message, "");
            Constant::I64(0)
        })
    }

    /// The text of a string; an empty one if it is wrong, which is reported.
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
