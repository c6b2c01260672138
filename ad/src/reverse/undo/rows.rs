//! Adjoints of ops with rows of their own.

use std::sync::Arc;

use regraft_ir::{Attrs, Constant, Context, Inst, Op, Operand, Symbol, Type, Value};

use super::super::backward::Backward;
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpCx, OpDerivative};
use crate::tangent::TangentTypes;

impl Backward<'_, '_> {
    /// Lets the function of a row write the adjoint of the op `v`.
    pub(super) fn undo_row(&mut self, v: Value, row: &OpDerivative, kept: &[Operand]) {
        let is_computed = row.flow == Flow::Computed;
        let cotangent = match is_computed {
            false => None,
            true if self.plan.activity.has_shadow(v) => Some(self.shadow(v.into())),
            true => self.take(v),
        };
        if is_computed && cotangent.is_none() && row.changes.is_empty() {
            return;
        }
        let ctx = Arc::clone(&self.ctx);
        (row.adjoint)(&mut UndoneOp { sweep: self, ctx, v, kept, is_computed, cotangent });
    }
}

/// An op that the reverse sweep undoes.
struct UndoneOp<'u, 'a, 'm> {
    sweep: &'u mut Backward<'a, 'm>,
    ctx: Arc<Context>,
    v: Value,
    kept: &'u [Operand],
    /// Tells whether what is kept are the operands, as the op found them, and the cotangent of the result
    /// was taken.
    is_computed: bool,
    cotangent: Option<Operand>,
}

impl UndoneOp<'_, '_, '_> {
    /// The operand itself, where there may be a copy.
    fn at(&self, index: usize) -> Operand {
        self.sweep.operand(self.v, index)
    }
}

impl OpCx for UndoneOp<'_, '_, '_> {
    fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    fn types(&mut self) -> &mut TangentTypes {
        &mut self.sweep.driver.types
    }

    fn op(&self) -> Op {
        self.sweep.plan.aug.f.op(self.v).expect("it is an instruction")
    }

    fn attrs(&self) -> Attrs {
        self.sweep.plan.aug.f.attrs(self.v)
    }

    fn count(&self) -> usize {
        self.sweep.plan.aug.f.operand_count(self.v)
    }

    fn operand_type(&self, index: usize) -> Type {
        self.sweep.primal_type(self.at(index))
    }

    fn result_type(&self) -> Type {
        self.sweep.primal_type(self.v)
    }

    fn constant(&self, index: usize) -> Option<Constant> {
        self.sweep.plan.aug.f.constant(self.at(index))
    }

    fn is_varied(&self, index: usize) -> bool {
        self.sweep.plan.activity.is_varied(self.at(index))
    }

    fn has_shadow(&self, index: usize) -> bool {
        self.sweep.plan.activity.has_shadow(self.at(index))
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        self.sweep.emit(inst)
    }

    fn type_of(&self, operand: Operand) -> Type {
        self.sweep.type_of(operand)
    }

    fn operand(&mut self, index: usize) -> Operand {
        let operand = if self.is_computed { self.kept[index] } else { self.at(index) };
        self.sweep.primal(operand)
    }

    fn error(&mut self, message: &str, _: &str) {
        self.sweep.fail(message);
    }
}

impl AdjointCx for UndoneOp<'_, '_, '_> {
    fn result(&mut self) -> Operand {
        self.sweep.primal(self.v.into())
    }

    fn cotangent(&mut self) -> Option<Operand> {
        if self.is_computed { self.cotangent } else { self.sweep.take(self.v) }
    }

    fn cotangent_parts(&mut self) -> Option<Vec<Option<Operand>>> {
        self.sweep.take_parts(self.v)
    }

    fn shadow(&mut self, index: usize) -> Option<Operand> {
        let own = self.at(index);
        self.sweep.plan.activity.has_shadow(own).then(|| self.sweep.shadow(own))
    }

    fn result_shadow(&mut self) -> Option<Operand> {
        let own = Operand::from(self.v);
        self.sweep.plan.activity.has_shadow(own).then(|| self.sweep.shadow(own))
    }

    fn kept(&mut self, index: usize) -> Option<Operand> {
        let kept = self.kept.get(index).copied()?;
        Some(self.sweep.primal(kept))
    }

    fn give(&mut self, index: usize, cotangent: Operand) {
        self.sweep.give(self.at(index), cotangent);
    }

    fn give_part(&mut self, index: usize, part: usize, cotangent: Operand) {
        self.sweep.give_part(self.at(index), part, cotangent);
    }

    fn fit(&mut self, cotangent: Operand, from: Type, to: Type) -> Operand {
        self.sweep.fit(cotangent, from, to)
    }

    fn add_later(&mut self, cotangent: Operand) {
        self.sweep.add_later(self.v, cotangent);
    }

    fn clear_later(&mut self, old: Option<Operand>) {
        self.sweep.clear_later(self.v, old);
    }

    fn regrow(&mut self, array: Type, element: Type) -> Option<Symbol> {
        let made = self.sweep.driver.regrow(array, element);
        self.sweep.driver.noted(made)
    }
}
