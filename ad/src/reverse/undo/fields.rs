//! Undoes what reads and writes fields of structs.

use std::sync::Arc;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{Constant, Operand, Type, Value};

use super::super::backward::Backward;
use crate::tangent_builder::{self as build, Cell, element_type, field_of, replace_part};

impl Backward<'_, '_> {
    /// The shadow of an object of a mutable struct, and the type of what it holds.
    pub(super) fn object_content(&mut self, object: Operand) -> Option<(Operand, Type)> {
        let Some(want) = self.driver.types.object_shadow(self.primal_type(object)) else {
            self.fail("fields of a value whose type is not known have no derivative");
            return None;
        };
        let mut shadow = self.shadow(object);
        if self.type_of(shadow) != want {
            shadow = self.emit(core::typeassert(shadow, want));
        }
        Some((shadow, element_type(&self.ctx, want)))
    }

    pub(super) fn undo_get_field(&mut self, v: Value) {
        let Some(adjoint) = self.take(v) else { return };
        let f = &self.plan.aug.f;
        let (object, field) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.primal_type(object);
        let known = f.constant(field).and_then(|field| field_of(&self.ctx, ty, field));
        if !self.ctx.struct_of(ty).is_some_and(|def| def.mutable) {
            if let Some((index, field)) = known {
                let part = self.fit(adjoint, self.primal_type(v), field);
                return self.give_part(object, index, part);
            }
            if self.primal_type(field) != Type::I64 || build::part_types(&self.ctx, ty).is_empty() {
                return self
                    .fail("a field that is known only when the program runs has no derivative");
            }
            let index = self.primal(field);
            for (i, part_type) in build::part_types(&self.ctx, ty).into_iter().enumerate() {
                if !self.driver.types.has_cotangent(part_type) {
                    continue;
                }
                let number = self.constant(Constant::I64(i as i64 + 1));
                let here = self.emit(arith::eq(index, number));
                let zero_type = self.driver.types.cotangent(self.primal_type(v));
                let zero = self.zero(zero_type);
                let part = self.emit(core::select(here, adjoint, zero));
                let part = self.fit(part, self.primal_type(v), part_type);
                self.give_part(object, i, part);
            }
            return;
        }
        let Some((index, field)) = known else {
            return self.fail("a field that is known only when the program runs has no derivative");
        };
        let Some((shadow, named)) = self.object_content(object) else { return };
        let content = self.emit(mem::ref_get(shadow));
        let old = self.part(content, index);
        let (of, cell) = (self.driver.types.of(field), Cell::of(&mut self.driver.types, field));
        let adjoint = self.fit(adjoint, self.primal_type(v), field);
        let new = self.increased(of, cell, old, adjoint);
        self.set_part(shadow, named, content, index, new);
    }

    pub(super) fn set_part(
        &mut self,
        shadow: Operand,
        named: Type,
        content: Operand,
        index: usize,
        new: Operand,
    ) {
        let ctx = Arc::clone(&self.ctx);
        let made = replace_part(&ctx, named, content, index, new, &mut |inst| self.emit(inst));
        self.emit(mem::ref_set(shadow, made));
    }

    pub(super) fn undo_set_field(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let (object, value) = (self.operand(v, 0), self.operand(v, 2));
        let ty = self.primal_type(object);
        let known = f.constant(self.operand(v, 1)).and_then(|field| field_of(&self.ctx, ty, field));
        let Some((index, field)) = known else {
            return self.fail("a field that is known only when the program runs has no derivative");
        };
        let (of, cell) = (self.driver.types.of(field), Cell::of(&mut self.driver.types, field));
        if !cell.has_cotangent() {
            return;
        }
        let Some((shadow, named)) = self.object_content(object) else { return };
        let content = self.emit(mem::ref_get(shadow));
        let old = self.part(content, index);
        self.give_tangent(value, old, field);
        let new = match cell {
            Cell::Mixed => self.emptied(of, old),
            _ => self.zero(of.cotangent),
        };
        self.set_part(shadow, named, content, index, new);
    }
}
