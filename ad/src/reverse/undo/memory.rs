//! Undoes what reads and writes elements of arrays and the content of refs.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, mem};
use regraft_ir::{Constant, Inst, Operand, Type, Value};

use super::super::backward::{Backward, Clearing, Increment};
use crate::tangent::TangentType;
use crate::tangent_builder::{self as build, Cell, element_type};

impl Backward<'_, '_> {
    /// Indices of an access, restored.
    pub(super) fn indices(&mut self, v: Value, from: usize) -> Vec<Operand> {
        let operands: Vec<Operand> = self.plan.aug.f.plain_operands(v).skip(from).collect();
        operands.into_iter().map(|index| self.primal(index)).collect()
    }

    fn access(&self, inst: Inst) -> Inst {
        // The same access was made to the object itself, which has the shape of its shadow.
        let name = self.ctx.symbol("inbounds");
        let yes = self.ctx.constant_id(Constant::Bool(true));
        inst.with_attrs(self.ctx.attrs(&[(name, yes)]))
    }

    /// `resize!(a, n)`: the shadow gets the length that it had, with zeros where something was cut off.
    pub(super) fn undo_resize(&mut self, v: Value, length: Operand, kept: Option<Operand>) {
        let array = self.operand(v, 0);
        let element = element_type(&self.ctx, self.primal_type(array));
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        let (shadow, length) = (self.shadow(array), self.primal(length));
        if let Some(kept) = kept {
            self.emit(mem::resize(shadow, length));
            let (kept, cut) = (self.primal(kept), self.primal(self.operand(v, 1)));
            let one = self.constant(Constant::I64(1));
            let first = self.emit(arith::add(cut, one));
            self.emit(ad::put_back(shadow, kept, first, length));
            return;
        }
        let array = self.type_of(shadow);
        if !matches!(cell, Cell::Value | Cell::Mixed) || array == Type::ANY {
            self.emit(mem::resize(shadow, length));
            return;
        }
        let name = match self.driver.regrow(array, of.tangent) {
            Ok(name) => name,
            Err(error) => {
                self.failed.get_or_insert(error);
                return;
            }
        };
        let (nothing, zero) = (self.zero(of.shadow), self.zero(of.cotangent));
        let ctx = Arc::clone(&self.ctx);
        let mut emit = |inst| self.emit(inst);
        let zero = build::join_parts(&ctx, of, cell, nothing, zero, &mut emit);
        let callee = self.constant(Constant::Func(name));
        self.emit(core::call(callee, [shadow, length, zero], Type::UNIT));
    }

    /// `x = a[i]`: adds to the shadow of `a`, in a while.
    pub(super) fn undo_read(&mut self, v: Value) {
        if let Some(adjoint) = self.take(v) {
            self.increments.push(Increment { read: v, adjoint, loc: self.loc });
        }
    }

    /// Appends the increments that wait, in order, and before them the clearing of what was
    /// overwritten. In `y[i] = y[i] + x[i]`, what was written goes to the place that it was taken
    /// from: then that place is set to it, rather than to zero first.
    pub(in super::super) fn settle(&mut self) {
        let after = self.loc;
        let mut increments = std::mem::take(&mut self.increments);
        if let Some(clearing) = self.clearing.take() {
            self.loc = clearing.loc;
            let f = &self.plan.aug.f;
            let place = |v: Value, skip: usize| -> Vec<Operand> {
                let object = f.operand(v, 0);
                object.into_iter().chain(f.plain_operands(v).skip(skip)).collect()
            };
            let wanted = place(clearing.write, 2);
            let same = |i: &Increment| place(i.read, 1) == wanted;
            let same_type = |v: Value, i: &Increment| {
                element_type(&self.ctx, self.primal_type(self.operand(v, 0)))
                    == self.primal_type(i.read)
            };
            let found = increments.iter().position(|i| same(i) && same_type(clearing.write, i));
            let new = match found {
                Some(i) => increments.remove(i).adjoint,
                None => {
                    let object = self.primal_type(self.operand(clearing.write, 0));
                    let ty = self.driver.types.cotangent(element_type(&self.ctx, object));
                    self.zero(ty)
                }
            };
            if clearing.old != Some(new) {
                let shadow = self.shadow(self.operand(clearing.write, 0));
                let indices = self.indices(clearing.write, 2);
                self.set_place(clearing.write, shadow, indices, new);
            }
        }
        for increment in increments {
            self.loc = increment.loc;
            self.increase(increment.read, increment.adjoint);
        }
        self.loc = after;
    }

    /// Sets the place in a shadow that the read or write `v` is about.
    fn set_place(&mut self, v: Value, shadow: Operand, indices: Vec<Operand>, new: Operand) {
        if matches!(self.plan.aug.f.op(v), Some(mem::REF_GET | mem::REF_SET)) {
            self.emit(mem::ref_set(shadow, new));
        } else {
            let inst = self.access(mem::store(shadow, new, indices));
            self.emit(inst);
        }
    }

    /// What is in the place in a shadow that the read or write `v` is about.
    fn get_place(&mut self, v: Value, shadow: Operand, indices: &[Operand]) -> Operand {
        if matches!(self.plan.aug.f.op(v), Some(mem::REF_GET | mem::REF_SET)) {
            self.emit(mem::ref_get(shadow))
        } else {
            let inst = self.access(mem::load(shadow, indices.iter().copied()));
            self.emit(inst)
        }
    }

    fn increase(&mut self, v: Value, adjoint: Operand) {
        let shadow = self.shadow(self.operand(v, 0));
        let indices = self.indices(v, 1);
        let element = self.primal_type(v);
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        let old = self.get_place(v, shadow, &indices);
        let new = self.increased(of, cell, old, adjoint);
        self.set_place(v, shadow, indices, new);
    }

    /// A tangent with something added to its cotangent part.
    pub(super) fn increased(
        &mut self,
        of: TangentType,
        cell: Cell,
        tangent: Operand,
        adjoint: Operand,
    ) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        let old = build::cotangent_part(&ctx, of, cell, tangent, &mut |inst| self.emit(inst));
        let new = self.sum(of.cotangent, old, adjoint);
        self.rejoin(of, cell, tangent, new)
    }

    /// A tangent with another cotangent part.
    pub(super) fn rejoin(
        &mut self,
        of: TangentType,
        cell: Cell,
        tangent: Operand,
        cotangent: Operand,
    ) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        let mut emit = |inst| self.emit(inst);
        let shadow = match cell {
            Cell::Mixed => build::shadow_part(&ctx, of, cell, tangent, &mut emit),
            _ => tangent,
        };
        build::join_parts(&ctx, of, cell, shadow, cotangent, &mut emit)
    }

    /// A tangent of which nothing is left but the objects of which the place that it is in always holds
    /// some: what was in it before may have been a number, or made of other parts.
    pub(super) fn emptied(&mut self, of: TangentType, tangent: Operand) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        let mut emit = |inst| self.emit(inst);
        let old = build::shadow_part(&ctx, of, Cell::Mixed, tangent, &mut emit);
        let shadow = build::lasting(&ctx, of.shadow, old, &mut emit);
        let zero = build::zero(&ctx, of.cotangent, &mut emit);
        build::join_parts(&ctx, of, Cell::Mixed, shadow, zero, &mut emit)
    }

    /// `a[i] = x`: what is in the shadow goes to `x`, and zero stays.
    pub(super) fn undo_write(&mut self, v: Value) {
        let (object, value) = (self.operand(v, 0), self.operand(v, 1));
        let element = element_type(&self.ctx, self.primal_type(object));
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        if !cell.has_cotangent() {
            return;
        }
        let shadow = self.shadow(object);
        let indices = self.indices(v, 2);
        let needs_old = cell == Cell::Mixed || self.plan.activity.is_varied(value);
        let old = needs_old.then(|| self.get_place(v, shadow, &indices));
        if let Some(old) = old {
            self.give_tangent(value, old, element);
            if cell == Cell::Mixed {
                let new = self.emptied(of, old);
                self.set_place(v, shadow, indices, new);
                return;
            }
        }
        self.clearing = Some(Clearing { write: v, old, loc: self.loc });
    }

    pub(super) fn undo_push(&mut self, v: Value) {
        let (array, value) = (self.operand(v, 0), self.operand(v, 1));
        let element = element_type(&self.ctx, self.primal_type(array));
        let shadow = self.shadow(array);
        let tangent = self.emit(mem::pop(shadow));
        self.give_tangent(value, tangent, element);
    }

    pub(super) fn undo_pop(&mut self, v: Value) {
        let array = self.operand(v, 0);
        let element = self.primal_type(v);
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        let shadow = self.shadow(array);
        let adjoint = self.take(v);
        let cotangent = match adjoint {
            Some(adjoint) => adjoint,
            None => self.zero(of.cotangent),
        };
        let own = if matches!(cell, Cell::Shadow | Cell::Mixed) {
            self.shadow(v.into())
        } else {
            cotangent
        };
        let ctx = Arc::clone(&self.ctx);
        let tangent =
            build::join_parts(&ctx, of, cell, own, cotangent, &mut |inst| self.emit(inst));
        self.emit(mem::push(shadow, tangent));
    }
}
