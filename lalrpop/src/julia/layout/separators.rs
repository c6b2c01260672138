//! Separators of statements, arguments and rows: ends of lines, `;` and `,`.

use super::{Layout, Open, Phase};
use crate::julia::ast::Span;
use crate::julia::token::{Infix, Postfix, Token};

impl Layout<'_> {
    pub(super) fn end_of_line(&mut self, span: Span) {
        match self.open_kind() {
            Open::Paren | Open::Curly => {}
            Open::Square => self.newline = self.ended,
            Open::Let
            | Open::Do
            | Open::For
            | Open::If
            | Open::While
            | Open::Function
            | Open::Struct
            | Open::Module
            | Open::Abstract
                if self.here().phase != Phase::Body =>
            {
                if self.ended || matches!(self.out.last(), Some(Token::Let(_) | Token::Do(_))) {
                    self.sep(span);
                }
            }
            _ => {
                if self.ended {
                    self.sep(span);
                }
            }
        }
    }

    pub(super) fn semicolon(&mut self, span: Span) {
        if self.open_kind().is_bracket() {
            self.newline = false;
            let level = self.level();
            level.phase = Phase::Body;
            level.each = false;
            level.in_macro = false;
            self.put(Token::Semicolon(span));
        } else {
            self.sep(span);
        }
    }

    pub(super) fn comma(&mut self, span: Span) {
        let level = self.level();
        match level.open {
            Open::For if level.phase != Phase::Body => {
                level.phase = Phase::Target;
                self.put(Token::Comma(span));
            }
            Open::Let | Open::Do if level.phase == Phase::Head => self.put(Token::Comma(span)),
            open if open.is_bracket() => {
                level.questions = 0;
                level.in_macro = false;
                if level.each {
                    level.phase = Phase::Target;
                }
                self.newline = false;
                self.put(Token::Comma(span));
            }
            _ => {
                let mut rest = self.rest_of_line().bytes();
                if rest.next() == Some(b'=') && rest.next() != Some(b'=') {
                    self.put_end(Token::Postfix(Postfix::Comma, span));
                } else {
                    self.put(Token::Infix(Infix::Comma, span));
                }
            }
        }
    }
}
