//! The kinds of the words of a text, for colouring it as it is typed.

use std::ops::Range;

use super::raw::{Raw, Words};

/// The kind of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// `function`, `end`, `where`.
    Keyword,
    /// `1`, `2.5f0`, `true`.
    Number,
    /// `"text"`.
    String,
    /// `# …`, `#= … =#`.
    Comment,
    /// `x`, `push!`.
    Name,
    /// `+`, `->`, brackets and commas.
    Operator,
    /// `@inbounds`.
    Macro,
    /// `:name`.
    Symbol,
    /// A piece of text that has no meaning in Julia.
    Invalid,
}

/// The words of a text with their places, in order; blank space is left out. Linear.
pub fn tokens(text: &str) -> Vec<(Range<usize>, Class)> {
    let mut out = Vec::new();
    let mut lexer = Words::new(text, 0);
    let mut last = 0;
    // Whether an operand ends just before, so that a colon or quote is not the start of one.
    let mut ended = false;
    while let Some(raw) = lexer.next() {
        let range = lexer.span();
        comments(text, last..range.start, &mut out);
        last = range.end;
        let class = match raw {
            Err(()) | Ok(Raw::Invalid) => Class::Invalid,
            Ok(Raw::Newline) => {
                ended = false;
                continue;
            }
            Ok(Raw::OpenComment) => Class::Comment,
            Ok(Raw::Name | Raw::Mutable | Raw::Abstract | Raw::Primitive) => {
                let symbol = out.last().is_some_and(|(before, class): &(Range<usize>, Class)| {
                    *class == Class::Symbol && before.end == range.start
                });
                if symbol {
                    let before = out.pop().map_or(range.start, |(before, _)| before.start);
                    out.push((before..range.end, Class::Symbol));
                    ended = true;
                    continue;
                }
                let word = &text[range.clone()];
                if matches!(word, "mutable" | "abstract" | "primitive") && !ended {
                    Class::Keyword
                } else {
                    Class::Name
                }
            }
            Ok(Raw::Int | Raw::Float | Raw::True | Raw::False) => Class::Number,
            Ok(Raw::Str(_) | Raw::Command) => Class::String,
            Ok(Raw::Macro) => Class::Macro,
            Ok(
                Raw::Begin
                | Raw::If
                | Raw::ElseIf
                | Raw::Else
                | Raw::While
                | Raw::For
                | Raw::Function
                | Raw::Let
                | Raw::Do
                | Raw::Struct
                | Raw::Try
                | Raw::Catch
                | Raw::Finally
                | Raw::Quote
                | Raw::MacroDef
                | Raw::Module
                | Raw::End
                | Raw::Return
                | Raw::Break
                | Raw::Continue
                | Raw::Local
                | Raw::Global
                | Raw::Const
                | Raw::Using
                | Raw::Export
                | Raw::In
                | Raw::Isa
                | Raw::Where,
            ) => Class::Keyword,
            Ok(Raw::Colon) if !ended || range.start > 0 && spaced(text, range.start) => {
                let next = text[range.end..].chars().next().unwrap_or(' ');
                if next.is_alphabetic() || next == '_' { Class::Symbol } else { Class::Operator }
            }
            Ok(_) => Class::Operator,
        };
        ended = match raw {
            Ok(Raw::CloseParen | Raw::CloseBracket | Raw::CloseBrace | Raw::End | Raw::Prime) => {
                true
            }
            _ => matches!(class, Class::Name | Class::Number | Class::String),
        };
        out.push((range, class));
    }
    comments(text, last..text.len(), &mut out);
    out
}

fn spaced(text: &str, at: usize) -> bool {
    text.as_bytes()[at - 1].is_ascii_whitespace()
}

/// Adds the comments in a gap between words, as one word.
fn comments(text: &str, gap: Range<usize>, out: &mut Vec<(Range<usize>, Class)>) {
    if let Some(at) = text[gap.clone()].find('#') {
        let start = gap.start + at;
        let end = gap.start + text[gap].trim_end().len();
        out.push((start..end, Class::Comment));
    }
}
