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

use crate::ir::{AttrDef, Attrs, Constant, Context, Function, Interned, Symbol, Type, TypePattern};

/// A promise that the indices are in bounds.
pub(crate) const INBOUNDS: &[AttrDef] = &[promised("inbounds")];

/// As [`INBOUNDS`], and the number of an alias scope.
pub(crate) const ACCESS: &[AttrDef] =
    &[INBOUNDS[0], AttrDef { name: SCOPE, pattern: TypePattern::Is(Type::I64), required: false }];

/// As [`ACCESS`], and the number of a part, from 1.
pub(crate) const PART_ACCESS: &[AttrDef] = &[
    ACCESS[0],
    ACCESS[1],
    AttrDef { name: PART, pattern: TypePattern::Is(Type::I64), required: true },
];

const SCOPE: &str = "scope";

const PART: &str = "part";

/// Returns the attributes of an access to the part of an element at a position from 0, by those of an access to the whole of it.
pub fn with_part(ctx: &Context, attrs: Attrs, position: usize) -> Attrs {
    with_attr(ctx, attrs, PART, Constant::I64(position as i64 + 1))
}

/// Returns the position, from 0, of the part that is accessed.
pub fn part(ctx: &Interned, attrs: Attrs) -> Option<usize> {
    let number = ctx.constant(ctx.attr(attrs, PART)?).as_int()?;
    usize::try_from(number.checked_sub(1)?).ok()
}

/// Returns attributes with another one, behind the others.
fn with_attr(ctx: &Context, attrs: Attrs, name: &str, value: Constant) -> Attrs {
    let new = (ctx.symbol(name), ctx.constant_id(value));
    let others = ctx.attr_entries(attrs).iter().copied().filter(|&(name, _)| name != new.0);
    let all: Vec<(Symbol, _)> = others.chain([new]).collect();
    ctx.attrs(&all)
}

/// Returns the attributes of an access, with a number of its alias scope: two accesses in one function with
/// different numbers are to different arrays.
pub fn with_scope(ctx: &Context, attrs: Attrs, scope: i64) -> Attrs {
    with_attr(ctx, attrs, SCOPE, Constant::I64(scope))
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

/// A promise that each element is set before it is read.
pub(crate) const UNDEF: &[AttrDef] = &[promised("undef")];

/// Returns the attributes of an array each element of which is set before it is read.
pub fn undef(ctx: &Context) -> Attrs {
    promise(ctx, UNDEF[0].name)
}

/// Returns whether each element of an array is set before it is read, by the attributes of what makes it.
pub fn is_undef(ctx: &Context, attrs: Attrs) -> bool {
    is_promised(ctx, attrs, UNDEF[0].name)
}

/// A promise that the name has a value of the declared type.
pub(crate) const DEFINED: &[AttrDef] = &[promised("defined")];

/// Returns the attributes of a read of a global name that surely has a value of the declared type.
pub fn defined(ctx: &Context) -> Attrs {
    promise(ctx, DEFINED[0].name)
}

/// Returns whether a global name that is read has a value of the declared type, by the attributes of what reads it.
pub fn is_defined(ctx: &Context, attrs: Attrs) -> bool {
    is_promised(ctx, attrs, DEFINED[0].name)
}

/// Returns the position, from 0, of the first of the parameters that nobody reads after an error: those behind it are others.
/// The attribute `undef_after_error=N` of the function says so, counted from 1.
pub fn first_undef_after_error(f: &Function) -> Option<usize> {
    let number = f.ctx().attr(f.function_attrs(), "undef_after_error")?;
    usize::try_from(f.ctx().constant(number).as_int()?.checked_sub(1)?).ok()
}

/// The attribute of functions whose floats may be reordered.
const MATH: &str = "math";

/// Lets native code compute a function by the algebra of real numbers, in another order and with inverses: its floats
/// follow that already. The function has the attribute `math=:fast` then.
pub fn set_fast(f: &mut Function) {
    let fast = f.ctx().symbol("fast");
    set_function_attr(f, MATH, Constant::Sym(fast));
}

/// Sets an attribute of a function, behind the others.
pub fn set_function_attr(f: &mut Function, name: &str, value: Constant) {
    let attrs = with_attr(f.ctx(), f.function_attrs(), name, value);
    f.set_function_attrs(attrs);
}

/// Returns whether native code may compute a function by the algebra of real numbers.
pub fn is_fast(f: &Function) -> bool {
    let says = f.ctx().attr(f.function_attrs(), MATH).map(|value| f.ctx().constant(value));
    matches!(says, Some(Constant::Sym(name)) if f.ctx().str(name) == "fast")
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
    promise(ctx, INBOUNDS[0].name)
}

/// Returns the attributes of an access that is in bounds, or has to be checked, with all others that it has.
pub fn with_inbounds(ctx: &Context, attrs: Attrs, is_inbounds: bool) -> Attrs {
    with_attr(ctx, attrs, INBOUNDS[0].name, Constant::Bool(is_inbounds))
}

/// Returns whether an access is known to be in bounds.
pub fn is_inbounds(ctx: &Context, attrs: Attrs) -> bool {
    is_promised(ctx, attrs, INBOUNDS[0].name)
}

/// The declaration of a promise.
const fn promised(name: &'static str) -> AttrDef {
    AttrDef { name, pattern: TypePattern::Is(Type::BOOL), required: false }
}

/// Returns whether attributes make a promise.
fn is_promised(ctx: &Context, attrs: Attrs, name: &str) -> bool {
    ctx.attr(attrs, name).map(|value| ctx.constant(value)) == Some(Constant::Bool(true))
}

/// The attribute that makes a promise.
fn promise(ctx: &Context, name: &str) -> Attrs {
    ctx.attrs(&[(ctx.symbol(name), ctx.constant_id(Constant::Bool(true)))])
}
