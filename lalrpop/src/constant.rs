//! Names and constants as they are written.

use std::borrow::Cow;

use regraft_ir::{Const, Constant, Symbol, Type};

use crate::builder::{Builder, INT_CACHE};
use crate::function_text::{Span, ValueRef};
use crate::literal;

impl<'s> Builder<'s> {
    /// The number behind a sigil.
    #[inline]
    pub(crate) fn number(&mut self, name: Span) -> Option<u32> {
        let digits = &self.text.as_bytes()[name.0 as usize + 1..name.1 as usize];
        let add = |number: u64, &digit: &u8| number * 10 + u64::from(digit - b'0');
        // Eighteen digits fit, and are enough to see that a number is too large.
        let number = if digits.len() > 18 { u64::MAX } else { digits.iter().fold(0, add) };
        if number.wrapping_sub(1) >= u64::from(u32::MAX) - 1 {
            let why = if number == 0 { "numbers begin with 1" } else { "the number is too large" };
            self.error(name, format!("`{}` cannot be, {why}", self.slice(name)), "");
            return None;
        }
        Some(number as u32)
    }

    #[inline]
    pub(crate) fn value_ref(&mut self, name: Span) -> ValueRef {
        if self.text.as_bytes()[name.0 as usize + 1].is_ascii_digit() {
            return self.number(name).map_or(ValueRef::None, ValueRef::Number);
        }
        self.named_ref(name)
    }

    pub(crate) fn named_ref(&mut self, span: Span) -> ValueRef {
        let Some(name) = self.parsed_name((span.0 + 1, span.1)) else { return ValueRef::None };
        if let Some(&id) = self.function.name_ids.get(&name) {
            return ValueRef::Name(id);
        }
        // A line outside of functions, or the head of the next one while this one is open, may
        // leave names behind that nobody uses.
        let id = self.function.names.len() as u32;
        self.function.names.push(name.clone());
        self.function.name_ids.insert(name, id);
        ValueRef::Name(id)
    }

    /// A name that is plain or in quotes; a wrong escape is reported.
    pub(crate) fn parsed_name(&mut self, span: Span) -> Option<Cow<'s, str>> {
        match literal::name(self.slice(span)) {
            Ok(name) => Some(name),
            Err((offset, len)) => {
                let at = span.0 + offset as u32;
                let wrong = (at, at + len as u32);
                let message = format!("unknown escape `{}`", self.slice(wrong));
                self.error_with(wrong, message, "", |d, _| {
                    d.help("the escapes are `\\\\`, `\\\"`, `\\n`, `\\t`, `\\r` and `\\u{hex}`")
                });
                None
            }
        }
    }

    pub(crate) fn name_or_report(&mut self, span: Span) -> Option<Symbol> {
        let name = self.parsed_name(span)?;
        Some(self.ctx.symbol(&name))
    }

    /// The symbol of `@name`.
    pub(crate) fn global(&self, span: Span) -> Result<Symbol, (usize, usize)> {
        let name = literal::name(self.slice((span.0 + 1, span.1)))?;
        Ok(self.ctx.symbol(&name))
    }

    pub(crate) fn global_or_report(&mut self, span: Span) -> Option<Symbol> {
        self.name_or_report((span.0 + 1, span.1))
    }

    pub(crate) fn nothing(&self) -> Const {
        self.ctx.constant_id(Constant::Unit)
    }

    #[inline]
    pub(crate) fn number_const(&mut self, span: Span) -> Const {
        let text = self.slice(span);
        if let Some(value) = small_int(text.as_bytes()) {
            let cached = &mut self.ints[(value as usize) % INT_CACHE];
            if let Some((known, id)) = *cached
                && known == value
            {
                return id;
            }
            let id = self.ctx.constant_id(value);
            *cached = Some((value, id));
            return id;
        }
        self.cached_const(span, literal::number)
    }

    pub(crate) fn word_const(&mut self, span: Span) -> Const {
        self.cached_const(span, literal::word)
    }

    #[inline]
    pub(crate) fn cached_const(
        &mut self,
        span: Span,
        parse: impl FnOnce(&str) -> Result<Constant, String>,
    ) -> Const {
        let text = self.slice(span);
        if let Some(&id) = self.consts.get(text) {
            return id;
        }
        match parse(text) {
            Ok(constant) => {
                let id = self.ctx.constant_id(constant);
                self.consts.insert(text, id);
                id
            }
            Err(message) => {
                self.error(span, message, "");
                self.nothing()
            }
        }
    }

    pub(crate) fn func_const(&mut self, span: Span) -> Const {
        if let Some(&id) = self.consts.get(self.slice(span)) {
            return id;
        }
        let Some(name) = self.global_or_report(span) else { return self.nothing() };
        let id = self.ctx.constant_id(Constant::Func(name));
        self.consts.insert(self.slice(span), id);
        id
    }

    pub(crate) fn symbol_const(&mut self, span: Span) -> Const {
        match self.name_or_report((span.0 + 1, span.1)) {
            Some(name) => self.ctx.constant_id(Constant::Sym(name)),
            None => self.nothing(),
        }
    }

    pub(crate) fn text_const(&mut self, span: Span) -> Const {
        match self.name_or_report(span) {
            Some(text) => self.ctx.constant_id(Constant::Str(text)),
            None => self.nothing(),
        }
    }

    pub(crate) fn type_const(&mut self, ty: Type) -> Const {
        self.ctx.constant_id(Constant::Type(ty))
    }
}

/// A plain decimal of up to 18 digits, the most common constant by far.
#[inline]
fn small_int(text: &[u8]) -> Option<i64> {
    if text.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for &byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}
