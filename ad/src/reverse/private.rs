//! Objects that nobody but the function itself looks at, or into.
//!
//! An object is private if the function allocates it, if it does not escape, and if it is never an
//! argument of a call or of an op that goes into the depth of its operands.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Function, Operand, Value};
use regraft_passes::analysis::Aliases;

/// The private objects of a function.
#[derive(Debug)]
pub(super) struct PrivateObjects {
    aliases: Arc<Aliases>,
    /// By [`Value::index`] of the allocation.
    looked_into: Vec<bool>,
}

impl PrivateObjects {
    /// Of `f`, whose aliases are given. O(values + operands).
    pub(super) fn new(f: &Function, aliases: Arc<Aliases>) -> Self {
        let mut looked_into = vec![false; f.value_capacity()];
        for v in f.all_insts() {
            let is_call = matches!(f.op(v), Some(core::CALL | core::APPLY | core::SPLAT));
            if !is_call && !f.op_def(v).is_some_and(|def| def.effects.deep) {
                continue;
            }
            for operand in f.plain_operands(v) {
                if let Some(allocation) = aliases.non_escaping(operand) {
                    looked_into[allocation.index()] = true;
                }
            }
        }
        Self { aliases, looked_into }
    }

    /// Returns whether a value is one of them.
    pub(super) fn contains(&self, object: Operand) -> bool {
        let allocation: Option<Value> = self.aliases.non_escaping(object);
        allocation.is_some_and(|v| !self.looked_into[v.index()])
    }
}
