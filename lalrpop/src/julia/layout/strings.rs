//! Strings with values in them: `"a $x $(y + 1)"` is a call of a function of the prelude with the pieces.

use super::{Layout, Open, Phase};
use crate::julia::ast::Span;
use crate::julia::raw::{Raw, StrForm, Words, closing_bracket};
use crate::julia::token::{Atom, Token, common_indent};

impl Layout<'_> {
    /// The tokens of a string that has a `$` and ends.
    pub(super) fn interpolation(&mut self, form: StrForm, span: Span) {
        self.begin_operand(span);
        let quotes = if form.triple { 3 } else { 1 };
        let open = Span { start: span.start, end: span.start + quotes };
        let close = Span { start: span.end - quotes, end: span.end };
        self.put_end(Token::Atom(Atom::Interpolate, open));
        self.put(Token::Call(open));
        let body = self.slice(Span { start: open.end, end: close.start });
        let (first_ends, indent) = if form.triple { common_indent(body) } else { (false, 0) };
        let skipped = if first_ends { body.find('\n').map_or(0, |at| at + 1) } else { 0 };
        let mut pieces = Pieces { indent, starts_line: first_ends, count: 0 };
        let (mut at, mut text) = (open.end + skipped as u32, open.end + skipped as u32);
        while at < close.start {
            let here = self.text.as_bytes()[at as usize];
            if here == b'\\' {
                at = (at + 2).min(close.start);
                continue;
            }
            if here != b'$' {
                at += 1;
                continue;
            }
            self.text_piece(&mut pieces, Span { start: text, end: at });
            at = self.value_piece(&mut pieces, at, close.start);
            text = at;
        }
        self.text_piece(&mut pieces, Span { start: text, end: close.start });
        self.put_end(Token::CloseParen(close));
    }

    /// A piece of text; of a long string, one for each line, without what all lines begin with.
    fn text_piece(&mut self, pieces: &mut Pieces, span: Span) {
        let text = self.slice(span);
        let lines =
            if pieces.indent > 0 { text.split_inclusive('\n').collect() } else { vec![text] };
        let mut start = span.start;
        for line in lines {
            let end = start + line.len() as u32;
            if pieces.starts_line {
                let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
                start += blanks.min(pieces.indent.into()) as u32;
            }
            if start < end {
                self.next_piece(pieces, start);
                self.put_end(Token::Atom(Atom::StrPart, Span { start, end }));
            }
            pieces.starts_line = line.ends_with('\n');
            start = end;
        }
        pieces.starts_line &= !text.is_empty();
    }

    fn next_piece(&mut self, pieces: &mut Pieces, at: u32) {
        if pieces.count > 0 {
            self.put(Token::Comma(Span { start: at, end: at }));
        }
        pieces.count += 1;
    }

    /// What is behind the `$` at a place. Returns where it ends.
    fn value_piece(&mut self, pieces: &mut Pieces, dollar: u32, end: u32) -> u32 {
        let from = dollar + 1;
        self.next_piece(pieces, from);
        let rest = &self.text.as_bytes()[from as usize..end as usize];
        if rest.first() == Some(&b'(')
            && let Some(length) = closing_bracket(rest)
        {
            let to = from + length as u32;
            self.bracketed(Span { start: from, end: to });
            return to;
        }
        let mut words = Words::new(&self.text[..end as usize], from as usize);
        let word = words.next();
        let range = words.span();
        let span = Span { start: range.start as u32, end: range.end as u32 };
        if word == Some(Ok(Raw::Name)) && span.start == from {
            self.put_end(Token::Atom(Atom::Name, span));
            return span.end;
        }
        let at = Span { start: dollar, end: from };
        if rest.first() == Some(&b'(') {
            self.problems.add(at, "the bracket after `$` is not closed");
        } else {
            let message = "expected a name or `(` after `$`";
            self.problems.add_help(at, message, "", "a dollar sign is written `\\$`");
        }
        self.put_end(Token::Atom(Atom::Error, at));
        from
    }

    /// The words of `(…)` in a string.
    fn bracketed(&mut self, span: Span) {
        let inside = Words::new(&self.text[..span.end as usize], span.start as usize);
        let lexer = std::mem::replace(&mut self.lexer, inside);
        let outer = (self.last_end, self.newline, self.stack.len());
        (self.ended, self.newline, self.last_end) = (false, false, span.start);
        while let Some(raw) = self.lexer.next() {
            let range = self.lexer.span();
            let at = Span { start: range.start as u32, end: range.end as u32 };
            // It opens no call, whatever is before it.
            if at.start == span.start {
                self.push_level(Open::Paren, Phase::Body, at, false);
                self.put(Token::Paren(at));
            } else {
                self.word(raw.unwrap_or(Raw::Invalid), at);
            }
            self.last_end = self.lexer.span().end as u32;
            if self.finished {
                break;
            }
        }
        while self.stack.len() > outer.2 {
            self.unclosed(span.end, false);
        }
        self.lexer = lexer;
        (self.last_end, self.newline) = (outer.0, outer.1);
        self.between = false;
    }
}

/// The pieces of a string so far.
struct Pieces {
    /// The number of blanks that each line of a long string begins with.
    indent: u16,
    /// True if what follows is at the beginning of a line.
    starts_line: bool,
    count: usize,
}
