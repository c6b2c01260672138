//! Names of values, and how values are printed.

use std::fmt::Write as _;

use super::Function;
use crate::{IrError, IrResult, Operand, OperandKind, Symbol, Value};

impl Function {
    /// The name of a value, if it has one.
    #[track_caller]
    pub fn value_name(&self, v: Value) -> Option<&str> {
        self.known(v);
        self.names.of(v).map(|name| self.ctx.str(name))
    }

    /// The same as a symbol.
    #[inline]
    #[track_caller]
    pub fn value_symbol(&self, v: Value) -> Option<Symbol> {
        self.known(v);
        self.names.of(v)
    }

    /// The value of that name.
    pub fn value_by_name(&self, name: &str) -> Option<Value> {
        self.value_named(self.ctx.find_symbol(name)?)
    }

    /// The same by a symbol.
    #[inline]
    pub fn value_named(&self, name: Symbol) -> Option<Value> {
        self.names.value(name)
    }

    /// Names a value; a name that another value has gets a suffix (`acc.1`). `None` takes the
    /// name away. Returns the name that it got.
    ///
    /// # Errors
    /// If `v` is stale, a terminator, or the name is empty or all digits.
    pub fn set_name_of(&mut self, v: Value, name: Option<&str>) -> IrResult<Option<Symbol>> {
        self.checked(v)?;
        if v.is_terminator() {
            return Err(IrError::terminator_value(self, v));
        }
        if let Some(name) = name.filter(|name| name.bytes().all(|b| b.is_ascii_digit())) {
            return Err(IrError::bad_name(name));
        }
        self.forget_name(v);
        let Some(name) = name else { return Ok(None) };
        let symbol = self.free_name(name);
        self.names.insert(v, symbol);
        Ok(Some(symbol))
    }

    /// Names a value that has no name yet, as [`Function::set_name_of`] does. Where the name is free,
    /// as is usual in a function that is being built, nothing is allocated.
    ///
    /// # Errors
    /// As [`Function::set_name_of`].
    pub fn name_after(&mut self, v: Value, name: Symbol) -> IrResult<()> {
        if !self.ctx.has_symbol(name) {
            return Err(IrError::foreign_symbol(self));
        }
        self.checked(v)?;
        let digits = self.ctx.str(name).bytes().all(|b| b.is_ascii_digit());
        if digits || v.is_terminator() || self.names.of(v).is_some() {
            let text = self.ctx.str(name).to_owned();
            return self.set_name_of(v, Some(&text)).map(|_| ());
        }
        let name = match self.names.value(name) {
            None => name,
            Some(_) => self.free_name(self.ctx.str(name)),
        };
        self.names.insert(v, name);
        Ok(())
    }

    /// `name`, or the name with a suffix that no value has. As many values can want the same
    /// name, the suffixes are not tried one by one: O(log of those that are taken).
    pub(super) fn free_name(&self, name: &str) -> Symbol {
        let mut text = String::with_capacity(name.len() + 4);
        let mut candidate = |suffix: u64| {
            text.clear();
            text.push_str(name);
            if suffix > 0 {
                write!(text, ".{suffix}").expect("writing to a string");
            }
            self.ctx.symbol(&text)
        };
        let taken = |symbol| self.names.value(symbol).is_some();
        let (mut low, mut free) = (0, 0);
        let mut found = candidate(free);
        while taken(found) {
            (low, free) = (free, 2 * free + 1);
            found = candidate(free);
        }
        // `low` is taken, unless nothing is.
        while free > low + 1 {
            let middle = low + (free - low) / 2;
            let symbol = candidate(middle);
            if taken(symbol) {
                low = middle;
            } else {
                (free, found) = (middle, symbol);
            }
        }
        found
    }

    /// Takes the name of a value away, if it has one.
    pub(super) fn forget_name(&mut self, v: Value) {
        if !self.names.is_empty() {
            self.names.remove(v);
        }
    }

    /// Gives the name of `from`, if it has one, to `to`, which is about to stand for it, unless
    /// `to` is no live value or has a name of its own.
    pub fn transfer_name(&mut self, from: Value, to: impl Into<Operand>) {
        if self.names.is_empty() {
            return;
        }
        if let (Some(name), Some(to)) = (self.names.of(from), to.into().as_value())
            && self.names.of(to).is_none()
            && !to.is_terminator()
            && self.is_live(to)
        {
            self.names.remove(from);
            self.names.insert(to, name);
        }
    }

    /// A value as it is printed: `%acc` or `%3`.
    pub fn value_text(&self, v: Value) -> String {
        // Messages tell of values that were deleted, too.
        match self.names.of(v) {
            Some(name) => {
                let (mut out, name) = (String::from("%"), self.ctx.str(name));
                crate::interned::write_name(&mut out, name).expect("writing to a string");
                out
            }
            None => v.to_string(),
        }
    }

    /// An operand as it is printed.
    pub fn operand_text(&self, operand: Operand) -> String {
        match operand.kind() {
            OperandKind::Value(v) => self.value_text(v),
            OperandKind::Const(c) => self.ctx.constant_text(self.ctx.constant(c)),
            OperandKind::Block(b) => b.to_string(),
        }
    }
}
