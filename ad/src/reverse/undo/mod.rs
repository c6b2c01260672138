//! What undoes an action: the adjoint of each op.
//!
//! A scalar op gives each of its operands the cotangent of its result times a partial derivative
//! (see `rules`). A load adds to the shadow of what was loaded; a store takes from the shadow of what
//! was stored and leaves zero, since what had been there before was overwritten. What is needed for
//! that are the shadow and the indices, and nothing has to be kept that is known otherwise.

mod calls;
mod fields;
mod memory;
mod replaced;
mod written;

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data, mem};
use regraft_ir::{Constant, Effects, Operand, Type, Value};

use super::augment::{Action, ActionKind};
use super::backward::Backward;
use crate::derivative_table::{Derivative, DerivativeTable};
use crate::rules::{Product, ScalarRule};
use crate::tangent_builder::{self as build, Cell, element_type};

impl Backward<'_, '_> {
    /// Appends what undoes an action. Increments of shadows by cotangents of what was read wait
    /// until something else is done to memory: see [`Backward::settle`].
    pub(super) fn undo(&mut self, action: &Action) {
        let v = action.v;
        let def = self.plan.aug.f.op_def(v);
        let waits = matches!(action.kind, ActionKind::Op)
            && def.is_some_and(|def| {
                matches!(def.op, mem::LOAD | mem::REF_GET) || def.effects == Effects::NONE
            });
        if !waits {
            self.settle();
        }
        match &action.kind {
            ActionKind::Op => self.undo_op(v),
            ActionKind::Replace { kept } => {
                self.undo_op(v);
                self.put_back(v, *kept);
            }
            ActionKind::Written { derivative, operands } => {
                self.undo_written(v, derivative, operands);
            }
            ActionKind::Resize { length, kept } => self.undo_resize(v, *length, *kept),
            ActionKind::Call { pair, tape, args } => {
                let tape = self.primal(*tape);
                self.undo_call(v, pair, tape, args);
            }
            ActionKind::Again(call) => self.undo_again(v, call),
            ActionKind::Repeat(steps) => self.undo_repeat(v, steps),
            ActionKind::Rule { pullback, args, closure } => {
                self.undo_rule(v, *pullback, args, *closure);
            }
            ActionKind::Dynamic { pullback, args } => self.undo_dynamic(v, *pullback, args),
        }
    }

    fn operand(&self, v: Value, index: usize) -> Operand {
        self.plan.aug.f.operand(v, index).expect("the verifier has counted the operands")
    }

    fn primal_type(&self, operand: impl Into<Operand>) -> Type {
        self.plan.aug.f.operand_type(operand.into())
    }

    fn undo_op(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let Some(op) = f.op(v) else { return };
        match op {
            mem::LOAD | mem::REF_GET => self.undo_read(v),
            mem::STORE | mem::REF_SET => self.undo_write(v),
            mem::PUSH => self.undo_push(v),
            mem::POP => self.undo_pop(v),
            mem::FILL_IN_PLACE => {
                let (array, value) = (self.operand(v, 0), self.operand(v, 1));
                let element = element_type(&self.ctx, self.primal_type(array));
                let shadow = self.shadow(array);
                self.give_total(value, shadow, element);
                let cell = Cell::of(&mut self.driver.types, element);
                match cell {
                    Cell::Float | Cell::Value => {
                        let ty = self.driver.types.tangent(element);
                        let zero = self.zero(ty);
                        self.emit(mem::fill_in_place(shadow, zero));
                    }
                    Cell::Mixed => {
                        let count = self.emit(mem::length(shadow));
                        let nothing = self.constant(Constant::Unit);
                        self.emit(ad::uncopy(shadow, nothing, count));
                    }
                    Cell::Shadow | Cell::None => {}
                }
            }
            mem::FILL => {
                let value = self.operand(v, 0);
                let element = element_type(&self.ctx, self.primal_type(v));
                let shadow = self.shadow(v.into());
                self.give_total(value, shadow, element);
            }
            mem::ARRAY | mem::REF_NEW => {
                let element = element_type(&self.ctx, self.primal_type(v));
                let shadow = self.shadow(v.into());
                let operands: Vec<Operand> = f.plain_operands(v).collect();
                for (i, operand) in operands.into_iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let inst = if op == mem::ARRAY {
                            let index = self.constant(Constant::I64(i as i64 + 1));
                            mem::load(shadow, [index])
                        } else {
                            mem::ref_get(shadow)
                        };
                        let tangent = self.emit(inst);
                        self.give_tangent(operand, tangent, element);
                    }
                }
            }
            data::NEW_OBJECT => {
                let Some(named) = self.object_content(v.into()) else { return };
                let content = self.emit(mem::ref_get(named.0));
                let fields: Vec<Type> = match self.ctx.struct_of(self.primal_type(v)) {
                    Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                    None => Vec::new(),
                };
                let operands: Vec<Operand> = f.plain_operands(v).collect();
                for (i, operand) in operands.into_iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let tangent = self.part(content, i);
                        self.give_tangent(operand, tangent, fields[i]);
                    }
                }
            }
            data::SETFIELD => self.undo_set_field(v),
            data::GETFIELD => self.undo_get_field(v),
            mem::COPY => {
                let source = self.operand(v, 0);
                let element = element_type(&self.ctx, self.primal_type(v));
                let cell = Cell::of(&mut self.driver.types, element);
                if self.plan.activity.has_shadow(source) {
                    match cell {
                        Cell::Float | Cell::Value => {
                            let (to, from) = (self.shadow(source), self.shadow(v.into()));
                            self.emit(ad::accumulate(to, from));
                        }
                        Cell::Mixed => {
                            let (to, from) = (self.shadow(source), self.shadow(v.into()));
                            let count = self.emit(mem::length(from));
                            self.emit(ad::uncopy(from, to, count));
                        }
                        Cell::Shadow | Cell::None => {}
                    }
                }
            }
            mem::COPYTO => {
                let (dest, source) = (self.operand(v, 0), self.operand(v, 1));
                let from = self.shadow(dest);
                if self.plan.activity.has_shadow(source) {
                    let to = self.shadow(source);
                    let count = self.emit(mem::length(to));
                    self.emit(ad::uncopy(from, to, count));
                } else {
                    // What came instead of what was there is a constant.
                    let source = self.primal(source);
                    let count = self.emit(mem::length(source));
                    let nothing = self.constant(Constant::Unit);
                    self.emit(ad::uncopy(from, nothing, count));
                }
            }
            ad::COPY => {
                let source = self.operand(v, 0);
                if let Some(adjoint) = self.take(v) {
                    self.give(source, adjoint);
                }
                if self.plan.activity.has_shadow(source) && self.plan.activity.has_shadow(v) {
                    let (to, from) = (self.shadow(source), self.shadow(v.into()));
                    self.emit(ad::accumulate(to, from));
                }
            }
            ad::ACCUMULATE => {
                let (shadow, tangent) = (self.operand(v, 0), self.operand(v, 1));
                if self.plan.activity.has_shadow(tangent) {
                    let (to, from) = (self.shadow(tangent), self.shadow(shadow));
                    self.emit(ad::accumulate(to, from));
                }
                // What is a value in the tangent, outside of its objects, was added nowhere.
            }
            ad::TOTAL => {
                let Some(adjoint) = self.take(v) else { return };
                let shadow = self.shadow(self.operand(v, 0));
                self.emit(ad::spread(shadow, adjoint));
            }
            ad::SPREAD => {
                let (array, value) = (self.operand(v, 0), self.operand(v, 1));
                if self.plan.activity.is_varied(value) {
                    let ty = self.driver.types.cotangent(self.primal_type(value));
                    let shadow = self.shadow(array);
                    let total = self.emit(ad::total(shadow, ty));
                    self.give(value, total);
                }
            }
            ad::UNCOPY | ad::RECOPY => {
                let (dest, source) = (self.operand(v, 0), self.operand(v, 1));
                let to = self.shadow(dest);
                let from = match self.plan.activity.has_shadow(source) {
                    true => self.shadow(source),
                    false => self.constant(Constant::Unit),
                };
                let count = self.primal(self.operand(v, 2));
                self.emit(match op {
                    ad::UNCOPY => ad::recopy(to, from, count),
                    _ => ad::uncopy(to, from, count),
                });
            }
            // What they replaced is put back.
            ad::SET_SLOT | ad::PUT_BACK => {}
            ad::CLEAR => {
                let shadow = self.shadow(self.operand(v, 0));
                self.emit(ad::clear(shadow));
            }
            _ => self.undo_value(v),
        }
    }

    /// An op that gives a value.
    fn undo_value(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let Some(op) = f.op(v) else { return };
        let operands: Vec<Operand> = f.plain_operands(v).collect();
        if matches!(op, core::TUPLE | data::NAMED | data::NEW) {
            let ty = self.driver.types.cotangent(self.primal_type(v));
            if ty == Type::ANY {
                let Some(adjoint) = self.take(v) else { return };
                for (i, &operand) in operands.iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let index = self.constant(Constant::I64(i as i64 + 1));
                        let part = self.emit(data::getfield(adjoint, index));
                        let part = self.fit(part, Type::ANY, self.primal_type(operand));
                        self.give(operand, part);
                    }
                }
                return;
            }
            let Some(found) = self.take_parts(v) else { return };
            let types = match self.ctx.struct_of(self.primal_type(v)) {
                Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                None => build::part_types(&self.ctx, self.primal_type(v)),
            };
            for (i, &operand) in operands.iter().enumerate() {
                if let Some(part) = found.get(i).copied().flatten()
                    && self.plan.activity.is_varied(operand)
                {
                    let part = self.fit(part, types[i], self.primal_type(operand));
                    self.give(operand, part);
                }
            }
            return;
        }
        let Some(adjoint) = self.take(v) else { return };
        let ty = self.primal_type(v);
        match op {
            core::GET => {
                let index = f.const_i64(operands[1]).and_then(|i| usize::try_from(i - 1).ok());
                self.give_part(operands[0], index.unwrap_or(0), adjoint);
            }
            core::SELECT => {
                let condition = self.primal(operands[0]);
                let zero_type = self.driver.types.cotangent(ty);
                let zero = self.zero(zero_type);
                if self.plan.activity.is_varied(operands[1]) {
                    let x = self.emit(core::select(condition, adjoint, zero));
                    self.give_fitted(operands[1], x, ty);
                }
                if self.plan.activity.is_varied(operands[2]) {
                    let y = self.emit(core::select(condition, zero, adjoint));
                    self.give_fitted(operands[2], y, ty);
                }
            }
            core::CONVERT | core::TYPEASSERT | arith::FLOAT_CAST => {
                let from = self.primal_type(operands[0]);
                if from.is_float() && ty.is_float() && from != ty {
                    let part = self.emit(arith::float_cast(adjoint, from));
                    self.give(operands[0], part);
                } else {
                    self.give_fitted(operands[0], adjoint, ty);
                }
            }
            ad::COTANGENT | ad::UNBOX => self.give_fitted(operands[0], adjoint, ty),
            ad::JOIN => self.give_fitted(operands[1], adjoint, ty),
            ad::ADD => {
                for &operand in &operands {
                    self.give_fitted(operand, adjoint, ty);
                }
            }
            _ => {
                let ctx = Arc::clone(&self.ctx);
                match ctx.extensions().get::<DerivativeTable>().get(op) {
                    Derivative::Scalar(rule) => self.undo_scalar(v, rule, adjoint, &operands),
                    Derivative::NotImplemented(why) => self.not_implemented(v, why),
                    _ => {
                        let name = self.ctx.def(op).name;
                        self.fail(&format!("`{name}` has no derivative"));
                    }
                }
            }
        }
    }

    fn not_implemented(&mut self, v: Value, why: &str) {
        let name = self.plan.aug.f.op_def(v).map_or("?", |def| def.mnemonic());
        self.fail(&format!("`{name}` has no derivative: {why}"));
    }

    fn undo_scalar(&mut self, v: Value, rule: &ScalarRule, adjoint: Operand, operands: &[Operand]) {
        let strong = self.plan.discardable.get(v.index()).copied().unwrap_or(false);
        let mut needed = vec![false; operands.len()];
        let mut needs_result = false;
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(partial) = rule.partial(i)
                && self.plan.activity.is_varied(operand)
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
                && self.plan.activity.is_varied(operand)
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
                    self.give_fitted(operand, product, from);
                }
            }
        }
    }

    /// Gives an operand the cotangent part of the tangent of a value of type `ty`.
    fn give_tangent(&mut self, operand: Operand, tangent: Operand, ty: Type) {
        if !self.plan.activity.is_varied(operand) {
            return;
        }
        let (of, cell) = (self.driver.types.of(ty), Cell::of(&mut self.driver.types, ty));
        if !cell.has_cotangent() {
            return;
        }
        let ctx = Arc::clone(&self.ctx);
        let part = build::cotangent_part(&ctx, of, cell, tangent, &mut |inst| self.emit(inst));
        let part = self.fit(part, ty, self.primal_type(operand));
        self.give(operand, part);
    }

    /// Gives a value that all elements of an array were set to the sum of their cotangents.
    fn give_total(&mut self, value: Operand, shadow: Operand, element: Type) {
        if self.plan.activity.is_varied(value) {
            let ty = self.driver.types.cotangent(element);
            let total = self.emit(ad::total(shadow, ty));
            let total = self.fit(total, element, self.primal_type(value));
            self.give(value, total);
        }
    }
}
