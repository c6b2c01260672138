//! Words that are, begin or join operands: names, numbers, strings, operators, the meanings of `:`
//! and `'`, fields.

use super::{Layout, Open, Phase};
use crate::julia::ast::Span;
use crate::julia::problems::Problem;
use crate::julia::raw::{Raw, StrForm};
use crate::julia::token::{Atom, Infix, Oper, Postfix, Prefix, Token};

impl Layout<'_> {
    pub(super) fn prefix(&mut self, prefix: Prefix, span: Span) {
        self.begin_operand(span);
        self.put(Token::Prefix(prefix, span));
    }

    pub(super) fn infix(&mut self, infix: Infix, span: Span) {
        self.newline = false;
        self.put(Token::Infix(infix, span));
    }

    pub(super) fn postfix(&mut self, postfix: Postfix, span: Span) {
        self.put_end(Token::Postfix(postfix, span));
    }

    pub(super) fn name(&mut self, span: Span) {
        if self.ended && !self.space_before(span) && !self.newline {
            self.infix(Infix::Juxtapose, Span { start: span.start, end: span.start });
        }
        self.atom(Atom::Name, span);
    }

    pub(super) fn int(&mut self, mut span: Span) {
        // `1.` is a number unless the point begins something else.
        let rest = self.lexer.remainder().as_bytes();
        let mut atom = Atom::Int;
        if rest.first() == Some(&b'.') {
            let next = self.lexer.remainder()[1..].chars().next().unwrap_or(' ');
            if matches!(next, ' ' | '\t' | '\r' | '\n' | ',' | ';' | ')' | ']' | '}' | '#' | ':') {
                self.lexer.bump(1);
                span.end += 1;
                atom = Atom::Float;
            }
        }
        self.atom(atom, span);
        self.number = true;
    }

    pub(super) fn oper(&mut self, oper: Oper, dotted: bool, span: Span) {
        if self.ended {
            if oper == Oper::In && !dotted && self.here().phase == Phase::Target {
                self.target_ends(span);
                return;
            }
            let stands_alone = self.newline || self.stands_alone(span);
            let begins = oper.is_only_prefix() && oper != Oper::BitNot;
            if !(begins || (stands_alone && oper.is_prefix() && oper != Oper::Subtype)) {
                let infix = if dotted { Infix::Dotted(oper) } else { Infix::Oper(oper) };
                self.infix(infix, span);
                return;
            }
        }
        self.begin_operand(span);
        let touches = self.next_byte() == b'(';
        let rest = self.rest_of_line();
        let assigned = rest.starts_with('=') && !rest.starts_with("==");
        if assigned || self.nothing_follows() || (touches && !oper.is_prefix()) {
            self.put_end(Token::Atom(Atom::Oper, span));
        } else if dotted {
            self.put(Token::Prefix(Prefix::Dotted(oper), span));
        } else if touches {
            self.put(Token::Prefix(Prefix::Touching(oper), span));
        } else {
            self.put(Token::Prefix(Prefix::Oper(oper), span));
        }
    }

    pub(super) fn equals(&mut self, span: Span) {
        if self.here().phase == Phase::Target && self.ended {
            self.target_ends(span);
        } else {
            self.infix(Infix::Assign, span);
        }
    }

    pub(super) fn target_ends(&mut self, span: Span) {
        let level = self.level();
        level.phase = if level.open == Open::For { Phase::Head } else { Phase::Body };
        self.newline = false;
        self.put(Token::In(span));
    }

    pub(super) fn word_in(&mut self, span: Span) {
        if !self.ended {
            self.name(span);
        } else if self.here().phase == Phase::Target {
            self.target_ends(span);
        } else {
            self.infix(Infix::Oper(Oper::In), span);
        }
    }

    pub(super) fn word_where(&mut self, span: Span) {
        if self.rest_of_line().starts_with('{') {
            let gap = self.lexer.remainder().len() - self.rest_of_line().len();
            self.lexer.bump(gap + 1);
            let start = span.end + gap as u32;
            let brace = Span { start, end: start + 1 };
            self.push_level(Open::Curly, Phase::Body, brace, false);
            self.put(Token::Where(brace));
        } else {
            self.infix(Infix::Where, span);
        }
    }

    pub(super) fn typed(&mut self, span: Span) {
        if self.ended && !self.stands_alone(span) {
            self.infix(Infix::Typed, span);
        } else {
            self.prefix(Prefix::Typed, span);
        }
    }

    pub(super) fn colon(&mut self, span: Span) {
        let next = self.lexer.remainder().chars().next().unwrap_or(' ');
        let is_name = next.is_alphabetic() || next == '_' || matches!(next, '∂' | '∇');
        if self.ended {
            if self.here().questions > 0 {
                self.level().questions -= 1;
                self.infix(Infix::Else, span);
                return;
            }
            let in_square = self.open_kind() == Open::Square;
            if !(self.stands_alone(span) && (is_name || !in_square)) {
                self.infix(Infix::Range, span);
                return;
            }
        }
        self.begin_operand(span);
        if next == '(' {
            self.quoted(span);
        } else if is_name || self.operator_follows() {
            let word = self.lexer.next();
            let range = self.lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            if matches!(word, Some(Ok(Raw::Newline)) | None) {
                self.put_end(Token::Atom(Atom::Colon, span));
            } else {
                self.put_end(Token::Atom(Atom::Symbol, span));
            }
        } else {
            self.put_end(Token::Atom(Atom::Colon, span));
        }
    }

    /// Returns whether an operator that a symbol can name follows at once.
    pub(super) fn operator_follows(&self) -> bool {
        let mut ahead = self.lexer.clone();
        let before = ahead.span().end;
        let raw = ahead.next();
        let ends =
            !ahead.remainder().starts_with(|c: char| c.is_alphanumeric() || "_(".contains(c));
        ahead.span().start == before
            && matches!(raw, Some(Ok(word)) if names_operator(word)
                && (ends || !matches!(word, Raw::Dollar | Raw::Dot)))
    }

    /// `:(…)`: a symbol if there is one name or operator in it, else code as data.
    pub(super) fn quoted(&mut self, span: Span) {
        let mut ahead = self.lexer.clone();
        ahead.next();
        let word = ahead.next();
        let range = ahead.span();
        let is_name = |word| {
            names_operator(word)
                || matches!(word, Raw::Name | Raw::Typed | Raw::Colon | Raw::Question)
        };
        let is_symbol = matches!(word, Some(Ok(word)) if is_name(word))
            && matches!(ahead.next(), Some(Ok(Raw::CloseParen)));
        if is_symbol {
            self.lexer = ahead;
            let span = Span { start: range.start as u32, end: range.end as u32 };
            self.put_end(Token::Atom(Atom::Symbol, span));
            return;
        }
        self.put(Token::Prefix(Prefix::Quote, span));
        self.lexer.next();
        let bracket = Span { start: span.end, end: span.end + 1 };
        self.push_level(Open::Paren, Phase::Body, bracket, false);
        self.level().code = true;
        self.put(Token::Paren(bracket));
    }

    pub(super) fn prime(&mut self, span: Span) {
        if self.ended && !self.space_before(span) {
            self.postfix(Postfix::Adjoint, span);
            return;
        }
        // A character literal.
        let rest = self.lexer.remainder();
        let mut end = 0;
        let mut chars = rest.char_indices();
        let mut closed = false;
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '\'' if at > 0 => {
                    end = at + 1;
                    closed = true;
                    break;
                }
                '\n' => break,
                _ if at > 16 => break,
                _ => {}
            }
        }
        if !closed {
            end = rest.chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8);
        }
        self.lexer.bump(end);
        let span = Span { start: span.start, end: span.end + end as u32 };
        if closed {
            self.atom(Atom::Char, span);
        } else {
            self.problems.add(span, "a character is not closed by `'`".to_owned());
            self.atom(Atom::Error, span);
        }
    }

    pub(super) fn string(&mut self, form: StrForm, span: Span) {
        if form.closed
            && self.ended
            && let Some(&Token::Atom(Atom::Name, name)) = self.out.last()
            && name.end == span.start
        {
            // Letters behind it are an argument.
            let rest = self.lexer.remainder();
            let flags = rest.len() - rest.trim_start_matches(char::is_alphanumeric).len();
            self.lexer.bump(flags);
            self.out.pop();
            let span = Span { start: name.start, end: span.end + flags as u32 };
            return self.put_end(Token::Atom(Atom::StrMacro, span));
        }
        if !form.closed {
            let quotes = if form.triple { "\"\"\"" } else { "\"" };
            let span = Span { start: span.start, end: span.start + quotes.len() as u32 };
            self.problems.push(Problem {
                span,
                message: "the string is not closed".into(),
                label: format!("expected `{quotes}` after this"),
                help: None,
                at_end: form.triple,
            });
            self.atom(Atom::Error, span);
        } else if form.interpolated {
            self.interpolation(form, span);
        } else {
            self.atom(if form.triple { Atom::LongStr } else { Atom::Str }, span);
        }
    }

    pub(super) fn dot(&mut self, span: Span) {
        if !self.ended || (self.space_before(span) && self.open_kind() == Open::Square) {
            self.problems.add(span, "expected an expression before `.`");
            return;
        }
        let next = self.next_byte();
        if next == b'(' {
            self.lexer.bump(1);
            let span = Span { start: span.start, end: span.end + 1 };
            self.push_level(Open::Paren, Phase::Body, span, self.here().in_index);
            self.put(Token::DotCall(span));
            return;
        }
        if next == b'$' {
            self.infix(Infix::Dot, span);
            return;
        }
        // `Base.:+`, `Base.:(==)`
        let mut ahead = self.lexer.clone();
        let mut word = ahead.next();
        let colon = matches!(word, Some(Ok(Raw::Colon)));
        let mut closes = false;
        if colon {
            word = ahead.next();
            if matches!(word, Some(Ok(Raw::OpenParen))) {
                word = ahead.next();
                closes = true;
            }
        }
        let range = ahead.span();
        let name = Span { start: range.start as u32, end: range.end as u32 };
        if word == Some(Ok(Raw::Macro)) && !colon {
            // `M.@m`: what is before it is a part of its name.
            while matches!(self.out.last(), Some(Token::Postfix(Postfix::Field, _))) {
                self.out.pop();
            }
            if let Some(&Token::Atom(Atom::Name, path)) = self.out.last() {
                self.out.pop();
                self.ended = false;
                self.lexer = ahead;
                self.macro_call(Span { start: path.start, end: name.end });
                return;
            }
        }
        let first = self.text[range.clone()].chars().next().unwrap_or(' ');
        let is_word = first.is_alphabetic() || first == '_';
        let is_oper = matches!(word, Some(Ok(Raw::Oper(_) | Raw::Dotted(_))));
        if closes && !matches!(ahead.next(), Some(Ok(Raw::CloseParen))) {
            self.problems.add(span, "expected the name of a field after `.`");
            self.put_end(Token::Postfix(Postfix::Field, span));
            return;
        }
        if is_word || (colon && is_oper) {
            self.lexer = ahead;
            self.postfix(Postfix::Field, name);
        } else {
            let end = name.start <= span.end && word.is_none();
            self.problems.push(Problem {
                span,
                message: "expected the name of a field after `.`".into(),
                label: String::new(),
                help: None,
                at_end: end,
            });
        }
    }
}

/// Returns whether a word behind a `:` is the name of an operator.
fn names_operator(word: Raw) -> bool {
    matches!(
        word,
        Raw::Oper(_)
            | Raw::Dotted(_)
            | Raw::Update(_)
            | Raw::DotUpdate(_)
            | Raw::Equals
            | Raw::DotEquals
            | Raw::And
            | Raw::Or
            | Raw::Arrow
            | Raw::Ellipsis
            | Raw::Dollar
            | Raw::Dot
    )
}
