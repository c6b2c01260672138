//! Attributes that the ops of several dialects take.

use crate::ir::{AttrDef, Attrs, Constant, Context, Type, TypePattern};

/// A promise that the indices are in bounds.
pub(crate) const INBOUNDS: &[AttrDef] =
    &[AttrDef { name: "inbounds", pattern: TypePattern::Is(Type::BOOL), required: false }];

/// Returns the attributes of an access that is known to be in bounds.
pub fn inbounds(ctx: &Context) -> Attrs {
    ctx.attrs(&[(ctx.symbol("inbounds"), ctx.constant_id(Constant::Bool(true)))])
}
