//! Objects that are replaced by others: their shadows are kept, so that the reverse sweep puts them
//! back where they were.
//!
//! ```text
//! mem.store %a, %x, %i      =>     %k = ad.slot %da, %i
//!                                  mem.store %a, %x, %i
//!                                  mem.store %da, %dx, %i     ...     ad.set_slot %da, %k, %i
//! ```
//!
//! Whoever passed `%a` finds its tangent in `%da`: after the reverse sweep, that has to hold the
//! shadows of what `%a` held before. So does a shadow to which a rule adds a tangent in depth. What
//! nobody else knows stays as it is (see [`super::super::private`]).

use regraft_dialects::{ad, data, mem};
use regraft_ir::{Diagnostic, Operand, Type, Value};

use super::Augment;
use crate::tangent_builder::{self as build, Cell};

impl Augment<'_, '_> {
    /// Keeps what the shadow of an object holds in the places that the write `v` is about to
    /// change, if these are shadows of objects.
    pub(super) fn keep_replaced(&mut self, v: Value) -> Result<Option<Operand>, Diagnostic> {
        let op = self.out.f.op(v).expect("it is an instruction");
        let object = self.operand(v, 0);
        let of_shadows = matches!(op, ad::SET_SLOT | ad::PUT_BACK);
        if op == mem::PUSH {
            return Ok(None);
        }
        let ty = self.out.f.operand_type(object);
        let held = match op {
            data::SETFIELD => self.field(ty, self.operand(v, 1)).map_or(Type::UNIT, |(_, ty)| ty),
            _ => self.element(ty),
        };
        if !of_shadows {
            let one = matches!(op, mem::STORE | mem::REF_SET | data::SETFIELD);
            let held = self.driver.types.shadow(held);
            let may_stay = one || !build::may_vary(&self.ctx, held);
            let is_private = may_stay && self.private.contains(object);
            if is_private || !self.driver.types.has_content(held) {
                return Ok(None);
            }
        }
        let shadow = self.shadow_of(object);
        let kept = match op {
            mem::STORE | ad::SET_SLOT => {
                let indices: Vec<Operand> = self.out.f.plain_operands(v).skip(2).collect();
                self.before(v, ad::slot(shadow, indices))?
            }
            mem::REF_SET => {
                let content = self.before(v, mem::ref_get(shadow))?;
                self.shadow_part(v, held, content)?
            }
            data::SETFIELD => {
                let (shadow, _) = self.object_shadow(object, v)?;
                let Some((index, _)) = self.field(ty, self.operand(v, 1)) else { return Ok(None) };
                let content = self.before(v, mem::ref_get(shadow))?;
                let part =
                    self.with_before(v, |_, ctx, emit| build::part(ctx, content, index, emit))?;
                self.shadow_part(v, held, part)?
            }
            _ => self.before(v, mem::copy(shadow))?,
        };
        Ok(Some(kept))
    }

    /// The shadow part of the tangent of a value of type `ty`.
    fn shadow_part(&mut self, v: Value, ty: Type, tangent: Operand) -> Result<Operand, Diagnostic> {
        self.with_before(v, |driver, ctx, emit| {
            let (of, cell) = (driver.types.of(ty), Cell::of(&mut driver.types, ty));
            build::shadow_part(ctx, of, cell, tangent, emit)
        })
    }

    /// `ad.set_slot` and `ad.put_back`, on the shadow of a shadow.
    pub(super) fn put_slots(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (object, value) = (self.operand(v, 0), self.operand(v, 1));
        let after = self.after(v);
        let want = self.driver.types.shadow(self.out.f.operand_type(value));
        let slots = self.shadow_for(value, want, after)?;
        let mut inst = self.out.f.statement(v);
        inst.operand_list_mut()[0] = self.shadow_of(object);
        inst.operand_list_mut()[1] = slots;
        self.before(after, inst)?;
        Ok(())
    }
}
