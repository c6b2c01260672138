//! Additions to shadows that wait, so that what is read and written in one place is put together.

use std::sync::Arc;

use regraft_dialects::mem;
use regraft_ir::{Operand, TypeKind, Value};

use super::{Backward, Clearing, Increment};
use crate::tangent_builder::{self as build, TangentKind, element_type};

impl Backward<'_, '_> {
    /// Adds to the shadow in the place that `read` reads, in a while.
    pub(in super::super) fn add_later(&mut self, read: Value, adjoint: Operand) {
        self.increments.push(Increment { read, adjoint, loc: self.loc });
    }

    /// Sets the shadow to zero in the place that `write` writes, in a while. It holds `old` now.
    pub(in super::super) fn clear_later(&mut self, write: Value, old: Option<Operand>) {
        self.clearing = Some(Clearing { write, old, loc: self.loc });
    }

    /// Indices of an access, restored.
    fn indices(&mut self, v: Value, from: usize) -> Vec<Operand> {
        let operands: Vec<Operand> = self.input.aug.f.plain_operands(v).skip(from).collect();
        operands.into_iter().map(|index| self.primal(index)).collect()
    }

    /// Returns whether the read or write `v` is about a ref.
    fn is_ref(&self, v: Value) -> bool {
        let object = self.input.aug.f.operand(v, 0);
        let ty = object.map(|object| self.input.aug.f.operand_type(object));
        ty.is_some_and(|ty| matches!(self.ctx.kind(ty), TypeKind::Ref(_)))
    }

    /// Appends the increments that wait, in order, and before them the clearing of what was
    /// overwritten. In `y[i] = y[i] + x[i]`, what was written goes to the place that it was taken
    /// from: then that place is set to it, rather than to zero first.
    pub(in super::super) fn flush_pending(&mut self) {
        let after = self.loc;
        let mut increments = std::mem::take(&mut self.increments);
        if let Some(clearing) = self.clearing.take() {
            self.loc = clearing.loc;
            let f = &self.input.aug.f;
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
        if self.is_ref(v) {
            self.emit(mem::ref_set(shadow, new));
        } else {
            let inst = mem::store(shadow, new, indices).with_attrs(build::inbounds(&self.ctx));
            self.emit(inst);
        }
    }

    /// Reads the place in a shadow that the read or write `v` is about.
    fn get_place(&mut self, v: Value, shadow: Operand, indices: &[Operand]) -> Operand {
        if self.is_ref(v) {
            self.emit(mem::ref_get(shadow))
        } else {
            let inst =
                mem::load(shadow, indices.iter().copied()).with_attrs(build::inbounds(&self.ctx));
            self.emit(inst)
        }
    }

    fn increase(&mut self, v: Value, adjoint: Operand) {
        let shadow = self.shadow(self.operand(v, 0));
        let indices = self.indices(v, 1);
        let element = self.primal_type(v);
        let (of, kind) =
            (self.driver.types.of(element), TangentKind::of(&mut self.driver.types, element));
        let old = self.get_place(v, shadow, &indices);
        let ctx = Arc::clone(&self.ctx);
        let mut emit = |inst| self.emit(inst);
        let new = build::increased(&ctx, of, kind, old, adjoint, &mut emit);
        self.set_place(v, shadow, indices, new);
    }
}
