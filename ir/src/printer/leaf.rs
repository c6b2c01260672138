//! The leaves of text: types, constants, attributes, names and numbers.

use super::Printer;
use crate::interned::write_name;
use crate::{Attrs, Block, Const, Constant, Symbol, Type};

/// `000001002...999`
const GROUPS: &str = {
    const DIGITS: [u8; 3000] = {
        let mut digits = [0; 3000];
        let mut i = 0;
        while i < 1000 {
            digits[3 * i] = b'0' + (i / 100) as u8;
            digits[3 * i + 1] = b'0' + (i / 10 % 10) as u8;
            digits[3 * i + 2] = b'0' + (i % 10) as u8;
            i += 1;
        }
        digits
    };
    match std::str::from_utf8(&DIGITS) {
        Ok(text) => text,
        Err(_) => panic!("digits are ASCII"),
    }
};

impl Printer<'_> {
    pub(super) fn block_name(&mut self, b: Block) {
        self.out.push('^');
        self.number(u64::from(b.number()));
    }

    /// ` {inbounds=true, k=:x}`
    #[inline]
    pub(super) fn attrs(&mut self, attrs: Attrs) {
        if attrs.is_empty() {
            return;
        }
        self.out.push_str(" {");
        let Some(entries) = self.ctx.try_attr_entries(attrs) else {
            self.out.push_str("?}");
            return;
        };
        for (i, &(name, value)) in entries.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.name(name);
            self.out.push('=');
            self.constant(value);
        }
        self.out.push('}');
    }

    #[inline]
    pub(super) fn ty(&mut self, ty: Type) {
        match Type::BUILTIN.get(ty.index()) {
            Some(&(_, name)) => self.out.push_str(name),
            None if self.ctx.has_type(ty) => {
                let _ = self.ctx.write_type(&mut self.out, ty);
            }
            None => self.out.push('?'),
        }
    }

    #[inline]
    pub(super) fn constant(&mut self, c: Const) {
        if !self.ctx.has_constant(c) {
            self.out.push_str("<const>?");
            return;
        }
        match self.ctx.constant(c) {
            Constant::I64(x) => self.integer(x),
            Constant::Bool(true) => self.out.push_str("true"),
            Constant::Bool(false) => self.out.push_str("false"),
            // Whole numbers are the most frequent floats, and their digits cheap.
            Constant::F64(bits) if let Some(whole) = whole_float(f64::from_bits(bits)) => {
                self.integer(whole);
                self.out.push_str(".0");
            }
            Constant::Sym(name) => {
                self.out.push(':');
                self.name(name);
            }
            Constant::Func(name) => {
                self.out.push('@');
                self.name(name);
            }
            other => {
                let _ = self.ctx.write_constant(&mut self.out, other);
            }
        }
    }

    #[inline]
    pub(super) fn name(&mut self, name: Symbol) {
        let _ = write_name(&mut self.out, self.ctx.str(name));
    }

    pub(super) fn integer(&mut self, x: i64) {
        if x < 0 {
            self.out.push('-');
        }
        self.number(x.unsigned_abs());
    }

    /// Decimal digits, three at a time, without the detour of `fmt`.
    #[inline]
    pub(super) fn number(&mut self, x: u64) {
        if x >= 1000 {
            self.number_in_groups(x);
        } else {
            let skip = usize::from(x < 10) + usize::from(x < 100);
            let at = 3 * x as usize;
            self.out.push_str(&GROUPS[at + skip..at + 3]);
        }
    }

    pub(super) fn number_in_groups(&mut self, x: u64) {
        self.number(x / 1000);
        let at = 3 * (x % 1000) as usize;
        self.out.push_str(&GROUPS[at..at + 3]);
    }
}

/// The integer that a float is, if it is one whose shortest decimal form has no exponent.
fn whole_float(x: f64) -> Option<i64> {
    let whole = x as i64;
    (whole as f64 == x && whole.unsigned_abs() < 1 << 53 && (whole != 0 || x.is_sign_positive()))
        .then_some(whole)
}
