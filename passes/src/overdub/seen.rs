//! The calls in lowered code, as far as the code itself tells.

use regraft_dialects::core;
use regraft_ir::{Function, Type, Value};

use super::Seen;

/// The ops that read and write elements of arrays.
const ACCESSES: [&str; 2] = ["mem.load", "mem.store"];

/// Returns the way in which an instruction of lowered code is seen: calls of functions and values are calls, and so
/// are ops that compute with numbers or access arrays, which are called by their names. Other ops, and functions by internal names (`#tested`), are
/// none.
pub fn seen(f: &Function, v: Value) -> Seen {
    match f.op(v) {
        Some(core::APPLY | core::SPLAT) if f.ty(v) == Type::ANY => Seen::Call,
        Some(core::CALL) if f.ty(v) == Type::ANY => {
            let Some(name) = f.operand(v, 0).and_then(|callee| f.const_func(callee)) else {
                return Seen::Not;
            };
            let text = f.ctx().str(name);
            match f.ctx().registry().find(text) {
                Some(op) if op.dialect_name() == "arith" || ACCESSES.contains(&op.name) => {
                    Seen::Op(name)
                }
                Some(_) => Seen::Not,
                None if text.starts_with('#') => Seen::Not,
                None => Seen::Call,
            }
        }
        _ => Seen::Not,
    }
}
