//! Which derivative the shadow of an object that a global name holds is of.
//!
//! ```text
//! %1: unit = ad.global_shadow true             a derivative begins: its shadows are new
//! %2: array<f64, 1> = ad.global_shadow %g      the shadow of %g in that derivative
//! %3: unit = ad.global_shadow false            it ends
//! %4: unit = ad.global_shadow 2                what the next one says is said of level 2
//! ```
//!
//! # Method
//! A derivative of a function that takes derivatives itself is of a higher *level* than those, and
//! its code says so, before each of these ops, unless the level is 1. A derivative that begins is
//! that of its level and of all that are lower; one that begins within it takes the place of the
//! lower levels until it ends. So the inner code finds the inner shadows, and what the outer
//! derivative adds to that code finds the outer ones.
//!
//! # Why it is right
//! The ops are opaque: they stay, in order. What is added to code by a derivative of it stands
//! after a shadow that it finds, never between the level and that.
//!
//! # Cost
//! O(size of the module) to find levels.

use regraft_dialects::{ad, core};
use regraft_ir::{Constant, Context, Function, Inst, Module, Symbol, Type, Value};

/// The level of a derivative that is taken of functions of a module.
pub(crate) fn next_level(module: &Module) -> i64 {
    let levels = module.functions().flat_map(|f| f.all_insts().filter_map(move |v| level_of(f, v)));
    levels.max().map_or(1, |level| level + 1)
}

/// The level of the derivatives in a module, if there is anything in it that asks for shadows of
/// globals, or may do so in a call of one of `dynamic`.
pub fn scope_level(module: &Module, dynamic: &[Symbol]) -> Option<i64> {
    let mut found = None;
    for f in module.functions() {
        for v in f.all_insts() {
            let is_call = matches!(f.op(v), Some(core::CALL | core::APPLY | core::SPLAT));
            let callee = f.operand(v, 0).and_then(|callee| f.const_func(callee));
            let is_dynamic = is_call && callee.is_some_and(|callee| dynamic.contains(&callee));
            found = found.max(if is_dynamic { Some(1) } else { level_of(f, v) });
        }
    }
    found
}

/// The level that an op is of, or that it tells.
fn level_of(f: &Function, v: Value) -> Option<i64> {
    (f.op(v) == Some(ad::GLOBAL_SHADOW)).then(|| match f.operand(v, 0).map(|x| f.constant(x)) {
        Some(Some(Constant::I64(level))) => level,
        _ => 1,
    })
}

/// What has to stand before an op of some level.
pub fn level(ctx: &Context, level: i64) -> Option<Inst> {
    (level > 1).then(|| ad::global_shadow(ctx.constant_id(Constant::I64(level)), Type::UNIT))
}

/// The op that begins a derivative, or ends it.
pub fn scope(ctx: &Context, begins: bool) -> Inst {
    ad::global_shadow(ctx.constant_id(Constant::Bool(begins)), Type::UNIT)
}
