//! Colours for what is typed: the words of the language, and commands.

use std::ops::Range;

use regraft_syntax::julia::{Class, tokens};

use super::commands::{Wants, find};
use super::reader;

/// The kind of a piece of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Paint {
    /// A command that there is.
    Command,
    /// A command that there is not.
    WrongCommand,
    /// A word of the language.
    Word(Class),
}

/// The pieces of an input that are coloured, in order. Linear.
pub(super) fn pieces(text: &str) -> Vec<(Range<usize>, Paint)> {
    let mut pieces = Vec::new();
    let mut code = 0;
    if let Some((name, _)) = reader::command(text) {
        let command = find(&text[name.clone()]);
        let paint = if command.is_ok() { Paint::Command } else { Paint::WrongCommand };
        pieces.push((name.start - 1..name.end, paint));
        let line_end = text[name.end..].find('\n').map_or(text.len(), |at| name.end + at);
        code = match command.map(|command| command.wants) {
            Ok(Wants::Code) => name.end,
            Ok(Wants::CodeAndPipeline) => {
                let flag = reader::pipeline_flag(&text[name.end..line_end]);
                let call = name.end..flag.map_or(line_end, |flag| name.end + flag.start);
                words(text, call, &mut pieces);
                line_end
            }
            _ => line_end,
        };
    }
    words(text, code..text.len(), &mut pieces);
    pieces
}

/// The words in a part of a text.
fn words(text: &str, part: Range<usize>, pieces: &mut Vec<(Range<usize>, Paint)>) {
    let found = tokens(&text[part.clone()]).into_iter();
    pieces.extend(
        found.map(|(span, class)| {
            (part.start + span.start..part.start + span.end, Paint::Word(class))
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coloured pieces of a text, names and operators left out.
    fn painted(text: &str) -> Vec<(&str, Paint)> {
        let plain = [Class::Name, Class::Operator].map(Paint::Word);
        let pieces = pieces(text).into_iter().filter(|(_, paint)| !plain.contains(paint));
        pieces.map(|(span, paint)| (&text[span], paint)).collect()
    }

    #[test]
    fn commands_and_the_calls_behind_them_are_coloured() {
        let number = Paint::Word(Class::Number);
        assert_eq!(painted(":ir f(1)"), [(":ir", Paint::Command), ("1", number)]);
        assert_eq!(painted(":opt f(1) -p dce"), [(":opt", Paint::Command), ("1", number)]);
        assert_eq!(painted(":pipeline end"), [(":pipeline", Paint::Command)]);
        assert_eq!(painted(":irr f(1)"), [(":irr", Paint::WrongCommand)]);
    }

    #[test]
    fn words_of_the_language_are_coloured() {
        let word = Paint::Word;
        let expected = [
            ("return", word(Class::Keyword)),
            (":a", word(Class::Symbol)),
            ("\"b\"", word(Class::String)),
            ("# c", word(Class::Comment)),
        ];
        assert_eq!(painted("return f(:a, \"b\") # c"), expected);
    }

    #[test]
    fn the_pieces_of_any_text_are_in_order_and_apart() {
        for text in ["\"open", ":opt (\" -p", "a\u{0}ß'", ":x\n:y \"", "#=", "@", "f(x) -> ?"] {
            let mut last = 0;
            for (span, _) in pieces(text) {
                assert!(last <= span.start && span.start <= span.end, "{text:?}");
                assert!(text.get(span.clone()).is_some(), "{text:?}");
                last = span.end;
            }
        }
    }
}
