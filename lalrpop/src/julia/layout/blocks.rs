//! Things that are opened and closed: brackets, blocks, macros, and constructs that are dropped.

use super::{Layout, Level, Open, Phase};
use crate::julia::ast::Span;
use crate::julia::problems::Problem;
use crate::julia::raw::Raw;
use crate::julia::token::{Atom, Infix, Prefix, Token};

impl Layout<'_> {
    // --- brackets ----------------------------------------------------------------------------

    pub(super) fn open_paren(&mut self, span: Span) {
        let in_index = self.here().in_index;
        let touches = self.ended && !self.space_before(span) && !self.newline;
        if touches && !self.number {
            self.push_level(Open::Paren, Phase::Body, span, in_index);
            self.put(Token::Call(span));
            return;
        }
        if touches {
            self.put(Token::Infix(Infix::Juxtapose, Span { start: span.start, end: span.start }));
        }
        self.begin_operand(span);
        let of_macro = matches!(self.out.last(), Some(Token::Prefix(Prefix::TightMacro, at)) if at.end == span.start);
        self.push_level(Open::Paren, Phase::Body, span, in_index);
        self.level().code = of_macro;
        self.put(Token::Paren(span));
    }

    pub(super) fn open_bracket(&mut self, span: Span) {
        if self.ended && !self.space_before(span) && !self.newline {
            self.push_level(Open::Square, Phase::Body, span, true);
            self.put(Token::Index(span));
        } else {
            let in_index = self.here().in_index;
            self.begin_operand(span);
            self.push_level(Open::Square, Phase::Body, span, in_index);
            self.put(Token::Bracket(span));
        }
        self.newline = false;
    }

    pub(super) fn open_brace(&mut self, span: Span) {
        if self.ended && !self.space_before(span) && !self.newline {
            self.push_level(Open::Curly, Phase::Body, span, false);
            self.put(Token::Curly(span));
        } else {
            self.begin_operand(span);
            self.unsupported(span, "`{…}` that is not applied to a type is");
            let at = self.out.len();
            self.push_level(Open::Curly, Phase::Body, span, false);
            self.put(Token::Where(span));
            self.level().drop_bracket = Some(at);
        }
    }

    fn closer(open: Open, span: Span) -> Token {
        match open {
            Open::Paren => Token::CloseParen(span),
            Open::Square => Token::CloseBracket(span),
            Open::Curly => Token::CloseBrace(span),
            _ => Token::End(span),
        }
    }

    pub(super) fn close_bracket(&mut self, open: Open, span: Span) {
        self.newline = false;
        if self.here().open != open {
            let Some(depth) = self.stack.iter().rposition(|level| level.open == open) else {
                self.stray(span);
                return;
            };
            // Within a block a bracket too much is more likely than the lack of an `end`.
            if !self.stack[depth..].iter().all(|level| level.open.is_bracket()) {
                self.stray(span);
                return;
            }
            while self.stack.len() > depth + 1 {
                self.unclosed(span.start, false);
            }
        }
        self.close(open, span);
    }

    fn stray(&mut self, span: Span) {
        let word = self.slice(span);
        self.problems.add(span, format!("`{word}` closes nothing"));
        if !self.ended {
            self.put_end(Token::Atom(Atom::Error, Span { start: span.start, end: span.start }));
        }
    }

    /// Before a word that begins a statement: if an operand ends in a bracket on a line before,
    /// the bracket is not closed.
    pub(super) fn begin_statement(&mut self, span: Span) {
        if self.ended
            && self.open_kind().is_bracket()
            && self.text[self.last_end as usize..span.start as usize].contains('\n')
        {
            self.close_brackets(span);
            self.sep(Span { start: span.start, end: span.start });
        }
    }

    fn close(&mut self, open: Open, span: Span) {
        let Some(level) = self.stack.pop() else { return };
        self.put_end(Self::closer(open, span));
        if let Some(from) = level.drop_bracket {
            self.drop(from, span.end);
        }
        self.newline = false;
    }

    /// Reports that the innermost level is not closed, and closes it.
    pub(super) fn unclosed(&mut self, at: u32, at_end: bool) {
        let Some(level) = self.stack.last().copied() else { return };
        let opener = self.slice(level.span).trim_start_matches('.');
        let (message, label) = if level.open.is_bracket() {
            let closer = match level.open {
                Open::Paren => ")",
                Open::Square => "]",
                _ => "}",
            };
            (format!("`{opener}` is not closed"), format!("this needs a `{closer}`"))
        } else {
            (
                format!("`{opener}` is not closed by `end`"),
                format!("`{opener}` here is not closed by `end`"),
            )
        };
        self.problems.push(Problem { span: level.span, message, label, help: None, at_end });
        self.stack.pop();
        self.close_virtually(level, at);
    }

    pub(super) fn close_virtually(&mut self, level: Level, at: u32) {
        let point = Span { start: at, end: at };
        if level.open.is_bracket() {
            let inside = &self.text[level.span.start as usize..at as usize];
            if at as usize != self.text.len() || inside.trim_end().contains('\n') {
                // What is in it cannot be judged.
                self.out.truncate(level.at + 1);
                self.ended = false;
            }
            if !self.ended {
                self.put_end(Token::Atom(Atom::Error, point));
            }
            self.put_end(Self::closer(level.open, point));
        } else {
            if !matches!(
                self.out.last(),
                Some(Token::Sep(_) | Token::Begin(_) | Token::Else(_)) | None
            ) {
                if !self.ended {
                    self.put_end(Token::Atom(Atom::Error, point));
                }
                self.out.push(Token::Sep(point));
            }
            self.put_end(Token::End(point));
        }
        if let Some(from) = level.drop_bracket {
            self.drop(from, at);
        }
    }

    // --- blocks ------------------------------------------------------------------------------

    pub(super) fn block(&mut self, open: Open, phase: Phase, token: Token, span: Span) {
        self.begin_operand(span);
        self.push_level(open, phase, span, false);
        self.put(token);
    }

    /// A block that is not of the subset.
    pub(super) fn foreign(&mut self, span: Span, what: &str) {
        self.unsupported(span, what);
        self.begin_operand(span);
        let at = self.out.len();
        self.push_level(Open::Foreign, Phase::Body, span, false);
        self.put(Token::Begin(span));
        self.level().drop_bracket = Some(at);
    }

    /// Before a word that closes or continues a block: brackets that are open within it are not
    /// closed.
    pub(super) fn close_brackets(&mut self, span: Span) {
        while self.open_kind().is_bracket() && !self.stack.is_empty() {
            self.unclosed(span.start, false);
        }
    }

    pub(super) fn otherwise(&mut self, token: Token, phase: Phase, span: Span) {
        if let Some(depth) = self.stack.iter().rposition(|level| !level.open.is_bracket())
            && (matches!(self.stack[depth].open, Open::If | Open::Foreign)
                || self.stack[depth].open == Open::Try && matches!(token, Token::Else(_)))
        {
            self.close_brackets(span);
            let at = Span { start: span.start, end: span.start };
            self.sep(at);
            if self.open_kind() != Open::Foreign {
                self.level().phase = phase;
                self.put(token);
            }
        } else {
            let word = self.slice(span);
            self.problems.add(span, format!("`{word}` without `if`"));
        }
    }

    /// `catch` or `finally`. A name on the same line is that of the error.
    pub(super) fn part_of_try(&mut self, word: Raw, span: Span) {
        let around = self.stack.iter().rfind(|level| !level.open.is_bracket());
        match around.map(|level| level.open) {
            Some(Open::Try | Open::Foreign) => {}
            _ => {
                let word = self.slice(span);
                return self.problems.add(span, format!("`{word}` without `try`"));
            }
        }
        self.close_brackets(span);
        self.sep(Span { start: span.start, end: span.start });
        if self.open_kind() == Open::Foreign {
            return;
        }
        if word == Raw::Finally {
            self.put(Token::Finally(span));
        } else if self.name_follows() {
            self.put(Token::CatchAs(span));
            self.lexer.next();
            let range = self.lexer.span();
            self.name(Span { start: range.start as u32, end: range.end as u32 });
            self.sep(Span { start: range.end as u32, end: range.end as u32 });
        } else {
            self.put(Token::Catch(span));
        }
    }

    /// Returns whether the next word is a name, and nothing that an expression goes on with.
    fn name_follows(&self) -> bool {
        let mut ahead = self.lexer.clone();
        if !matches!(ahead.next(), Some(Ok(Raw::Name))) {
            return false;
        }
        let end = ahead.span().end;
        match ahead.next() {
            Some(Ok(Raw::OpenParen | Raw::OpenBracket | Raw::OpenBrace | Raw::Str(_))) => {
                ahead.span().start > end
            }
            Some(Ok(
                Raw::Dot
                | Raw::Oper(_)
                | Raw::Dotted(_)
                | Raw::Equals
                | Raw::Update(_)
                | Raw::DotUpdate(_)
                | Raw::DotEquals
                | Raw::And
                | Raw::Or
                | Raw::Arrow
                | Raw::Typed
                | Raw::Question
                | Raw::Prime
                | Raw::Ellipsis
                | Raw::Comma
                | Raw::In
                | Raw::Isa
                | Raw::Where,
            )) => false,
            _ => true,
        }
    }

    pub(super) fn end(&mut self, span: Span) {
        if self.here().in_index {
            self.atom(Atom::End, span);
            return;
        }
        if !self.stack.iter().any(|level| !level.open.is_bracket()) {
            self.problems.add(span, "`end` closes nothing");
            return;
        }
        self.close_brackets(span);
        let at = Span { start: span.start, end: span.start };
        self.sep(at);
        self.close(Open::Begin, span);
    }

    pub(super) fn end_of_text(&mut self) {
        self.finished = true;
        let end = self.text.len() as u32;
        while !self.stack.is_empty() {
            self.unclosed(end, true);
        }
        if !matches!(self.out.last(), Some(Token::Sep(_)) | None) {
            self.out.push(Token::Sep(Span { start: end, end }));
        }
        self.between = true;
    }

    // --- macros and the like -----------------------------------------------------------------

    pub(super) fn macro_call(&mut self, span: Span) {
        self.begin_operand(span);
        let tight = self.next_byte() == b'(';
        let name = self.slice(span);
        let name = name.strip_prefix("Base.").unwrap_or(name);
        if name.ends_with('@') {
            self.problems.add(span, "expected the name of a macro after `@`");
            return;
        }
        if self.in_code() {
            return self.generic_macro(tight, span);
        }
        let prefix = match name {
            "@inbounds" if tight => Prefix::TightInbounds,
            "@inbounds" => Prefix::Inbounds,
            "@assert" if tight => Prefix::TightAssert,
            "@assert" => {
                self.level().macro_args = 1;
                Prefix::Assert
            }
            "@simd" => Prefix::Simd,
            "@inferred" if tight => Prefix::TightInferred,
            "@inferred" => Prefix::Inferred,
            "@." if tight => Prefix::TightDots,
            "@." => Prefix::Dots,
            "@show" if tight => Prefix::TightShow,
            "@show" => {
                self.level().macro_args = u8::MAX;
                Prefix::Show
            }
            "@view" if tight => Prefix::TightView,
            "@view" => Prefix::View,
            "@inline" | "@noinline" | "@nospecialize" if tight => Prefix::TightInline,
            "@generated" if !self.ends_here() => Prefix::Generated,
            "@inline" => Prefix::Inline,
            "@noinline" => Prefix::NoInline,
            "@non_differentiable" => Prefix::NonDifferentiable,
            "@not_implemented" if tight => Prefix::NotImplemented,
            "@goto" => return self.label(Atom::Goto, span),
            "@__MODULE__" => return self.put_end(Token::Atom(Atom::Name, span)),
            "@label" => return self.label(Atom::Label, span),
            _ => return self.generic_macro(tight, span),
        };
        self.put(Token::Prefix(prefix, span));
    }

    /// A macro that is not built in, or that stands in code as data.
    fn generic_macro(&mut self, tight: bool, span: Span) {
        if tight {
            self.put(Token::Prefix(Prefix::TightMacro, span));
        } else if self.ends_here() {
            self.put_end(Token::Atom(Atom::Macro, span));
        } else {
            self.put(Token::Prefix(Prefix::Macro, span));
            self.level().in_macro = true;
        }
    }

    /// Returns whether an expression cannot go on with what follows.
    pub(super) fn ends_here(&self) -> bool {
        const ENDS: [&str; 8] = ["end", "else", "elseif", "catch", "finally", "for", "if", ":"];
        let rest = self.rest_of_line();
        let ends = ENDS.iter().any(|&word| {
            rest.strip_prefix(word).is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '!'))
                    && match word {
                        // Elsewhere, these begin a loop or a branch.
                        "for" => self.open_kind() == Open::Square,
                        "if" => self.here().each,
                        ":" => rest.starts_with([' ', '\n']),
                        _ => true,
                    }
            })
        });
        ends || self.nothing_follows()
    }

    fn label(&mut self, atom: Atom, span: Span) {
        let word = if self.rest_of_line().starts_with('\n') { None } else { self.lexer.next() };
        let range = self.lexer.span();
        if matches!(word, Some(Ok(Raw::Name))) {
            let span = Span { start: range.start as u32, end: range.end as u32 };
            self.put_end(Token::Atom(atom, span));
        } else {
            let word = self.slice(span);
            self.problems.add(span, format!("expected the name of a label after `{word}`"));
            self.put_end(Token::Atom(Atom::Error, span));
        }
    }

    /// `using A, B: f, g`: the whole line.
    pub(super) fn using(&mut self, span: Span) {
        self.whole_line(Atom::Using, span);
    }

    /// `export a, b`: the whole line.
    pub(super) fn export(&mut self, span: Span) {
        self.whole_line(Atom::Export, span);
    }

    /// A list of names to the end of the line, which goes on behind a comma.
    fn whole_line(&mut self, atom: Atom, span: Span) {
        self.begin_operand(span);
        let rest = self.lexer.remainder();
        let mut end = rest.find(['\n', ';', '#']).unwrap_or(rest.len());
        while rest[..end].trim_end().ends_with([',', ':']) && rest[end..].starts_with('\n') {
            end += 1 + rest[end + 1..].find(['\n', ';', '#']).unwrap_or(rest.len() - end - 1);
        }
        if self.open_kind() == Open::Paren {
            end = rest[..end].find(')').unwrap_or(end);
        }
        let list = rest[..end].trim_end();
        self.lexer.bump(list.len());
        self.put_end(Token::Atom(
            atom,
            Span { start: span.start, end: span.end + list.len() as u32 },
        ));
    }
}
