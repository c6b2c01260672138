//! Elements of arrays that are no scalars.
//!
//! Such an element is a value like that of a register, or undefined, which its tag says.

use regraft_dialects::semantics::unboxed_parts;
use regraft_ir::{Type, TypeKind};

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::memory::Evaluated;
use super::values::Place;
use crate::interp::{Dst, Pc, Quick, Reg, Scalar, Src};
use crate::value::{Val, offsets, undefined_tag};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Loads or stores an element that is a value; `false` if the instruction does something else.
    pub(super) fn value_element_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let Some(Evaluated { array, is_last, stored, indices }) = Evaluated::of(site) else {
            return false;
        };
        let &TypeKind::Array { element, rank } = self.source.f.ctx().kind(self.operand_type(pc, 0))
        else {
            return false;
        };
        let is_one = indices.len() == 1 || indices.len() == usize::from(rank);
        if !is_one || Scalar::of(element).is_some() || self.is_unboxed(element) {
            return false;
        }
        match (site.quick, stored, site.dst) {
            (Quick::Load, _, Dst::Val(to)) => {
                self.load_element(pc, (array, is_last), &indices, Some(to));
            }
            (Quick::Load, _, Dst::Nowhere) => {
                self.load_element(pc, (array, is_last), &indices, None);
            }
            (Quick::Store { fits: true }, Some(value), Dst::Nowhere) => {
                self.store_element(pc, (array, is_last), &indices, value);
            }
            _ => return false,
        }
        true
    }

    /// Returns whether arrays keep elements of this type unboxed.
    pub(super) fn is_unboxed(&self, element: Type) -> bool {
        unboxed_parts(self.source.f.ctx(), element).is_some()
    }

    /// Copies an element, which is to be defined, to a register, if there is one for it.
    fn load_element(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        indices: &[Reg],
        to: Option<Reg>,
    ) {
        let place = self.value_element(pc, array, indices);
        let tag = self.tag(place);
        let defined = self.is_defined(tag);
        self.quickly(defined, pc, |this| {
            if let Some(to) = to {
                let value = this.load_pair(place);
                this.add_pointer(value);
                this.write(to, value);
            }
            if is_last && Some(array) != to {
                this.empty(array);
            }
        });
    }

    /// Puts a value in the place of an element, unless somebody looks at the elements.
    fn store_element(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        indices: &[Reg],
        value: Src,
    ) {
        let place = self.value_element(pc, array, indices);
        let address = self.address_of(array);
        let looks = self.e.load(Mem::I64, Area::Header, address, offsets::ARRAY_LOOKS);
        let none = self.e.int(0);
        let is_free = self.e.int_cmp(IntCmp::Eq, looks, none);
        self.quickly(is_free, pc, |this| {
            let tag = this.tag(place);
            let (defined, shared) = (this.is_defined(tag), this.is_shared(tag));
            let refers = this.e.and(defined, shared);
            this.let_go_if(refers, place);
            if value == Src::Unit {
                this.set_unit(place);
            }
            this.pass(value, place);
            if is_last {
                this.empty(array);
            }
        });
    }

    pub(super) fn value_element(&mut self, pc: Pc, array: Reg, indices: &[Reg]) -> Place<E::Value> {
        let base = self.element(pc, size_of::<Val>() as i64, array, indices);
        Place { base, at: 0, area: Area::Fields }
    }

    /// Returns whether a tag of an element is that of a value.
    fn is_defined(&mut self, tag: E::Value) -> E::Flag {
        let undefined = self.e.int(undefined_tag() as i64);
        self.e.int_cmp(IntCmp::Ne, tag, undefined)
    }
}
