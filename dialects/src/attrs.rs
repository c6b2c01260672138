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

use crate::ir::{AttrDef, Attrs, Constant, Context, Symbol, Type, TypePattern};

/// A promise that the indices are in bounds.
pub(crate) const INBOUNDS: &[AttrDef] =
    &[AttrDef { name: "inbounds", pattern: TypePattern::Is(Type::BOOL), required: false }];

/// As [`INBOUNDS`], and the number of an alias scope.
pub(crate) const ACCESS: &[AttrDef] =
    &[INBOUNDS[0], AttrDef { name: SCOPE, pattern: TypePattern::Is(Type::I64), required: false }];

const SCOPE: &str = "scope";

/// Returns the attributes of an access, with a number of its alias scope: two accesses in one function with
/// different numbers are to different arrays.
pub fn with_scope(ctx: &Context, attrs: Attrs, scope: i64) -> Attrs {
    let number = (ctx.symbol(SCOPE), ctx.constant_id(scope));
    let others = ctx.attr_entries(without_scope(ctx, attrs));
    let all: Vec<(Symbol, _)> = others.iter().copied().chain([number]).collect();
    ctx.attrs(&all)
}

/// Returns the attributes of an access without the number of its alias scope, which means nothing in another function,
/// and for another array.
pub fn without_scope(ctx: &Context, attrs: Attrs) -> Attrs {
    if scope(ctx, attrs).is_none() {
        return attrs;
    }
    let all = ctx.attr_entries(attrs);
    let others: Vec<_> = all.iter().copied().filter(|&(name, _)| ctx.str(name) != SCOPE).collect();
    ctx.attrs(&others)
}

/// Returns the number of the alias scope of an access.
pub fn scope(ctx: &Context, attrs: Attrs) -> Option<i64> {
    ctx.attr(attrs, SCOPE).and_then(|number| ctx.constant(number).as_int())
}

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
