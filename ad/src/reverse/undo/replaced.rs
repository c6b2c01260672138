//! Puts the shadows of objects that were replaced back where they were.

use std::sync::Arc;

use regraft_dialects::{ad, core, data, mem};
use regraft_ir::{Constant, Operand, Type, Value};

use super::super::backward::Backward;
use crate::tangent_builder::{self as build, Cell, element_type, field_of};

impl Backward<'_, '_> {
    /// Puts back what the shadow held where the write `v` put something else. No cotangent of what
    /// it held has come yet.
    pub(super) fn put_back(&mut self, v: Value, kept: Operand) {
        let kept = self.primal(kept);
        let object = self.operand(v, 0);
        match self.plan.aug.f.op(v) {
            Some(mem::STORE | ad::SET_SLOT) => {
                let shadow = self.shadow(object);
                let indices = self.indices(v, 2);
                self.emit(ad::set_slot(shadow, kept, indices));
            }
            Some(mem::REF_SET) => {
                let shadow = self.shadow(object);
                let held = element_type(&self.ctx, self.primal_type(object));
                let tangent = self.without_cotangent(kept, held);
                self.emit(mem::ref_set(shadow, tangent));
            }
            Some(data::SETFIELD) => {
                let field = self.plan.aug.f.constant(self.operand(v, 1));
                let ty = self.primal_type(object);
                let field = field.and_then(|field| field_of(&self.ctx, ty, field));
                let Some((index, held)) = field else { return };
                let Some((shadow, named)) = self.object_content(object) else { return };
                let tangent = self.without_cotangent(kept, held);
                let content = self.emit(mem::ref_get(shadow));
                self.set_part(shadow, named, content, index, tangent);
            }
            Some(ad::PUT_BACK) => {
                let shadow = self.shadow(object);
                let first = self.primal(self.operand(v, 2));
                let last = self.primal(self.operand(v, 3));
                self.emit(ad::put_back(shadow, kept, first, last));
            }
            Some(mem::COPYTO) => {
                let shadow = self.shadow(object);
                let source = self.operand(v, 1);
                let count = if self.plan.activity.has_shadow(source) {
                    let source = self.shadow(source);
                    let count = self.emit(mem::length(source));
                    // An array that was copied to itself has stayed what it was.
                    let same = self.emit(core::same(shadow, source));
                    let none = self.constant(Constant::I64(0));
                    self.emit(core::select(same, none, count))
                } else {
                    let source = self.primal(source);
                    self.emit(mem::length(source))
                };
                self.put_back_first(shadow, kept, count);
            }
            _ => {
                let shadow = self.shadow(object);
                let count = self.emit(mem::length(kept));
                self.put_back_first(shadow, kept, count);
            }
        }
    }

    /// Puts so many elements back.
    fn put_back_first(&mut self, shadow: Operand, kept: Operand, count: Operand) {
        let first = self.constant(Constant::I64(1));
        self.emit(ad::put_back(shadow, kept, first, count));
    }

    /// The tangent of a value of type `ty` of this shadow and no cotangent.
    fn without_cotangent(&mut self, mut shadow: Operand, ty: Type) -> Operand {
        let (of, cell) = (self.driver.types.of(ty), Cell::of(&mut self.driver.types, ty));
        let zero = self.zero(of.cotangent);
        if cell == Cell::Mixed {
            // Said again, since on a tape of unknown type it counts as something with numbers in it.
            shadow = self.emit(ad::shadow(shadow, of.shadow));
        }
        let ctx = Arc::clone(&self.ctx);
        build::join_parts(&ctx, of, cell, shadow, zero, &mut |inst| self.emit(inst))
    }
}
