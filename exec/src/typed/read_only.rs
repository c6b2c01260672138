//! Finds the parameters whose objects a function, and all that it calls, only reads.
//!
//! # Method
//! The values that may be the object of a parameter, or hold it, are followed from the parameter on: along
//! edges, into the functions of the module that are called with it, and to results that may be or hold an
//! object. A parameter is read only if no such value is written to, put into another object, or given to
//! what nothing is known of.
//!
//! # Cost
//! O(uses of such values), for each parameter.

use regraft_dialects::{ad, core, mem};
use regraft_ir::{Context, FuncId, Function, Module, Type, TypeKind, Use, Value};
use rustc_hash::FxHashSet;

/// Returns whether a function only reads the object that it is given for a parameter.
pub(super) fn is_read_only(module: &Module, function: FuncId, param: usize) -> bool {
    let mut walk = Walk { module, seen: FxHashSet::default(), pending: Vec::new() };
    walk.add_param(function, param);
    while let Some((function, value)) = walk.pending.pop() {
        let Some(f) = module.get(function) else { return false };
        for at in f.uses(value) {
            if !walk.is_read(function, f, value, at) {
                return false;
            }
        }
    }
    true
}

struct Walk<'a> {
    module: &'a Module,
    seen: FxHashSet<(FuncId, Value)>,
    pending: Vec<(FuncId, Value)>,
}

impl Walk<'_> {
    fn add(&mut self, function: FuncId, value: Value) {
        if self.seen.insert((function, value)) {
            self.pending.push((function, value));
        }
    }

    fn add_param(&mut self, function: FuncId, param: usize) -> bool {
        let entry = self.module.get(function).and_then(|f| f.param(f.entry()?, param));
        entry.map(|value| self.add(function, value)).is_some()
    }

    /// Returns whether a use of a value only reads it; adds the values that it goes on in.
    fn is_read(&mut self, function: FuncId, f: &Function, value: Value, at: Use) -> bool {
        if at.user.is_terminator() {
            // What is returned goes on in the caller.
            if let Some(param) = f.parameter_passed(at) {
                self.add(function, param);
            }
            return true;
        }
        let Some(def) = f.op_def(at.user) else { return false };
        let index = at.index as usize;
        if def.op == core::CALL {
            let callee = f.operand(at.user, 0).and_then(|callee| f.const_func(callee));
            let callee = callee.and_then(|name| self.module.find(name));
            let passed =
                callee.is_some_and(|callee| index > 0 && self.add_param(callee, index - 1));
            if !passed {
                return false;
            }
        } else {
            let effects = def.effects;
            let writes = |i| effects.writes.contains(i) || effects.writes_shape.contains(i);
            let may_hold = |i| {
                f.operand(at.user, i)
                    .is_some_and(|into| !holds_scalars(f.ctx(), f.operand_type(into)))
            };
            let keeps = (0..f.operand_count(at.user)).any(|i| writes(i) && may_hold(i));
            if effects.opaque || writes(index) || keeps {
                return false;
            }
            // New objects, which hold numbers.
            let is_copied = matches!(def.op, mem::COPY | ad::ZERO | ad::COPY)
                && is_copied_whole(f.ctx(), f.ty(value));
            if is_copied {
                return true;
            }
        }
        if !f.ty(at.user).is_scalar() && f.ty(at.user) != Type::UNIT {
            self.add(function, at.user);
        }
        true
    }
}

/// Returns whether a type is one of arrays of scalars.
fn holds_scalars(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.kind(ty), TypeKind::Array { element, .. } if element.is_scalar())
}

/// Returns whether a copy of a value of that type has nothing in common with it.
fn is_copied_whole(ctx: &Context, ty: Type) -> bool {
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.iter().all(|&part| is_copied_whole(ctx, part)),
        _ => ty.is_scalar() || ty == Type::UNIT || holds_scalars(ctx, ty),
    }
}
