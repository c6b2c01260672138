//! Operands of one word: names, numbers, strings, symbols.

use regraft_ir::Symbol;

use super::{Builder, Waiting};
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::{Atom, Oper, Prefix, common_indent};
use crate::julia::{Bits, words};

impl<'t> Builder<'t> {
    pub(crate) fn atom(&mut self, atom: Atom, span: Span) {
        let special = match atom {
            Atom::Macro => Some(self.macro_call(span, &[], span)),
            Atom::StrMacro => Some(self.string_macro(span)),
            _ if self.code.is_data() => self.code_atom(atom, span),
            _ => None,
        };
        if let Some(id) = special {
            return self.operand(id);
        }
        let kind = match atom {
            Atom::Name => {
                let name = self.name(span);
                Kind::Name(name)
            }
            Atom::Int | Atom::Float => {
                self.number(atom, span);
                return;
            }
            Atom::Oper => {
                let oper = self.oper_at(span);
                Kind::Name(oper)
            }
            Atom::Char => self.character(span),
            Atom::Str => self.short_string(span),
            Atom::LongStr => self.long_string(span),
            Atom::StrPart => {
                let text = self.slice(span).replace("\r\n", "\n");
                self.unescaped(&text, span.start)
            }
            Atom::Interpolate => Kind::Name(self.ctx.symbol("#interpolated")),
            Atom::True => Kind::Bool(true),
            Atom::False => Kind::Bool(false),
            Atom::Symbol => Kind::Sym(self.name(span)),
            Atom::End => Kind::End,
            Atom::First => Kind::First,
            Atom::Colon => Kind::Colon,
            Atom::Return => Kind::Return(None),
            Atom::Break => Kind::Break,
            Atom::Continue => Kind::Continue,
            Atom::Goto => Kind::Goto(self.name(span)),
            Atom::Label => Kind::Label(self.name(span)),
            Atom::Using => self.using(span),
            Atom::Export => self.export(span),
            Atom::Macro | Atom::StrMacro | Atom::Error => Kind::Error,
        };
        let id = self.leaf(kind, span);
        self.operand(id);
    }

    // --- names -------------------------------------------------------------------------------

    pub(super) fn name(&mut self, span: Span) -> Symbol {
        let text = self.slice(span);
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = match text.strip_prefix("__") {
            Some(rest) if self.prelude => self.ctx.symbol(&format!("#{rest}")),
            _ => self.ctx.symbol(text),
        };
        self.symbols.insert(text, symbol);
        symbol
    }

    pub(super) fn oper_symbol(&mut self, oper: Oper) -> Symbol {
        if let Some(symbol) = self.opers[oper as usize] {
            return symbol;
        }
        let symbol = self.ctx.symbol(oper.text());
        self.opers[oper as usize] = Some(symbol);
        symbol
    }

    /// An operator as the name of what is called.
    pub(super) fn operator(&mut self, oper: Oper, span: Span) -> ExprId {
        let symbol = self.oper_symbol(oper);
        self.leaf(Kind::Name(symbol), span)
    }

    /// A name that is not written so.
    pub(super) fn named(&mut self, name: &'static str, span: Span) -> ExprId {
        let symbol = match self.symbols.get(name) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.ctx.symbol(name);
                self.symbols.insert(name, symbol);
                symbol
            }
        };
        self.leaf(Kind::Name(symbol), span)
    }

    fn oper_at(&mut self, span: Span) -> Symbol {
        let text = self.slice(span);
        if text.starts_with('.') {
            self.problems.add(span, format!("the operator `{text}` as a value is not supported"));
        }
        let oper = Oper::named(text);
        if oper == Oper::Other { self.name(span) } else { self.oper_symbol(oper) }
    }

    /// A name or an operator, after `.` or `:`.
    pub(super) fn field_name(&mut self, span: Span) -> Symbol {
        let oper = Oper::named(self.slice(span));
        if oper == Oper::Other { self.name(span) } else { self.oper_symbol(oper) }
    }

    // --- numbers -----------------------------------------------------------------------------

    fn number(&mut self, atom: Atom, span: Span) {
        // A sign that touches a number is part of it.
        let is_unsigned = matches!(self.slice(span).as_bytes(), [b'0', b'x' | b'b' | b'o', ..]);
        let (negative, span) = match self.ops.last() {
            Some(op)
                if !is_unsigned
                    && op.what == Waiting::Prefix(Prefix::Oper(Oper::Sub))
                    && op.span.end == span.start =>
            {
                (true, Span { start: op.span.start, end: span.end })
            }
            _ => (false, span),
        };
        if negative {
            self.ops.pop();
        }
        let text = self.slice(span);
        let digits = text.trim_start_matches(['-', '−']);
        let kind = if atom == Atom::Int { int(digits, negative) } else { float(digits, negative) };
        let kind = kind.unwrap_or_else(|message| {
            self.problems.add(span, message);
            Kind::Error
        });
        let id = self.leaf(kind, span);
        self.operand(id);
    }

    fn character(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        let message = match unescape(&text[1..text.len() - 1]) {
            Ok(text) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => return Kind::Bits(Bits::Char, [u64::from(u32::from(c)), 0]),
                    _ => "a character literal holds one character; text stands in `\"`".to_owned(),
                }
            }
            Err((_, message)) => message,
        };
        self.problems.add(span, message);
        Kind::Error
    }

    // --- strings -----------------------------------------------------------------------------

    fn short_string(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        let body = &text[1..text.len() - 1];
        if !body.contains(['\\', '\r']) {
            return Kind::Str(self.ctx.symbol(body));
        }
        let start = span.start + 1;
        self.unescaped(&body.replace("\r\n", "\n"), start)
    }

    fn long_string(&mut self, span: Span) -> Kind {
        let text = self.slice(span);
        let body = text[3..text.len() - 3].replace("\r\n", "\n");
        self.unescaped(&dedented(&body), span.start + 3)
    }

    fn unescaped(&mut self, body: &str, start: u32) -> Kind {
        match unescape(body) {
            Ok(text) => Kind::Str(self.ctx.symbol(&text)),
            Err((at, message)) => {
                let end = (start + at as u32 + 2).min(self.text.len() as u32);
                let start = self.text.floor_char_boundary((start + at as u32).min(end) as usize);
                let end = self.text.ceil_char_boundary(end as usize);
                self.problems.add(Span { start: start as u32, end: end as u32 }, message);
                Kind::Error
            }
        }
    }
}

fn int(digits: &str, negative: bool) -> Result<Kind, String> {
    let plain;
    let text = if digits.contains('_') {
        plain = digits.replace('_', "");
        plain.as_str()
    } else {
        digits
    };
    let bytes = text.as_bytes();
    if let [b'0', base @ (b'x' | b'b' | b'o'), ..] = bytes {
        return unsigned(*base, &text[2..])
            .unwrap_or_else(|| Err(format!("`{digits}` is not a number")));
    }
    let value = if bytes.len() <= 18 && bytes.iter().all(u8::is_ascii_digit) {
        let value = bytes.iter().fold(0i64, |sum, byte| 10 * sum + i64::from(byte - b'0'));
        Some(i128::from(if negative { -value } else { value }))
    } else {
        let sign = if negative { "-" } else { "" };
        format!("{sign}{text}").parse::<i128>().ok()
    };
    value.map(whole).ok_or_else(|| {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("`{digits}` is not a number")
        } else {
            too_large(digits)
        }
    })
}

/// The literal of a whole number: of the type `Int64` where it fits, else `Int128`.
pub(super) fn whole(value: i128) -> Kind {
    match i64::try_from(value) {
        Ok(value) => Kind::Int(value),
        Err(_) => Kind::Bits(Bits::Int128, words(value.cast_unsigned())),
    }
}

fn too_large(digits: &str) -> String {
    format!("`{digits}` is no number of at most 128 bits, and `BigInt` is not supported")
}

/// An unsigned number, whose type is as wide as the digits (octal ones: as the value) need; `None` if
/// they are no digits.
fn unsigned(base: u8, digits: &str) -> Option<Result<Kind, String>> {
    let (radix, width) = match base {
        b'x' => (16, 4),
        b'b' => (2, 1),
        _ => (8, 0),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let wrong = || Err(too_large(&format!("0{}{digits}", char::from(base))));
    let Ok(value) = u128::from_str_radix(digits, radix) else { return Some(wrong()) };
    let by_digits = digits.len() * width;
    let by_value = 128 - value.leading_zeros() as usize;
    let bits = match if width == 0 { by_value } else { by_digits } {
        0..=8 => Bits::UInt8,
        9..=16 => Bits::UInt16,
        17..=32 => Bits::UInt32,
        33..=64 => Bits::UInt64,
        65..=128 => Bits::UInt128,
        _ => return Some(wrong()),
    };
    Some(Ok(Kind::Bits(bits, words(value))))
}

fn float(digits: &str, negative: bool) -> Result<Kind, String> {
    let wrong = || format!("`{digits}` is not a number");
    let plain = digits.replace('_', "").replace('−', "-");
    let sign = if negative { -1.0 } else { 1.0 };
    if let Some((mantissa, exponent)) = plain.split_once('f') {
        let value: f32 = format!("{mantissa}e{exponent}").parse().map_err(|_| wrong())?;
        if value.is_infinite() {
            return Err(format!("`{digits}` does not fit Float32"));
        }
        return Ok(Kind::Float32(sign as f32 * value));
    }
    let value: f64 = plain.parse().map_err(|_| wrong())?;
    if value.is_infinite() {
        return Err(format!("`{digits}` does not fit Float64"));
    }
    Ok(Kind::Float(sign * value))
}

/// The text of a string with three quotes: without its first line end and without the blank space
/// that all its lines but the first begin with.
fn dedented(body: &str) -> String {
    let (first_ends, indent) = common_indent(body);
    let body = body.strip_prefix('\n').unwrap_or(body);
    let blank = [' ', '\t'];
    let mut out = String::with_capacity(body.len());
    for (at, line) in body.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let blanks = line.len() - line.trim_start_matches(blank).len();
        let stripped = if at > 0 || first_ends { blanks.min(indent.into()) } else { 0 };
        out.push_str(&line[stripped..]);
    }
    out
}

/// Resolves escapes; else where the wrong one is, and what is wrong.
fn unescape(body: &str) -> Result<String, (usize, String)> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let here = body.len() - rest.len() + at;
        let after = &rest[at + 1..];
        let Some(c) = after.chars().next() else {
            return Err((here, "the escape is not complete".into()));
        };
        rest = &after[c.len_utf8()..];
        let simple = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'e' => '\u{1b}',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '"' | '$' | '\'' | '`' => c,
            '\n' => {
                rest = rest.trim_start_matches([' ', '\t']);
                continue;
            }
            'x' | 'u' | 'U' | '0'..='7' => {
                let (radix, most, digits) = match c {
                    'x' => (16, 2, rest),
                    'u' => (16, 4, rest),
                    'U' => (16, 8, rest),
                    _ => (8, 3, after),
                };
                let len = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
                let value = u32::from_str_radix(&digits[..len], radix).ok();
                rest = &digits[len..];
                match value.filter(|&v| matches!(c, 'u' | 'U') || v < 0x80).map(char::from_u32) {
                    Some(Some(c)) => c,
                    _ => return Err((here, "the escape names no character".into())),
                }
            }
            c => return Err((here, format!("there is no escape `\\{}`", c.escape_debug()))),
        };
        out.push(simple);
    }
    out.push_str(rest);
    Ok(out)
}
