//! Adjoints that functions of an op's own write.

use std::sync::Arc;

use regraft_ir::{Context, Inst, Operand, Value};

use super::super::backward::Backward;
use crate::op_derivative::{AdjointCx, OpDerivative};

impl Backward<'_, '_> {
    /// Lets the functions of an op write its adjoint; `operands` are what it was given, as it found
    /// them.
    pub(super) fn undo_written(
        &mut self,
        v: Value,
        derivative: &OpDerivative,
        operands: &[Operand],
    ) {
        let cotangent = match self.plan.activity.has_shadow(v) {
            true => Some(self.shadow(v.into())),
            false => self.take(v),
        };
        if cotangent.is_none() && derivative.changes.is_empty() {
            return;
        }
        let ctx = Arc::clone(&self.ctx);
        (derivative.adjoint)(&mut Undone { sweep: self, ctx, v, operands, cotangent });
    }
}

/// An op, for the function that writes its adjoint.
struct Undone<'u, 'a, 'm> {
    sweep: &'u mut Backward<'a, 'm>,
    ctx: Arc<Context>,
    v: Value,
    operands: &'u [Operand],
    cotangent: Option<Operand>,
}

impl Undone<'_, '_, '_> {
    /// The operand itself, where `operands` has a copy.
    fn own(&self, index: usize) -> Operand {
        self.sweep.operand(self.v, index)
    }
}

impl AdjointCx for Undone<'_, '_, '_> {
    fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        self.sweep.emit(inst)
    }

    fn operand(&mut self, index: usize) -> Operand {
        self.sweep.primal(self.operands[index])
    }

    fn result(&mut self) -> Operand {
        self.sweep.primal(self.v.into())
    }

    fn cotangent(&mut self) -> Option<Operand> {
        self.cotangent
    }

    fn shadow(&mut self, index: usize) -> Option<Operand> {
        let own = self.own(index);
        self.sweep.plan.activity.has_shadow(own).then(|| self.sweep.shadow(own))
    }

    fn is_active(&self, index: usize) -> bool {
        self.sweep.plan.activity.is_varied(self.own(index))
    }

    fn give(&mut self, index: usize, cotangent: Operand) {
        if self.is_active(index) {
            self.sweep.give(self.own(index), cotangent);
        }
    }
}
