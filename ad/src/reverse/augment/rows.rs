//! Ops with rows of their own in the forward sweep: their functions write what becomes of shadows.

use regraft_ir::{Block, Diagnostic, Function, Inst, Operand, Type, Value};

use super::super::tape_plan::place_after;
use super::{ActionKind, Augment};
use crate::nesting;
use crate::op_derivative::{OpCx, ShadowCx, ShadowFn};
use crate::tangent::TangentTypes;
use crate::tangent_builder as build;

impl Augment<'_, '_> {
    /// Lets the function of a row write what the op `v` does to shadows.
    pub(super) fn row(
        &mut self,
        block: Block,
        v: Value,
        shadow: ShadowFn,
    ) -> Result<(), Diagnostic> {
        let after = place_after(&self.out.f, v);
        let (kept, has_adjoint, failed) = (Vec::new(), false, None);
        let mut cx = AugmentedOp { sweep: self, v, after, kept, has_adjoint, failed };
        shadow(&mut cx);
        let AugmentedOp { kept, has_adjoint, failed, .. } = cx;
        if let Some(error) = failed.filter(|_| self.driver.errors.is_empty()) {
            return Err(error);
        }
        if has_adjoint {
            self.note(block, v, ActionKind::Op { kept: kept.into() });
        }
        Ok(())
    }
}

/// An op of the forward sweep.
struct AugmentedOp<'s, 'a, 'm> {
    sweep: &'s mut Augment<'a, 'm>,
    v: Value,
    /// The instruction after the op: code is inserted before it.
    after: Value,
    kept: Vec<Operand>,
    has_adjoint: bool,
    failed: Option<Diagnostic>,
}

impl AugmentedOp<'_, '_, '_> {
    /// The operand that was made; after an error, which is noted, another one.
    fn made(&mut self, made: Result<Operand, Diagnostic>) -> Operand {
        made.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            build::nothing(self.ctx())
        })
    }
}

impl OpCx for AugmentedOp<'_, '_, '_> {
    fn source(&self) -> (&Function, Value) {
        (&self.sweep.out.f, self.v)
    }

    fn types(&mut self) -> &mut TangentTypes {
        &mut self.sweep.driver.types
    }

    fn is_varied(&self, index: usize) -> bool {
        self.sweep.activity.is_varied(self.source_operand(index))
    }

    fn has_shadow(&self, index: usize) -> bool {
        self.sweep.activity.has_shadow(self.source_operand(index))
    }

    fn shadow(&mut self, index: usize) -> Option<Operand> {
        let known = self.sweep.known_shadow(self.source_operand(index));
        // After an error, a shadow may be missing.
        let missing = self.has_shadow(index) && !self.sweep.driver.errors.is_empty();
        known.or_else(|| missing.then(|| build::nothing(self.ctx())))
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        let made = self.sweep.before(self.after, inst);
        self.made(made)
    }

    fn type_of(&self, operand: Operand) -> Type {
        self.sweep.out.f.operand_type(operand)
    }

    fn operand(&mut self, index: usize) -> Operand {
        self.source_operand(index)
    }

    fn error(&mut self, message: &str, _: &str) {
        let loc = self.sweep.out.f.loc(self.v);
        self.sweep.driver.report(message, loc);
    }
}

impl ShadowCx for AugmentedOp<'_, '_, '_> {
    fn emit_before(&mut self, inst: Inst) -> Operand {
        let made = self.sweep.before(self.v, inst);
        self.made(made)
    }

    fn result(&self) -> Operand {
        self.v.into()
    }

    fn is_result_varied(&self) -> bool {
        self.sweep.activity.is_varied(self.v)
    }

    fn result_has_shadow(&self) -> bool {
        self.sweep.activity.has_shadow(self.v)
    }

    fn shadow_as(&mut self, index: usize, want: Type) -> Operand {
        let made = self.sweep.shadow_for(self.source_operand(index), want, self.after);
        self.made(made)
    }

    fn coerced(&mut self, shadow: Operand, want: Type, before: bool) -> Operand {
        let at = if before { self.v } else { self.after };
        let made = self.sweep.as_type(shadow, want, at);
        self.made(made)
    }

    fn set_shadow(&mut self, shadow: Operand) {
        self.sweep.out.shadows.insert(self.v, shadow);
    }

    fn is_private(&self, index: usize) -> bool {
        self.sweep.private.contains(self.source_operand(index))
    }

    fn level(&self) -> Operand {
        nesting::level_operand(self.ctx(), self.sweep.driver.level)
    }

    fn reads_alike(&mut self, read: Operand) {
        if let Some(read) = read.as_value() {
            self.sweep.out.shadow_loads.insert(read, self.v);
        }
    }

    fn keep(&mut self, residual: Operand) {
        self.kept.push(residual);
    }

    fn add_adjoint(&mut self) {
        self.has_adjoint = true;
    }
}
