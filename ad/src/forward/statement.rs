//! The pair that a statement becomes: itself, and the tangents of its result.

use regraft_dialects::{ad, arith, core, data};
use std::sync::Arc;

use regraft_ir::{Context, Inst, Op, Operand, Operands, Type, TypeKind, Value};
use smallvec::smallvec;

use super::writer::{Dual, Writer};
use crate::calls::is_call;
use crate::derivative_table::Derivative;
use crate::op_derivative::{OpDerivative, TangentCx};
use crate::rules::{Product, ScalarRule};
use crate::scopes;

/// What was computed for one statement already.
#[derive(Default)]
struct Shared {
    done: Vec<(Op, Operands, Operand)>,
}

impl Shared {
    /// Appends an instruction, unless the same one was appended already.
    fn emit(&mut self, writer: &mut Writer<'_, '_>, inst: Inst) -> Operand {
        if writer.maker.width == 1 {
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
    ctx: Arc<Context>,
    v: Value,
    direction: usize,
    is_after: bool,
}

impl Statement<'_, '_, '_> {
    fn old(&self, index: usize) -> Operand {
        self.writer.from.operand(self.v, index).expect("the op has so many operands")
    }
}

impl TangentCx for Statement<'_, '_, '_> {
    fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    fn emit(&mut self, inst: Inst) -> Operand {
        self.writer.emit(inst)
    }

    fn operand(&mut self, index: usize) -> Operand {
        self.writer.operand(self.old(index))
    }

    fn tangent(&mut self, index: usize) -> Option<Operand> {
        let old = self.old(index);
        let is_active = self.writer.operand_is_active(old);
        is_active.then(|| self.writer.tangent_of(old)[self.direction])
    }

    fn result(&mut self) -> Option<Operand> {
        self.is_after.then(|| self.writer.operand(self.v.into()))
    }
}

impl Writer<'_, '_> {
    /// Makes what the instruction `v` becomes.
    pub(super) fn statement(&mut self, v: Value) {
        let Some(op) = self.from.op(v) else { return };
        if is_call(op) {
            return self.call(v);
        }
        let derivative = self.maker.all.table.get(op);
        if let Derivative::Written(written) = derivative
            && !written.changes.is_empty()
        {
            self.written(v, written, false);
            return self.copy(v);
        }
        self.copy(v);
        match derivative {
            Derivative::Scalar(rule) if self.is_active(v) => self.scalar(v, rule),
            Derivative::Scalar(_) => {}
            Derivative::Written(written) => self.written(v, written, true),
            Derivative::Structural => self.structural(v, op),
            Derivative::None => self.no_tangent(v),
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
        for direction in 0..self.maker.width {
            let ctx = self.ctx();
            let mut cx = Statement { writer: self, ctx, v, direction, is_after };
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

    /// What is active because of what it may share, but has no derivative of its own.
    fn no_tangent(&mut self, v: Value) {
        if self.is_active(v) {
            let primal = self.operand(v.into());
            let ty = self.from.ty(v);
            let dual = (0..self.maker.width).map(|_| self.zero(primal, ty)).collect();
            self.define_tangent(v, dual);
        }
    }

    fn not_implemented(&mut self, v: Value, why: &str) {
        if self.from.operands(v).any(|operand| self.operand_is_active(operand))
            && self.maker.all.types.has_tangent(self.from.ty(v))
        {
            let name = self.from.op_def(v).map_or("?", |def| def.mnemonic());
            self.error(format!("`{name}` has no derivative: {why}"), "here");
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
        for k in 0..self.maker.width {
            let mut sum: Option<Operand> = None;
            for &i in &active {
                let Some(partial) = rule.partial(i) else { continue };
                if let Err(why) = partial.expr() {
                    return self.not_implemented(v, why);
                }
                let seed = self.tangent_of(old[i])[k];
                if let Some(sum) = &mut sum
                    && partial.is_minus_one()
                {
                    *sum = self.emit(arith::sub(*sum, seed));
                    continue;
                }
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

    /// What moves values and objects around.
    fn structural(&mut self, v: Value, op: Op) {
        if self.object_statement(v, op) || !self.is_active(v) {
            return;
        }
        let ty = self.from.ty(v);
        let want = self.tangent_type(ty);
        let old: Vec<Operand> = self.from.operands(v).collect();
        if op == core::UNDEF {
            let dual = (0..self.maker.width).map(|_| self.undefined(want)).collect();
            return self.define_tangent(v, dual);
        }
        if op == core::GLOBAL || op == ad::GLOBAL_SHADOW {
            let dual = self.of_global(v, want);
            return self.define_tangent(v, dual);
        }
        if op == ad::ZERO {
            return self.no_tangent(v);
        }
        let duals: Vec<Dual> = old.iter().map(|&old| self.tangent_of(old)).collect();
        let mut dual: Dual = smallvec![];
        for k in 0..self.maker.width {
            let parts: Vec<Operand> = duals.iter().map(|dual| dual[k]).collect();
            let tangent = match op {
                arith::FLOAT_CAST => self.emit(arith::float_cast(parts[0], ty)),
                core::TUPLE => self.emit(core::tuple(parts)),
                core::GET => {
                    let position = self.from.const_i64(old[1]).unwrap_or(1);
                    self.part(parts[0], usize::try_from(position).unwrap_or(1))
                }
                core::SELECT => {
                    let x = self.fitted(parts[1], want);
                    let y = self.fitted(parts[2], want);
                    let condition = self.operand(old[0]);
                    self.emit(core::select(condition, x, y))
                }
                core::CONVERT if ty.is_float() && self.from.operand_type(old[0]).is_float() => {
                    self.emit(core::convert(parts[0], ty))
                }
                core::CONVERT | core::TYPEASSERT => parts[0],
                data::NAMED | data::NEW => self.fields(&parts, ty, want),
                ad::SHADOW
                | ad::COTANGENT
                | ad::JOIN
                | ad::ADD
                | ad::UNBOX
                | ad::COPY
                | ad::TOTAL => self.emit(Inst::new(op).operands(parts).with_type(want)),
                _ => {
                    self.error(format!("no derivative of {op:?} is known"), "here");
                    self.zeros(Type::UNIT)
                }
            };
            dual.push(tangent);
        }
        self.define_tangent(v, dual);
    }

    /// The named tuple that is the tangent of a named tuple or immutable struct of type `ty`.
    fn fields(&mut self, parts: &[Operand], ty: Type, want: Type) -> Operand {
        let ctx = self.ctx();
        let named = match (ctx.kind(want), ctx.struct_of(ty)) {
            (TypeKind::Named(_), _) | (_, None) => want,
            // A struct that contains itself is known as `any`, but is this.
            (_, Some(def)) => {
                let fields: Vec<_> = def
                    .fields
                    .iter()
                    .map(|&(name, field)| (name, self.tangent_type(field)))
                    .collect();
                ctx.named_type(&fields)
            }
        };
        self.named(parts, named)
    }

    /// A named tuple of this type.
    pub(super) fn named(&mut self, parts: &[Operand], named: Type) -> Operand {
        let ctx = self.ctx();
        let fields: Vec<Type> = match ctx.kind(named) {
            TypeKind::Named(fields) => fields.iter().map(|&(_, ty)| ty).collect(),
            _ => Vec::new(),
        };
        let parts: Vec<Operand> = parts
            .iter()
            .zip(fields)
            .map(|(&part, want)| {
                let have = self.to.operand_type(part);
                if have.is_assignable_to(want) { part } else { self.fitted(part, want) }
            })
            .collect();
        self.emit(data::named(parts, named))
    }

    /// The tangent of what nobody looks at.
    fn undefined(&mut self, tangent: Type) -> Operand {
        if tangent.is_float() {
            return self.zeros(tangent);
        }
        self.emit(core::undef(tangent))
    }

    /// The tangents of what a global name holds: its objects have the same shadows as long as the
    /// program runs, its floats are constant.
    fn of_global(&mut self, v: Value, want: Type) -> Dual {
        let ty = self.from.ty(v);
        let x = self.operand(v.into());
        let types = self.maker.all.types.of(ty);
        if self.maker.width > 1 {
            let message = "objects that global names hold have one shadow, \
                           so that there can be only one direction at a time";
            self.error(message.to_owned(), "this one");
        }
        let level = scopes::level_operand(&self.ctx(), self.maker.level);
        let shadow = self.emit(ad::global_shadow(x, level, types.shadow));
        let tangent = match self.maker.all.types.has_content(types.cotangent) {
            false => shadow,
            true => {
                let nothing = self.constant(regraft_ir::Constant::Unit);
                self.emit(ad::join(shadow, nothing, want))
            }
        };
        (0..self.maker.width).map(|_| tangent).collect()
    }
}
