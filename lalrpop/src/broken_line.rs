//! Lines that could not be read: what later lines refer to is taken from them, so that one error
//! does not lead to others.

use regraft_ir::{OpDef, Type};

use crate::builder::{Builder, Place};
use crate::function_text::{ParamText, Span, ValueRef};
use crate::token::Token;

impl Builder<'_> {
    /// Takes from a line that could not be read what later lines may refer to. `tokens` are
    /// those of the line, with their spans.
    pub(crate) fn broken_line(&mut self, tokens: &mut dyn Iterator<Item = (u32, Token, u32)>) {
        self.drop_line();
        let Some((start, first, end)) = tokens.next() else { return };
        // What follows can only add errors that have been reported already.
        let muted = std::mem::replace(&mut self.report.muted, true);
        match first {
            Token::Func => {
                self.report.muted = muted;
                self.broken_head(start, tokens);
            }
            Token::Struct | Token::Mutable => {
                self.report.muted = muted;
                self.leave_function(start);
            }
            Token::Block => {
                let number = self.number((start, end));
                self.broken_params(tokens);
                if self.place == Place::Function {
                    if self.function.blocks.is_empty() {
                        self.function.params.append(&mut self.line.params);
                        self.function.param_count = self.function.params.len() as u32;
                    }
                    self.begin_block(start, number);
                }
            }
            Token::CloseBrace => {
                self.report.muted = muted;
                self.end_line(start);
            }
            Token::Value | Token::Word | Token::Call if self.place == Place::Function => {
                let value = if first == Token::Value {
                    self.value_ref((start, end))
                } else {
                    ValueRef::None
                };
                let def = match first {
                    Token::Value => None,
                    _ => self.ctx.registry().find(self.slice((start, end))),
                };
                let terminator = def.is_some_and(OpDef::is_terminator);
                self.line.result = Some((value, (start, end), None)).filter(|_| !terminator);
                if self.function.blocks.is_empty() {
                    self.begin_block(start, Some(0));
                }
                self.push_inst(
                    start,
                    None,
                    terminator,
                    first == Token::Word && def.is_none(),
                    None,
                );
            }
            _ => {
                if let Some(block) = self.function.blocks.last_mut() {
                    block.broken = true;
                }
            }
        }
        self.report.muted = muted;
        self.end_of_line();
    }

    /// The head of a function that could not be read: all values in it count as parameters.
    pub(crate) fn broken_head(
        &mut self,
        start: u32,
        tokens: &mut dyn Iterator<Item = (u32, Token, u32)>,
    ) {
        let muted = std::mem::replace(&mut self.report.muted, true);
        let name = self.broken_params(tokens);
        let symbol = name.and_then(|name| Some((self.global(name).ok()?, name)));
        self.report.muted = muted;
        self.begin_function(start, symbol, Type::ANY);
        self.end_of_line();
    }

    /// Takes all values of a line as parameters of unknown type; returns the first `@name`.
    pub(crate) fn broken_params(
        &mut self,
        tokens: &mut dyn Iterator<Item = (u32, Token, u32)>,
    ) -> Option<Span> {
        let mut name = None;
        for (start, token, end) in tokens {
            match token {
                Token::Value => {
                    let value = self.value_ref((start, end));
                    self.line.params.push(ParamText { value, at: start, ty: None });
                }
                Token::Global => name = name.or(Some((start, end))),
                _ => {}
            }
        }
        name
    }
}
