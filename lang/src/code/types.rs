//! The types of the prelude that code is made of.

use regraft_exec::value::Val;
use regraft_ir::Type;
use regraft_syntax::julia::{Bits, Words};

use crate::definition::Space;
use crate::world::{Binding, World};

/// The types of the prelude that code is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeTypes {
    pub(crate) expr: Type,
    pub(crate) quote_node: Type,
    pub(crate) global_ref: Type,
    pub(super) line_node: Type,
    /// Of literals that are made of bits, in the order of [`Bits::ALL`].
    pub(super) bits: [Type; Bits::ALL.len()],
}

impl CodeTypes {
    /// Returns the types that the prelude declares; `None` before it does.
    pub(crate) fn of(world: &mut World) -> Option<Self> {
        let mut named = |name: &str| {
            let name = world.ctx().symbol(name);
            match world.resolve(name, Space::Base, None) {
                Binding::Type(ty) => Some(ty),
                _ => None,
            }
        };
        Some(Self {
            expr: named("Expr")?,
            quote_node: named("QuoteNode")?,
            global_ref: named("GlobalRef")?,
            line_node: named("LineNumberNode")?,
            bits: {
                let mut types = [Type::ANY; Bits::ALL.len()];
                for (ty, bits) in types.iter_mut().zip(Bits::ALL) {
                    *ty = named(bits.name())?;
                }
                types
            },
        })
    }

    /// The value of a literal that is made of bits.
    pub(super) fn of_bits(self, bits: Bits, [value, high]: Words) -> Val {
        let ty = self.bits[bits as usize];
        let value = match bits {
            Bits::UInt8 => Val::I8(value as i8),
            Bits::UInt16 => Val::I16(value as i16),
            Bits::Char | Bits::UInt32 => Val::I32(value as i32),
            Bits::UInt64 => Val::I64(value as i64),
            Bits::UInt128 | Bits::Int128 => {
                return Val::structure(ty, [value, high].map(|word| Val::I64(word as i64)));
            }
        };
        Val::structure(ty, [value])
    }

    /// Returns whether a type is that of characters.
    pub(crate) fn is_char(self, ty: Type) -> bool {
        self.bits[Bits::Char as usize] == ty
    }

    /// The literal of a struct, if it is made of bits.
    pub(crate) fn bits_of(self, ty: Type, fields: &[Val]) -> Option<(Bits, Words)> {
        let at = self.bits.iter().position(|&bits| bits == ty)?;
        let value = match *fields {
            [Val::I8(x)] => u64::from(x as u8),
            [Val::I16(x)] => u64::from(x as u16),
            [Val::I32(x)] => u64::from(x as u32),
            [Val::I64(x)] => x as u64,
            [Val::I64(low), Val::I64(high)] => {
                return Some((Bits::ALL[at], [low as u64, high as u64]));
            }
            _ => return None,
        };
        Some((Bits::ALL[at], [value, 0]))
    }

    /// Returns whether values of a type are code.
    pub(crate) fn contain(self, ty: Type) -> bool {
        [self.expr, self.quote_node, self.global_ref, self.line_node].contains(&ty)
    }
}
