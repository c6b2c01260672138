//! Colours of IR text and of diffs, for terminals.
//!
//! The words of IR have the colours that those of the language have at the prompt. O(length).

use std::ops::Range;

use nu_ansi_term::{Color, Style};
use regraft_syntax::julia::Class;

/// The style of a word of the language, and of what is like it in IR.
pub(crate) fn style(class: Class) -> Style {
    let plain = Style::new();
    match class {
        Class::Invalid => plain.fg(Color::Red),
        Class::Keyword => plain.fg(Color::Purple),
        Class::Number => plain.fg(Color::LightBlue),
        Class::String => plain.fg(Color::Green),
        Class::Comment => plain.fg(Color::DarkGray),
        Class::Macro => plain.fg(Color::Yellow),
        Class::Symbol => plain.fg(Color::LightYellow),
        Class::Name | Class::Operator => plain,
    }
}

/// The kind of a piece of IR text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    /// Something that the language has as well.
    Word(Class),
    /// `%3`, `%acc`.
    Value,
    /// `^2`.
    Block,
    /// `@f`.
    Function,
    /// `arith.mul`.
    Op,
}

/// IR text with colours.
pub(crate) fn ir(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut at = 0;
    for (span, piece) in pieces(text) {
        out.push_str(&text[at..span.start]);
        let style = match piece {
            Piece::Word(class) => style(class),
            Piece::Value => Style::new().fg(Color::Cyan),
            Piece::Block => Style::new().fg(Color::Yellow),
            Piece::Function => Style::new().bold(),
            Piece::Op => Style::new().fg(Color::LightPurple),
        };
        out.push_str(&style.paint(&text[span.clone()]).to_string());
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A unified diff with colours: what is new, what is gone, where it is.
pub(crate) fn diff(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for line in text.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::new().fg(Color::Green),
            Some(b'-') => Style::new().fg(Color::Red),
            Some(b'@') => Style::new().fg(Color::Cyan),
            _ => Style::new(),
        };
        out.push_str(&style.paint(line).to_string());
        out.push('\n');
    }
    out
}

/// The coloured pieces of IR text, in order.
fn pieces(text: &str) -> Vec<(Range<usize>, Piece)> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let names = next == b'"' || is_name_byte(next);
        let piece = match bytes[at] {
            b'#' => {
                at = text[at..].find('\n').map_or(text.len(), |len| at + len);
                Piece::Word(Class::Comment)
            }
            b'"' => {
                at = string_end(bytes, at);
                Piece::Word(Class::String)
            }
            b'%' | b'@' | b'^' | b':' if names && (bytes[at] != b':' || !next.is_ascii_digit()) => {
                at = if next == b'"' { string_end(bytes, at + 1) } else { name_end(bytes, at + 1) };
                match bytes[start] {
                    b'%' => Piece::Value,
                    b'@' => Piece::Function,
                    b'^' => Piece::Block,
                    _ => Piece::Word(Class::Symbol),
                }
            }
            b'-' if next.is_ascii_digit() => {
                at = name_end(bytes, at + 1);
                Piece::Word(Class::Number)
            }
            first if is_name_byte(first) => {
                at = name_end(bytes, at);
                match &text[start..at] {
                    _ if first.is_ascii_digit() => Piece::Word(Class::Number),
                    word if KEYWORDS.contains(&word) => Piece::Word(Class::Keyword),
                    word if word.contains('.') => Piece::Op,
                    _ => continue,
                }
            }
            _ => {
                at += 1;
                continue;
            }
        };
        pieces.push((start..at, piece));
    }
    pieces
}

/// The words of IR that are no names of types.
const KEYWORDS: &[&str] = &[
    "br",
    "call",
    "false",
    "func",
    "mutable",
    "nothing",
    "print",
    "return",
    "struct",
    "switch",
    "true",
    "unreachable",
];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!' | b'.') || !byte.is_ascii()
}

fn name_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|&&byte| is_name_byte(byte)).count()
}

/// Returns the end of the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the coloured pieces, as text.
    fn painted(text: &str) -> Vec<(&str, Piece)> {
        pieces(text).into_iter().map(|(span, piece)| (&text[span], piece)).collect()
    }

    #[test]
    fn words_of_ir_are_told_apart() {
        let found = painted("%3: f64 = arith.mul %acc, -2.5 # call\nbr ^2(@\"odd \\\" name\", :a)");
        let expected = [
            ("%3", Piece::Value),
            ("arith.mul", Piece::Op),
            ("%acc", Piece::Value),
            ("-2.5", Piece::Word(Class::Number)),
            ("# call", Piece::Word(Class::Comment)),
            ("br", Piece::Word(Class::Keyword)),
            ("^2", Piece::Block),
            ("@\"odd \\\" name\"", Piece::Function),
            (":a", Piece::Word(Class::Symbol)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn colours_change_no_text() {
        for text in
            ["func @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n", "\"open", "%", "ß@ö\"\\", ""]
        {
            let plain = strip(&ir(text));
            assert_eq!(plain, text);
        }
        assert_eq!(strip(&diff("-a\n b\n+c\n")), "-a\n b\n+c\n");
        assert_eq!(diff("-a\n b\n"), "\u{1b}[31m-a\u{1b}[0m\n b\n");
    }

    /// Without escape sequences.
    fn strip(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        out + rest
    }
}
