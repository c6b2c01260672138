//! The pair that a statement becomes: itself, and the tangents of its result.

use regraft_dialects::arith;
use regraft_ir::{Function, Inst, Op, Operand, Operands, Type, Value};

use super::writer::{Dual, Writer};
use crate::calls::is_call;
use crate::derivative_table::{Derivative, not_implemented, writes_shadowed};
use crate::nesting;
use crate::op_derivative::{OpCx, OpDerivative, TangentCx};
use crate::rules::{Product, ScalarRule};
use crate::tangent::TangentTypes;

/// The instructions that were appended for one statement already.
#[derive(Default)]
struct Shared {
    done: Vec<(Op, Operands, Operand)>,
}

impl Shared {
    /// Appends an instruction, unless the same one was appended already.
    fn emit(&mut self, writer: &mut Writer<'_, '_>, inst: Inst) -> Operand {
        if writer.driver.width == 1 {
            return writer.emit(inst);
        }
        let operands = Operands::from_slice(inst.operand_list());
        let same = self.done.iter().find(|(op, of, _)| *op == inst.op() && *of == operands);
        if let Some(&(_, _, result)) = same {
            return result;
        }
        let op = inst.op();
        let result = writer.emit(inst);
        self.done.push((op, operands, result));
        result
    }
}

/// The statement `v`, for a function that writes its tangent in one direction.
struct Statement<'w, 'a, 'm> {
    writer: &'w mut Writer<'a, 'm>,
    v: Value,
    direction: usize,
    is_after: bool,
}

impl OpCx for Statement<'_, '_, '_> {
    fn source(&self) -> (&Function, Value) {
        (self.writer.from, self.v)
    }

    fn types(&mut self) -> &mut TangentTypes {
        &mut self.writer.driver.all.types
    }

    fn is_varied(&self, index: usize) -> bool {
        self.writer.activity().is_varied(self.source_operand(index))
    }

    fn has_shadow(&self, index: usize) -> bool {
        self.writer.activity().has_shadow(self.source_operand(index))
    }

    fn shadow(&mut self, index: usize) -> Option<Operand> {
        self.has_shadow(index).then(|| self.tangent_or_zero(index))
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        self.writer.emit(inst)
    }

    fn type_of(&self, operand: Operand) -> Type {
        self.writer.to.operand_type(operand)
    }

    fn operand(&mut self, index: usize) -> Operand {
        self.writer.operand(self.source_operand(index))
    }

    fn error(&mut self, message: &str, label: &str) {
        if self.direction == 0 {
            self.writer.error(message.to_owned(), label);
        }
    }
}

impl TangentCx for Statement<'_, '_, '_> {
    fn tangent(&mut self, index: usize) -> Option<Operand> {
        let is_active = self.writer.operand_is_active(self.source_operand(index));
        is_active.then(|| self.tangent_or_zero(index))
    }

    fn tangent_or_zero(&mut self, index: usize) -> Operand {
        let old = self.source_operand(index);
        match old.as_value().and_then(|v| self.writer.tangents[v.index()].as_ref()) {
            Some(dual) => dual[self.direction],
            None => {
                let (primal, ty) = (self.writer.operand(old), self.writer.from.operand_type(old));
                self.writer.zero(primal, ty)
            }
        }
    }

    fn coerced(&mut self, tangent: Operand, want: Type) -> Operand {
        self.writer.coerced(tangent, want)
    }

    fn result(&mut self) -> Option<Operand> {
        self.is_after.then(|| self.writer.operand(self.v.into()))
    }

    fn is_result_active(&self) -> bool {
        self.writer.is_active(self.v)
    }

    fn level(&mut self) -> Operand {
        if self.writer.driver.width > 1 {
            let message = "objects that global names hold have one shadow, \
                           so that there can be only one direction at a time";
            self.error(message, "this one");
        }
        nesting::level_operand(self.ctx(), self.writer.driver.level)
    }
}

impl Writer<'_, '_> {
    /// Makes what the instruction `v` becomes.
    pub(super) fn statement(&mut self, v: Value) {
        let Some(op) = self.from.op(v) else { return };
        if is_call(op) {
            return self.call(v);
        }
        let derivative = self.driver.all.table.get(op);
        if let Derivative::Written(written) = derivative
            && !written.changes(self.from, v).is_empty()
        {
            self.written(v, written, false);
            return self.copy(v);
        }
        self.copy(v);
        match derivative {
            Derivative::Scalar(rule) if self.is_active(v) => self.scalar(v, rule),
            Derivative::Scalar(_) => {}
            Derivative::Written(written) => self.written(v, written, true),
            Derivative::Control | Derivative::None => self.no_tangent(v),
            Derivative::NotImplemented(why) => self.not_implemented(v, why),
        }
    }

    /// Lets a function of the op's own write its tangent.
    fn written(&mut self, v: Value, written: &OpDerivative, is_after: bool) {
        if !self.is_active(v) && !self.from.operands(v).any(|o| self.operand_is_active(o)) {
            return;
        }
        let ty = self.from.ty(v);
        let mut dual = Dual::new();
        for direction in 0..self.driver.width {
            let mut cx = Statement { writer: self, v, direction, is_after };
            let tangent = (written.tangent)(&mut cx);
            if self.is_active(v) {
                let tangent = match tangent {
                    Some(tangent) => tangent,
                    None if is_after => {
                        let result = self.operand(v.into());
                        self.zero(result, ty)
                    }
                    None => {
                        let want = self.tangent_type(ty);
                        self.zeros(want)
                    }
                };
                dual.push(tangent);
            }
        }
        if self.is_active(v) {
            self.define_tangent(v, dual);
        }
    }

    /// Gives a zero tangent to a value that is active because of what it may share.
    fn no_tangent(&mut self, v: Value) {
        if self.is_active(v) {
            let primal = self.operand(v.into());
            let ty = self.from.ty(v);
            let dual = (0..self.driver.width).map(|_| self.zero(primal, ty)).collect();
            self.define_tangent(v, dual);
        }
    }

    fn not_implemented(&mut self, v: Value, why: &str) {
        if self.from.operands(v).any(|operand| self.operand_is_active(operand))
            && (self.driver.all.types.has_tangent(self.from.ty(v))
                || writes_shadowed(self.from, v, &mut self.driver.all.types))
            && let Some(def) = self.from.op_def(v)
        {
            self.error(not_implemented(def, why), "here");
        }
        self.no_tangent(v);
    }

    /// An op on floats: the sum over its operands of tangent times partial derivative.
    fn scalar(&mut self, v: Value, rule: &ScalarRule) {
        let (ctx, ty) = (self.ctx(), self.from.ty(v));
        let old: Vec<Operand> = self.from.operands(v).collect();
        if !ty.is_float() {
            let name = self.from.op_def(v).map_or("?", |def| def.mnemonic());
            let message =
                format!("the derivative of `{name}` depends on a type that is not known here");
            self.error(message, "its operands are of type any");
            return self.no_tangent(v);
        }
        let operands: Vec<Operand> = old.iter().map(|&old| self.operand(old)).collect();
        let result = self.operand(v.into());
        let active: Vec<usize> =
            (0..old.len()).filter(|&i| self.operand_is_active(old[i])).collect();
        let mut dual = Dual::new();
        // Partial derivatives are the same in all directions.
        let mut shared = Shared::default();
        for k in 0..self.driver.width {
            let mut sum: Option<Operand> = None;
            for &i in &active {
                let Some(partial) = rule.partial(i) else { continue };
                if let Err(why) = partial.expr() {
                    return self.not_implemented(v, why);
                }
                let seed = self.tangent_of(old[i])[k];
                let at = Product { seed, operands: &operands, result, ty, strong_zero: false };
                let product = partial.product(&ctx, &at, &mut |inst| shared.emit(self, inst));
                sum = match (sum, product) {
                    (Some(sum), Some(product)) => Some(self.emit(arith::add(sum, product))),
                    (sum, product) => sum.or(product),
                };
            }
            let sum = sum.unwrap_or_else(|| self.zeros(ty));
            dual.push(sum);
        }
        self.define_tangent(v, dual);
    }
}
