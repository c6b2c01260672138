//! The adjoint of each action of the forward sweep.
//!
//! A scalar op gives each of its operands the cotangent of its result times a partial derivative
//! (see [`rules`](crate::rules)). Other ops have functions that write their adjoints
//! ([`OpDerivative`](crate::OpDerivative)).

mod calls;
mod rows;

use std::sync::Arc;

use regraft_ir::{Effects, Operand, Type, Value};

use super::augment::{Action, ActionKind};
use super::backward::Backward;
use crate::derivative_table::{Derivative, DerivativeTable, not_implemented};
use crate::rules::{Product, ScalarRule};

impl Backward<'_, '_> {
    /// Appends what reverses an action. Increments of shadows by cotangents of what was read wait
    /// until something else is done to memory: see [`Backward::flush_pending`].
    pub(super) fn emit_adjoint(&mut self, action: &Action) {
        let v = action.v;
        match &action.kind {
            ActionKind::Op { kept } => return self.emit_op_adjoint(v, kept),
            _ => self.flush_pending(),
        }
        match &action.kind {
            ActionKind::Op { .. } => {}
            ActionKind::Call { pair, tape, args } => {
                let tape = self.primal(*tape);
                self.emit_call_adjoint(v, pair, tape, args);
            }
            ActionKind::Recompute(call) => self.emit_recomputed_adjoint(v, call),
            ActionKind::Checkpointed(steps) => self.emit_checkpointed_adjoint(v, steps),
            ActionKind::Rule { pullback, args, closure } => {
                self.emit_rule_adjoint(v, *pullback, args, *closure);
            }
            ActionKind::Dynamic { pullback, args } => self.emit_dynamic_adjoint(v, *pullback, args),
        }
    }

    fn emit_op_adjoint(&mut self, v: Value, kept: &[Operand]) {
        let f = &self.input.aug.f;
        let Some(def) = f.op_def(v) else { return };
        let derivative = f.ctx().extensions().get::<DerivativeTable>().get(def.op);
        let is_deferred = matches!(derivative, Derivative::Written(row) if row.is_deferred);
        if !kept.is_empty() || !is_deferred && def.effects != Effects::NONE {
            self.flush_pending();
        }
        if let Derivative::Written(row) = derivative {
            return self.emit_row_adjoint(v, row, kept);
        }
        let Some(adjoint) = self.consume(v) else { return };
        match derivative {
            Derivative::Scalar(rule) => self.emit_scalar_adjoint(v, rule, adjoint),
            Derivative::NotImplemented(why) => self.not_implemented(v, why),
            _ => self.fail(&format!("`{}` has no derivative", def.name)),
        }
    }

    pub(super) fn operand(&self, v: Value, index: usize) -> Operand {
        self.input.aug.f.operand(v, index).expect("the verifier has counted the operands")
    }

    pub(super) fn primal_type(&self, operand: impl Into<Operand>) -> Type {
        self.input.aug.f.operand_type(operand.into())
    }

    fn not_implemented(&mut self, v: Value, why: &str) {
        if let Some(def) = self.input.aug.f.op_def(v) {
            self.fail(&not_implemented(def, why));
        }
    }

    fn emit_scalar_adjoint(&mut self, v: Value, rule: &ScalarRule, adjoint: Operand) {
        let operands: Vec<Operand> = self.input.aug.f.plain_operands(v).collect();
        let strong = self.input.discardable.get(v.index()).copied().unwrap_or(false);
        let mut needed = vec![false; operands.len()];
        let mut needs_result = false;
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(partial) = rule.partial(i)
                && self.input.activity.is_varied(operand)
            {
                let needs = partial.needs();
                for (j, needed) in needed.iter_mut().enumerate() {
                    *needed |= needs.operand(j);
                }
                needs_result |= needs.result;
            }
        }
        let mut here = Vec::with_capacity(operands.len());
        for (&operand, needed) in operands.iter().zip(needed) {
            here.push(if needed { self.primal(operand) } else { operand });
        }
        let result = if needs_result { self.primal(v.into()) } else { v.into() };
        let ty = self.primal_type(v);
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(partial) = rule.partial(i)
                && self.input.activity.is_varied(operand)
            {
                if let Err(why) = partial.expr() {
                    return self.not_implemented(v, why);
                }
                let ctx = Arc::clone(&self.ctx);
                let at =
                    Product { seed: adjoint, operands: &here, result, ty, strong_zero: strong };
                let product = partial.product(&ctx, &at, &mut |inst| self.emit(inst));
                if let Some(product) = product {
                    // Of operands of which one is known as any, the product is.
                    let from = if self.type_of(product) == Type::ANY { Type::ANY } else { ty };
                    self.accumulate_coerced(operand, product, from);
                }
            }
        }
    }
}
