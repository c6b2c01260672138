//! Names of values, and how values are printed.

use super::Function;
use crate::{IrError, IrResult, Operand, OperandKind, Symbol, Value};

impl Function {
    /// The name of a value, if it has one.
    #[track_caller]
    pub fn value_name(&self, v: Value) -> Option<&str> {
        self.known(v);
        if self.names.of.is_empty() {
            return None;
        }
        self.names.of.get(&v).map(|&name| self.ctx.str(name))
    }

    /// The same as a symbol.
    #[inline]
    #[track_caller]
    pub fn value_symbol(&self, v: Value) -> Option<Symbol> {
        self.known(v);
        if self.names.of.is_empty() { None } else { self.names.of.get(&v).copied() }
    }

    /// The value of that name.
    pub fn value_by_name(&self, name: &str) -> Option<Value> {
        self.names.values.get(&self.ctx.find_symbol(name)?).copied()
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
        self.names.of.insert(v, symbol);
        self.names.values.insert(symbol, v);
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
        let digits = self.ctx.str(name).bytes().all(|b| b.is_ascii_digit());
        let free = !self.names.values.contains_key(&name) && !self.names.of.contains_key(&v);
        if !free || digits || v.is_terminator() {
            let text = self.ctx.str(name).to_owned();
            return self.set_name_of(v, Some(&text)).map(|_| ());
        }
        self.checked(v)?;
        self.names.of.insert(v, name);
        self.names.values.insert(name, v);
        Ok(())
    }

    /// `name`, or the name with a suffix that no value has. As many values can want the same
    /// name, the suffixes are not tried one by one: O(log of those that are taken).
    pub(super) fn free_name(&self, name: &str) -> Symbol {
        let candidate = |suffix: u64| match suffix {
            0 => name.to_owned(),
            _ => format!("{name}.{suffix}"),
        };
        // A name that was never interned is the name of nothing.
        let taken = |suffix: u64| self.value_by_name(&candidate(suffix)).is_some();
        let (mut low, mut free) = (0, 0);
        while taken(free) {
            (low, free) = (free, 2 * free + 1);
        }
        // `low` is taken, unless nothing is.
        while free > low + 1 {
            let middle = low + (free - low) / 2;
            *(if taken(middle) { &mut low } else { &mut free }) = middle;
        }
        self.ctx.symbol(&candidate(free))
    }

    /// Takes the name of a value away, if it has one.
    pub(super) fn forget_name(&mut self, v: Value) {
        if !self.names.of.is_empty()
            && let Some(name) = self.names.of.remove(&v)
        {
            self.names.values.remove(&name);
        }
    }

    /// Gives the name of `from`, if it has one, to `to`, which is about to stand for it, unless
    /// `to` is no live value or has a name of its own.
    pub fn transfer_name(&mut self, from: Value, to: impl Into<Operand>) {
        if self.names.of.is_empty() {
            return;
        }
        if let (Some(&name), Some(to)) = (self.names.of.get(&from), to.into().as_value())
            && !self.names.of.contains_key(&to)
            && !to.is_terminator()
            && self.is_live(to)
        {
            self.names.of.remove(&from);
            self.names.of.insert(to, name);
            self.names.values.insert(name, to);
        }
    }

    /// A value as it is printed: `%acc` or `%3`.
    pub fn value_text(&self, v: Value) -> String {
        // Messages tell of values that were deleted, too.
        match self.names.of.get(&v) {
            Some(&name) => {
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
