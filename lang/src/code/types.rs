//! The types of the prelude that code is made of.

use regraft_ir::Type;

use crate::definition::Space;
use crate::world::{Binding, World};

/// The types of the prelude that code is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeTypes {
    pub(super) expr: Type,
    pub(super) quote_node: Type,
    pub(super) global_ref: Type,
    pub(super) line_node: Type,
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
        })
    }

    /// Returns whether values of a type are code.
    pub(crate) fn contain(self, ty: Type) -> bool {
        [self.expr, self.quote_node, self.global_ref, self.line_node].contains(&ty)
    }
}
