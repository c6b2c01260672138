//! Derivative nesting levels: they tell of which derivative the shadow of an object is that a global
//! name holds.
//!
//! ```text
//! %1: unit = ad.begin 1                           a derivative begins: its shadows are new
//! %2: array<f64, 1> = ad.global_shadow %g, 1      the shadow of %g in that derivative
//! %3: unit = ad.end 1                             it ends
//! ```
//!
//! # Method
//! A derivative of a function that takes derivatives itself is of a higher *nesting level* than
//! those, and its code says so. A derivative that begins is that of its level and of all that are lower; one that begins within it takes the place of the
//! lower levels until it ends. So the inner code finds the inner shadows, and what the outer
//! derivative adds to that code finds the outer ones.
//!
//! # Why it is right
//! The ops are opaque: they stay, in order.
//!
//! # Cost
//! O(size of the module) to find levels.

use regraft_dialects::{ad, core};
use regraft_ir::{Constant, Context, Function, Module, Operand, Symbol, Value};

/// The nesting level of a derivative that is taken of functions of a module.
pub(crate) fn next_level(module: &Module) -> i64 {
    let levels = module.functions().flat_map(|f| f.all_insts().filter_map(move |v| level_of(f, v)));
    levels.max().map_or(1, |level| level + 1)
}

/// The nesting level of the derivatives in a module, if there is anything in it that asks for shadows
/// of globals, or may do so in a call of one of `dynamic`.
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

/// The nesting level that an op is of.
fn level_of(f: &Function, v: Value) -> Option<i64> {
    let at = match f.op(v)? {
        ad::GLOBAL_SHADOW => 1,
        ad::BEGIN | ad::END => 0,
        _ => return None,
    };
    f.const_i64(f.operand(v, at)?)
}

/// A nesting level as an operand.
pub(crate) fn level_operand(ctx: &Context, level: i64) -> Operand {
    ctx.constant_id(Constant::I64(level)).into()
}
