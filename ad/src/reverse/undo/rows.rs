//! Adjoints of ops with rows of their own.

use regraft_ir::{Function, Inst, Operand, Symbol, Type, Value};

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
        (row.adjoint)(&mut UndoneOp { sweep: self, v, kept, is_computed, cotangent });
    }
}

/// An op that the reverse sweep undoes.
struct UndoneOp<'u, 'a, 'm> {
    sweep: &'u mut Backward<'a, 'm>,
    v: Value,
    kept: &'u [Operand],
    /// Tells whether what is kept are the operands, as the op found them, and the cotangent of the result
    /// was taken.
    is_computed: bool,
    cotangent: Option<Operand>,
}

impl OpCx for UndoneOp<'_, '_, '_> {
    fn source(&self) -> (&Function, Value) {
        (&self.sweep.plan.aug.f, self.v)
    }

    fn types(&mut self) -> &mut TangentTypes {
        &mut self.sweep.driver.types
    }

    fn is_varied(&self, index: usize) -> bool {
        self.sweep.plan.activity.is_varied(self.source_operand(index))
    }

    fn has_shadow(&self, index: usize) -> bool {
        self.sweep.plan.activity.has_shadow(self.source_operand(index))
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        self.sweep.emit(inst)
    }

    fn type_of(&self, operand: Operand) -> Type {
        self.sweep.type_of(operand)
    }

    fn operand(&mut self, index: usize) -> Operand {
        let operand = if self.is_computed { self.kept[index] } else { self.source_operand(index) };
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
        let own = self.source_operand(index);
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
        self.sweep.give(self.source_operand(index), cotangent);
    }

    fn give_part(&mut self, index: usize, part: usize, cotangent: Operand) {
        self.sweep.give_part(self.source_operand(index), part, cotangent);
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
