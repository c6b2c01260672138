//! The ends of vectors, where elements come and go: stacks of a tape, above all.

use regraft_dialects::mem;
use regraft_ir::TypeKind;

use super::super::emitter::{Area, Emitter, Int2, IntCmp, Mem};
use super::Translator;
use super::values::value_in;
use crate::interp::{Dst, Pc, Reg, Src};
use crate::value::offsets;

impl<E: Emitter> Translator<'_, '_, E> {
    /// Appends an element to a vector, or takes a scalar off; `false` if the instruction is another one.
    pub(super) fn end_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        if let (mem::PUSH, &[array, value], Dst::Nowhere) = (site.def.op, &*site.args, site.dst)
            && let (Some(array), Some(value)) = (value_in(array), value_in(value))
        {
            return self.push_value(pc, array, value);
        }
        let (array, ty, reg, pushes) = match (site.def.op, &*site.args, site.dst) {
            (mem::PUSH, &[array, Src::Scalar(ty, reg)], Dst::Nowhere) => (array, ty, reg, true),
            (mem::POP, &[array], Dst::Scalar(ty, reg)) => (array, ty, reg, false),
            _ => return false,
        };
        let kind = TypeKind::Array { element: ty.ty(), rank: 1 };
        let Some((array, is_last)) = value_in(array) else { return false };
        if *self.source.f.ctx().kind(self.operand_type(pc, 0)) != kind {
            return false;
        }
        let object = self.address_of(array);
        let length = self.e.load(Mem::I64, Area::Header, object, offsets::ARRAY_LEN);
        // There is none in an array whose elements are lent.
        let room = self.e.load(Mem::I64, Area::Header, object, offsets::ARRAY_ROOM);
        let fits = if pushes {
            self.e.int_cmp(IntCmp::Lt, length, room)
        } else {
            let zero = self.e.int(0);
            let has_room = self.e.int_cmp(IntCmp::Lt, zero, room);
            let has_some = self.e.int_cmp(IntCmp::Lt, zero, length);
            self.e.and(has_room, has_some)
        };
        let (mem, step) = (ty.mem(), self.e.int(if pushes { 1 } else { -1 }));
        self.quickly(fits, pc, |this| {
            let (elements, after) = (this.elements(object), this.e.int2(Int2::Add, length, step));
            let index = if pushes { length } else { after };
            let place = this.e.element(elements, index, mem.size());
            if pushes {
                let x = this.e.read(reg);
                this.e.store(mem, Area::Elements(mem), place, 0, x);
            } else {
                let x = this.e.load(mem, Area::Elements(mem), place, 0);
                this.e.write(reg, x);
            }
            this.e.store(Mem::I64, Area::Header, object, offsets::ARRAY_LEN, after);
            if is_last {
                this.empty(array);
            }
        });
        true
    }

    /// Appends a value that is no scalar, if the types say that it fits.
    fn push_value(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        (value, is_taken): (Reg, bool),
    ) -> bool {
        let &TypeKind::Array { element, .. } = self.source.f.ctx().kind(self.operand_type(pc, 0))
        else {
            return false;
        };
        if !self.may_hold_operand(element, pc, 1) {
            return false;
        }
        let args = [self.cx, self.val(array), self.val(value)];
        let done = self.e.call(&self.source.runtime.push, &args);
        self.unless_done(done, pc, |this| {
            let last = [(array, is_last), (value, is_taken)].into_iter().filter(|&(_, last)| last);
            last.for_each(|(reg, _)| this.empty(reg));
        });
        true
    }
}
