//! Fields of tuples, structs, mutable structs and refs.

use regraft_ir::{Type, TypeKind};

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::values::Place;
use crate::interp::{Inst, Pc, Reg, Scalar};
use crate::value::offsets;

/// The way in which the fields of a value are reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In a list, within the object or behind it.
    List,
    /// The content of a ref.
    Content,
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Accesses to fields; `false` if the instruction is another one.
    pub(super) fn field_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        let Some(kind) = self.kind_of(self.operand_type(pc, 0)) else { return false };
        match inst {
            Inst::GetF { d, va, index } => self.get_scalar(pc, kind, Scalar::F64, d, va, index),
            Inst::GetI { d, va, index } => self.get_scalar(pc, kind, Scalar::I64, d, va, index),
            Inst::GetScalar { ty, index, d, va } => {
                self.get_scalar(pc, kind, ty, d, va, index.into());
            }
            Inst::GetVal { vd, va, index } => {
                let place = self.field(pc, kind, va, index);
                let value = self.load_pair(place);
                self.add_pointer(value);
                self.write(vd, value);
            }
            Inst::SetScalar { ty, index, a, va } => {
                let place = self.field(pc, kind, va, index.into());
                let x = self.e.read(a);
                self.let_go(place);
                self.store_scalar(place, ty, x);
            }
            Inst::SetVal { index, vb, va } => {
                let value = self.copy_or_take(vb, false);
                let place = self.field(pc, kind, va, index.into());
                self.note_change(va, vb, value.0);
                self.assign(place, value);
            }
            _ => return false,
        }
        true
    }

    /// Notes that an object refers to a value with that tag from now on, unless the search for cycles knows it.
    fn note_change(&mut self, va: Reg, vb: Reg, tag: E::Value) {
        let object = self.object(self.reg(va));
        let watched = self.e.load(Mem::I32, Area::Count, object, offsets::WEAK_COUNT);
        let none = self.e.int(1);
        let unknown = self.e.int_cmp(IntCmp::Eq, watched, none);
        let shared = self.is_shared(tag);
        let is_news = self.e.and(unknown, shared);
        let (note, then) = (self.e.block(true), self.e.block(false));
        self.e.branch(is_news, note, then);
        self.e.enter(note);
        let args = [self.val(va), self.val(vb)];
        let note_change = self.source.runtime.note_change;
        self.e.call(&note_change, &args);
        self.e.jump(then);
        self.e.enter(then);
    }

    fn kind_of(&self, ty: Type) -> Option<Kind> {
        let ctx = self.source.f.ctx();
        match ctx.kind(ty) {
            TypeKind::Tuple(_) | TypeKind::Named(_) => Some(Kind::List),
            TypeKind::Ref(_) => Some(Kind::Content),
            _ => ctx.struct_of(ty).map(|_| Kind::List),
        }
    }

    fn get_scalar(&mut self, pc: Pc, kind: Kind, ty: Scalar, d: Reg, va: Reg, index: u32) {
        let place = self.field(pc, kind, va, index);
        let x = self.unbox(pc, place, ty);
        self.e.write(d, x);
    }

    /// The place of a field, which is checked to be there.
    fn field(&mut self, pc: Pc, kind: Kind, va: Reg, index: u32) -> Place<E::Value> {
        let object = self.object(self.reg(va));
        if kind == Kind::Content {
            return Place { base: object, at: offsets::REF_CONTENT, area: Area::Fields };
        }
        let count = self.e.load(Mem::I64, Area::Header, object, offsets::FIELD_COUNT);
        let at = self.e.int(i64::from(index));
        let there = self.e.int_cmp(IntCmp::Below, at, count);
        self.ensure(there, pc);
        let at = index as i32 * 16;
        let inline = i64::from(offsets::INLINE_FIELDS);
        let within = self.e.offset(object, i64::from(offsets::FIELDS));
        let base = if i64::from(index) >= inline {
            self.e.load(Mem::Ptr, Area::Header, within, 0)
        } else {
            let most = self.e.int(inline);
            let is_inline = self.e.int_cmp(IntCmp::Le, count, most);
            // A list that is within holds a value there, which is read and not used.
            let behind = self.e.load(Mem::Ptr, Area::Header, within, 0);
            self.e.select(is_inline, within, behind)
        };
        Place { base, at, area: Area::Fields }
    }
}
