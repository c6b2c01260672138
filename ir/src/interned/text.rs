//! The text of types, constants and locations.

use std::fmt::{self, Write as _};

use super::Interned;
use crate::location::Location;
use crate::types::{SizedType, TypeSize};
use crate::{Constant, Loc, Type, TypeKind};

impl Interned {
    /// The type as IR text.
    ///
    /// Types share their parts, so that a few can stand for more text than there is memory. Of one
    /// with more than 2^24 parts, or nested more than 2^9 deep, only the outside is shown, as
    /// `tuple<…>`, which does not read back. No op infers such a type for its result.
    pub fn type_text(&self, ty: Type) -> String {
        let mut out = String::new();
        self.write_type(&mut out, ty).expect("writing to a string does not fail");
        out
    }

    /// Writes the type as IR text, as [`Interned::type_text`] gives it.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write_type(&self, out: &mut dyn fmt::Write, ty: Type) -> fmt::Result {
        // Messages tell of types that are of another context, too.
        let Some(SizedType { kind, size }) = self.types.try_get(ty.0) else {
            return out.write_char('?');
        };
        if size.exceeds(TypeSize::MAX_WRITTEN) {
            return match kind {
                TypeKind::Named(_) => out.write_str("{…}"),
                TypeKind::Array { rank, .. } => write!(out, "array<…, {rank}>"),
                TypeKind::Ref(_) => out.write_str("ref<…>"),
                TypeKind::Val(_) => out.write_str("val<…>"),
                TypeKind::TypeOf(_) => out.write_str("type<…>"),
                _ => out.write_str("tuple<…>"),
            };
        }
        // The depth of the recursion is limited, since that of the type is.
        match kind {
            TypeKind::Builtin => out.write_str(Type::BUILTIN[ty.index()].1),
            TypeKind::Tuple(elements) => {
                out.write_str("tuple<")?;
                for (i, &element) in elements.iter().enumerate() {
                    out.write_str(if i == 0 { "" } else { ", " })?;
                    self.write_type(out, element)?;
                }
                out.write_char('>')
            }
            TypeKind::Named(fields) => {
                out.write_char('{')?;
                for (i, &(name, field)) in fields.iter().enumerate() {
                    out.write_str(if i == 0 { "" } else { ", " })?;
                    write_name(out, self.str(name))?;
                    out.write_str(": ")?;
                    self.write_type(out, field)?;
                }
                out.write_char('}')
            }
            &TypeKind::Struct(id) => {
                out.write_char('@')?;
                write_name(out, self.str(self.struct_def(id).name))
            }
            &TypeKind::Array { element, rank } => {
                out.write_str("array<")?;
                self.write_type(out, element)?;
                write!(out, ", {rank}>")
            }
            &(TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
                out.write_str(if matches!(kind, TypeKind::Ref(_)) { "ref<" } else { "type<" })?;
                self.write_type(out, of)?;
                out.write_char('>')
            }
            &TypeKind::Fn(name) => {
                out.write_str("fn<@")?;
                write_name(out, self.str(name))?;
                out.write_char('>')
            }
            &TypeKind::Val(constant) => {
                out.write_str("val<")?;
                self.write_constant(out, self.constant(constant))?;
                out.write_char('>')
            }
        }
    }

    /// The constant as IR text.
    pub fn constant_text(&self, constant: Constant) -> String {
        let mut out = String::new();
        self.write_constant(&mut out, constant).expect("writing to a string does not fail");
        out
    }

    /// Writes the constant as IR text; it reads back bit for bit.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write_constant(&self, out: &mut dyn fmt::Write, constant: Constant) -> fmt::Result {
        match constant {
            Constant::Unit => out.write_str("nothing"),
            Constant::Bool(x) => write!(out, "{x}"),
            Constant::I8(x) => write!(out, "{x}i8"),
            Constant::I16(x) => write!(out, "{x}i16"),
            Constant::I32(x) => write!(out, "{x}i32"),
            Constant::I64(x) => write!(out, "{x}"),
            Constant::F32(bits) => {
                let x = f32::from_bits(bits);
                if x.is_nan() && bits != f32::NAN.to_bits() {
                    return write!(out, "nan(0x{bits:08x})f32");
                }
                write_float(out, f64::from(x), format_args!("{x:?}"))?;
                out.write_str("f32")
            }
            Constant::F64(bits) => {
                let x = f64::from_bits(bits);
                if x.is_nan() && bits != f64::NAN.to_bits() {
                    return write!(out, "nan(0x{bits:016x})");
                }
                write_float(out, x, format_args!("{x:?}"))
            }
            Constant::Sym(name) | Constant::Func(name) => {
                out.write_char(if matches!(constant, Constant::Sym(_)) { ':' } else { '@' })?;
                write_name(out, self.str(name))
            }
            Constant::Str(text) => write_quoted(out, self.str(text)),
            Constant::Type(ty) => {
                out.write_char('!')?;
                self.write_type(out, ty)
            }
        }
    }

    /// The location in words: `foo.ir:3:5`, with the calls that it was inlined at, of which only
    /// the innermost are told if there are very many.
    pub fn loc_text(&self, loc: Loc) -> String {
        let mut out = String::new();
        // Where recursive functions are inlined, the number of places doubles each time.
        let (mut rest, mut left) = (vec![loc], MAX_LOC_PLACES);
        while let Some(loc) = rest.pop() {
            let location = self.location(loc);
            if let Location::Inlined { at, call_site, .. } = location {
                rest.extend([call_site, at]);
                continue;
            }
            if left == 0 {
                out.push_str(", and so on");
                break;
            }
            out.push_str(if left == MAX_LOC_PLACES { "" } else { ", inlined at " });
            left -= 1;
            match location {
                Location::File { file, line, column } => {
                    let _ = write!(out, "{file}:{line}:{column}");
                }
                _ => out.push_str("an unknown place"),
            }
        }
        out
    }
}

/// The most places that a location is told as.
pub(crate) const MAX_LOC_PLACES: usize = 64;

/// Returns whether a name can stand without quotes.
pub fn is_plain_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'!' || b == b'.')
}

/// Writes a name, in quotes if it has to be.
pub(crate) fn write_name(out: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    if is_plain_name(name) { out.write_str(name) } else { write_quoted(out, name) }
}

/// Writes a string literal. Escapes: `\\`, `\"`, `\n`, `\t`, `\r`, `\u{hex}` for other control
/// characters.
pub(crate) fn write_quoted(out: &mut dyn fmt::Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '\\' => out.write_str("\\\\")?,
            '"' => out.write_str("\\\"")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            c if c.is_control() => write!(out, "\\u{{{:x}}}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

fn write_float(out: &mut dyn fmt::Write, x: f64, shortest: fmt::Arguments<'_>) -> fmt::Result {
    if x.is_nan() {
        out.write_str("nan")
    } else if x == f64::INFINITY {
        out.write_str("inf")
    } else if x == f64::NEG_INFINITY {
        out.write_str("-inf")
    } else {
        // `{:?}` gives the shortest digits that read back, with a dot or an exponent.
        out.write_fmt(shortest)
    }
}
