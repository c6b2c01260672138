//! Parsing tokens, and going on after errors.
//!
//! When the grammar refuses a token, the smallest piece of tokens around it that is balanced and
//! lies between separators is replaced by one [`Atom::Error`], and all is parsed again. Pieces get
//! larger where that does not help, so that it ends.

use lalrpop_util::ParseError;

use super::ast::Span;
use super::build::Builder;
use super::problems::{Problem, Problems};
use super::token::{Atom, Token};
use crate::julia_grammar::ProgramParser;

/// The most times that the same statements are read. It is larger than the number of errors that
/// are shown.
const MAX_ATTEMPTS: usize = 400;

/// Parses whole statements.
pub(crate) fn parse(
    builder: &mut Builder<'_>,
    tokens: &mut Vec<Token>,
    text: &str,
    problems: &mut Problems,
) {
    let start = builder.checkpoint();
    for _ in 0..MAX_ATTEMPTS {
        let stream = tokens.iter().map(|&token| {
            let span = token.span();
            (span.start, token, span.end)
        });
        let mut count = 0usize;
        let counted = stream.inspect(|_| count += 1);
        let error = match ProgramParser::new().parse(builder, counted) {
            Ok(()) => return,
            Err(error) => error,
        };
        builder.rewind(start);
        let at_end = matches!(error, ParseError::UnrecognizedEof { .. });
        let at = if at_end { tokens.len() } else { count - 1 };
        let expected = match error {
            ParseError::UnrecognizedToken { expected, .. }
            | ParseError::UnrecognizedEof { expected, .. } => expected,
            _ => Vec::new(),
        };
        if at < tokens.len() {
            report(tokens, at, &expected, text, problems);
        }
        let (from, to) = piece(tokens, at);
        if from == to && expected.iter().any(|name| name.trim_matches('"') == "atom") {
            // Nothing stands where something has to.
            let at = tokens.get(from).map_or(0, |token| token.span().start);
            tokens.insert(from, Token::Atom(Atom::Error, Span { start: at, end: at }));
        } else {
            replace(tokens, at);
        }
        if problems.is_full() {
            return;
        }
    }
}

/// Replaces the piece around `at`.
fn replace(tokens: &mut Vec<Token>, at: usize) {
    let (mut from, mut to) = piece(tokens, at);
    // A piece that is an error already did not help.
    while to - from <= 1
        && tokens[from..to].iter().all(|t| matches!(t, Token::Atom(Atom::Error, _)))
    {
        if from == 0 || !tokens[from - 1].opens() {
            // Between two separators: one of them goes too.
            if to < tokens.len() && !tokens[to].closes() {
                tokens.remove(to);
            } else if from > 0 && !tokens[from - 1].opens() {
                from -= 1;
                tokens.remove(from);
            } else {
                tokens.drain(from..to);
                return;
            }
            let (f, t) = piece(tokens, from.min(tokens.len().saturating_sub(1)));
            if t - f > 1 {
                (from, to) = (f, t);
                break;
            }
            if tokens.is_empty() || from >= tokens.len() {
                return;
            }
            (from, to) = (f, t);
            if t == f {
                return;
            }
            continue;
        }
        // All that is between the brackets is: they go with it.
        (from, to) = group(tokens, from - 1);
    }
    let start = tokens[from].span().start;
    let end = tokens[to - 1].span().end.max(start);
    tokens.splice(from..to, [Token::Atom(Atom::Error, Span { start, end })]);
}

/// The opener at `open` with all up to its closer, and what of the expression is before it.
fn group(tokens: &[Token], open: usize) -> (usize, usize) {
    let mut depth = 0usize;
    let mut to = open;
    while to < tokens.len() {
        depth += usize::from(tokens[to].opens());
        if tokens[to].closes() {
            depth -= 1;
        }
        to += 1;
        if depth == 0 {
            break;
        }
    }
    (open, to)
}

/// The balanced piece between separators that `at` is in; empty if a separator is refused at once.
fn piece(tokens: &[Token], at: usize) -> (usize, usize) {
    let mut from = at.min(tokens.len());
    let mut depth = 0usize;
    while from > 0 {
        let before = tokens[from - 1];
        if before.closes() {
            depth += 1;
        } else if before.opens() {
            if depth == 0 {
                break;
            }
            depth -= 1;
        } else if depth == 0 && before.separates() {
            break;
        }
        from -= 1;
    }
    let mut to = at.min(tokens.len());
    let mut depth = 0usize;
    while to < tokens.len() {
        let token = tokens[to];
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            if depth == 0 {
                break;
            }
            depth -= 1;
        } else if depth == 0 && token.separates() {
            break;
        }
        to += 1;
    }
    (from, to)
}

/// Says what is wrong at a token.
fn report(tokens: &[Token], at: usize, expected: &[String], text: &str, problems: &mut Problems) {
    let token = tokens[at];
    let span = token.span();
    let expects = |name: &str| expected.iter().any(|e| e.trim_matches('"') == name);
    let at_end = span.start as usize >= text.trim_end().len();
    let before = at.checked_sub(1).map(|at| tokens[at]);
    let found = match token {
        _ if at_end => "the end of the text".to_owned(),
        Token::Sep(span) if !text[span.range()].starts_with(';') => {
            "the end of the line".to_owned()
        }
        Token::Space(_) => {
            let next = tokens.get(at + 1).map_or("", |next| &text[next.span().range()]);
            format!("`{next}`")
        }
        _ => format!("`{}`", &text[span.range()]),
    };
    let closers: Vec<String> = [
        (",", "`,`"),
        (")", "`)`"),
        ("]", "`]`"),
        ("}", "`}`"),
        ("in", "`in`"),
        ("newline", "the end of the statement"),
    ]
    .iter()
    .filter(|(name, _)| expects(name))
    .map(|&(_, words)| words.to_owned())
    .collect();
    let wanted = if expects("atom") {
        "an expression".to_owned()
    } else if let Some((last, others)) = closers.split_last() {
        let mut words = vec!["an operator".to_owned()];
        words.extend(others.iter().cloned());
        format!("{} or {last}", words.join(", "))
    } else {
        "an operator".to_owned()
    };
    let help = match (before, token) {
        (Some(Token::Atom(Atom::Name, name)), Token::Paren(_)) if name.end < span.start => {
            Some("the bracket of a call touches the name of the function: `f(x)`")
        }
        (Some(Token::Atom(Atom::Name, name)), Token::Bracket(_)) if name.end < span.start => {
            Some("the bracket of an index touches the array: `a[i]`")
        }
        _ => None,
    };
    let span = if matches!(token, Token::Sep(_)) {
        Span { start: span.start, end: span.start }
    } else {
        span
    };
    problems.push(Problem {
        span,
        message: format!("expected {wanted}, found {found}"),
        label: format!("expected {wanted}"),
        help,
        at_end,
    });
}
