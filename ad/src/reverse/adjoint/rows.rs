//! Adjoints of ops with rows of their own.

use regraft_ir::{Function, Inst, Operand, Symbol, Type, Value};

use super::super::backward::Backward;
use crate::flow::Flow;
use crate::op_derivative::{AdjointCx, OpCx, OpDerivative};
use crate::tangent::TangentTypes;

impl Backward<'_, '_> {
    /// Lets the function of a row write the adjoint of the op `v`.
    pub(super) fn emit_row_adjoint(&mut self, v: Value, row: &OpDerivative, kept: &[Operand]) {
        let is_computed = row.flow == Flow::Computed;
        let cotangent = match is_computed {
            false => None,
            true if self.input.activity.has_shadow(v) => Some(self.shadow(v.into())),
            true => self.consume(v),
        };
        let changes = row.changes(&self.input.aug.f, v);
        if is_computed && cotangent.is_none() && changes.is_empty() {
            return;
        }
        (row.adjoint)(&mut AdjointOp { sweep: self, v, kept, is_computed, cotangent });
    }
}

/// An op that the reverse sweep reverses.
struct AdjointOp<'u, 'a, 'm> {
    sweep: &'u mut Backward<'a, 'm>,
    v: Value,
    kept: &'u [Operand],
    /// Tells whether what is kept are the operands, as the op found them, and the cotangent of the result
    /// was taken.
    is_computed: bool,
    cotangent: Option<Operand>,
}

impl OpCx for AdjointOp<'_, '_, '_> {
    fn source(&self) -> (&Function, Value) {
        (&self.sweep.input.aug.f, self.v)
    }

    fn types(&mut self) -> &mut TangentTypes {
        &mut self.sweep.driver.types
    }

    fn is_varied(&self, index: usize) -> bool {
        self.sweep.input.activity.is_varied(self.source_operand(index))
    }

    fn has_shadow(&self, index: usize) -> bool {
        self.sweep.input.activity.has_shadow(self.source_operand(index))
    }

    fn shadow(&mut self, index: usize) -> Option<Operand> {
        let own = self.source_operand(index);
        self.sweep.input.activity.has_shadow(own).then(|| self.sweep.shadow(own))
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

impl AdjointCx for AdjointOp<'_, '_, '_> {
    fn result(&mut self) -> Operand {
        self.sweep.primal(self.v.into())
    }

    fn cotangent(&mut self) -> Option<Operand> {
        if self.is_computed { self.cotangent } else { self.sweep.consume(self.v) }
    }

    fn cotangent_parts(&mut self) -> Option<Vec<Option<Operand>>> {
        self.sweep.consume_parts(self.v)
    }

    fn result_shadow(&mut self) -> Option<Operand> {
        let own = Operand::from(self.v);
        self.sweep.input.activity.has_shadow(own).then(|| self.sweep.shadow(own))
    }

    fn kept(&mut self, index: usize) -> Option<Operand> {
        let kept = self.kept.get(index).copied()?;
        Some(self.sweep.primal(kept))
    }

    fn accumulate(&mut self, index: usize, cotangent: Operand) {
        self.sweep.accumulate(self.source_operand(index), cotangent);
    }

    fn accumulate_part(&mut self, index: usize, part: usize, cotangent: Operand) {
        self.sweep.accumulate_part(self.source_operand(index), part, cotangent);
    }

    fn coerce(&mut self, cotangent: Operand, from: Type, to: Type) -> Operand {
        self.sweep.coerce(cotangent, from, to)
    }

    fn add_later(&mut self, cotangent: Operand) {
        self.sweep.add_later(self.v, cotangent);
    }

    fn clear_later(&mut self, old: Option<Operand>) {
        self.sweep.clear_later(self.v, old);
    }

    fn resize_shadow_with(&mut self, array: Type, element: Type) -> Option<Symbol> {
        let made = self.sweep.driver.resize_shadow_with(array, element);
        self.sweep.driver.noted(made)
    }
}
