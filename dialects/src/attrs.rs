//! Attributes that the ops of several dialects take.
//!
//! ```
//! use regraft_dialects::{attrs::inbounds, context, mem};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[ctx.array_type(Type::F64, 1)], Type::F64);
//! let first = b.push(mem::load(b.param(0), [b.const_i64(1)]).with_attrs(inbounds(&ctx)))?;
//! assert_eq!(b.function().ty(first), Type::F64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::ir::{AttrDef, Attrs, Constant, Context, Type, TypePattern};

/// A promise that the indices are in bounds.
pub(crate) const INBOUNDS: &[AttrDef] =
    &[AttrDef { name: "inbounds", pattern: TypePattern::Is(Type::BOOL), required: false }];

/// The name of a function of `math`.
pub(crate) const FUNCTION: &[AttrDef] =
    &[AttrDef { name: "function", pattern: TypePattern::Is(Type::SYM), required: true }];

/// Returns the attributes that name a function of `math`: `sin` for `math.sin`.
pub fn function(ctx: &Context, name: &str) -> Attrs {
    ctx.attrs(&[(ctx.symbol("function"), ctx.constant_id(Constant::Sym(ctx.symbol(name))))])
}

/// Returns the attributes of an access that is known to be in bounds.
pub fn inbounds(ctx: &Context) -> Attrs {
    ctx.attrs(&[(ctx.symbol("inbounds"), ctx.constant_id(Constant::Bool(true)))])
}
