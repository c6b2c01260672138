//! Methods that say something about other methods: rules for derivatives.
//!
//! Calls are inferred without asking for rules as long as there are none. So a new rule is told to
//! whoever inferred them.

use regraft_ir::{Symbol, Type, TypeKind};

use super::entities::{Dispatch, MethodId, SpecId};
use super::method::TableOwner;
use super::tables::World;
use super::types::Ty;

impl World {
    /// Methods of these functions are rules.
    pub(crate) fn watch_rules(&mut self, functions: &[Symbol]) {
        self.rules.functions.extend_from_slice(functions);
    }

    /// Notes a method that was defined.
    pub(super) fn note_rule(&mut self, function: Symbol, method: MethodId) {
        if self.rules.functions.contains(&function) {
            self.rules.new.push(method);
        }
    }

    /// The rules that were defined since this was last asked.
    pub(crate) fn take_new_rules(&mut self) -> Vec<MethodId> {
        std::mem::take(&mut self.rules.new)
    }

    /// Returns whether there is a rule of reverse mode for a call; `by` becomes invalid if that changes.
    pub(crate) fn has_reverse_rule(
        &mut self,
        callee: Type,
        args: &[Type],
        by: Option<SpecId>,
    ) -> bool {
        let Some(&rules) = self.rules.functions.first() else { return false };
        let rules = self.ctx.ty(TypeKind::Fn(rules));
        let call: Vec<Type> = std::iter::once(callee).chain(args.iter().copied()).collect();
        matches!(self.dispatch(rules, &call, by), Dispatch::Method(_))
    }

    /// The type of the function that a rule is for, if there is only one.
    pub(crate) fn rule_callee(&self, rule: MethodId) -> Option<Type> {
        let method = self.method(rule)?;
        // A rule of forward mode takes the tangents first.
        let is_forward = matches!(method.table.owner, TableOwner::Function(function)
            if self.rules.functions.get(1) == Some(&function));
        match method.signature.params.get(if is_forward { 2 } else { 1 }) {
            Some(Ty::Concrete(ty)) if matches!(self.ctx.kind(*ty), TypeKind::Fn(_)) => Some(*ty),
            _ => None,
        }
    }
}
