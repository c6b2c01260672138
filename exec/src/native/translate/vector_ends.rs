//! The ends of vectors, where elements come and go: stacks of a tape, above all.

use regraft_dialects::mem;
use regraft_dialects::semantics::unboxed_parts;
use regraft_ir::{Type, TypeKind};
use smallvec::{SmallVec, smallvec};

use super::super::emitter::{Area, Emitter, Int2, IntCmp, Mem};
use super::Translator;
use super::memory::{Part, WORD};
use super::values::value_in;
use crate::interp::{Dst, Pc, Reg, Scalar, Src};
use crate::value::offsets;

/// The scalars of an element, side by side, and the bytes that it takes.
struct Scalars {
    types: SmallVec<[Type; 8]>,
    size: i64,
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Appends an element to a vector, takes one off, or looks at the last one; `false` if the instruction is another one.
    pub(super) fn end_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        if !matches!(site.def.op, mem::PUSH | mem::PUSH_PARTS | mem::POP | mem::LAST_PART) {
            return false;
        }
        let Some((&array, args)) = site.args.split_first() else { return false };
        let (Some(array), &TypeKind::Array { element, rank: 1 }) =
            (value_in(array), self.source.f.ctx().kind(self.operand_type(pc, 0)))
        else {
            return false;
        };
        let scalars = self.scalars(element);
        match (site.def.op, args, site.dst) {
            (mem::PUSH, &[value], Dst::Nowhere) if let Some(value) = value_in(value) => {
                self.push_value(pc, element, array, value)
            }
            (mem::PUSH | mem::PUSH_PARTS, values, Dst::Nowhere) => {
                let values = values.iter().map(|&value| match value {
                    Src::Scalar(ty, reg) => Some((ty.ty(), Some(reg))),
                    Src::Unit => Some((Type::UNIT, None)),
                    _ => None,
                });
                let Some(values) = values.collect::<Option<Vec<(Type, Option<Reg>)>>>() else {
                    return false;
                };
                let fits = values.iter().map(|&(ty, _)| ty).eq(scalars.types.iter().copied());
                if fits {
                    self.push_parts(pc, array, (element, scalars.size), &values);
                }
                fits
            }
            (mem::POP, [], Dst::Scalar(ty, reg)) if element == ty.ty() => {
                self.pop_part(pc, array, &scalars, Some(reg));
                true
            }
            (mem::POP, [], Dst::Nowhere) if !scalars.types.is_empty() => {
                self.pop_part(pc, array, &scalars, None);
                true
            }
            (mem::LAST_PART, [], Dst::Scalar(ty, reg))
                if let Some(part) = self.part_of(pc, element)
                    && part.ty == ty.ty() =>
            {
                self.last_part(pc, array, &part, (ty, reg));
                true
            }
            _ => false,
        }
    }

    /// The scalars that an element is, or is made of if it is unboxed; none if it is a value.
    fn scalars(&self, element: Type) -> Scalars {
        if let Some(scalar) = Scalar::of(element) {
            return Scalars { types: smallvec![element], size: scalar.mem().size() };
        }
        let types = unboxed_parts(self.source.f.ctx(), element).unwrap_or_default();
        Scalars { size: types.len() as i64 * WORD, types: types.into() }
    }

    fn push_parts(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        (element, size): (Type, i64),
        values: &[(Type, Option<Reg>)],
    ) {
        let (object, length) = self.end_of(array);
        // There is none in an array whose elements are lent.
        let room = self.e.load(Mem::I64, Area::Header, object, offsets::ARRAY_ROOM);
        let fits = self.e.int_cmp(IntCmp::Lt, length, room);
        self.quickly(fits, pc, |this| {
            let elements = this.elements(object);
            let place = this.e.element(elements, length, size);
            for (at, &(ty, reg)) in (0..).zip(values) {
                if let (Some(ty), Some(reg)) = (Scalar::of(ty), reg) {
                    let mem = if element.is_scalar() { ty.mem() } else { ty.word_mem() };
                    let x = this.e.read(reg);
                    this.e.store(mem, Area::Elements(mem), place, at * WORD as i32, x);
                }
            }
            this.set_end(object, length, 1);
            if is_last {
                this.empty(array);
            }
        });
    }

    /// Takes off the last element, which goes to a register if it is a scalar and there is one for it.
    fn pop_part(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        scalars: &Scalars,
        to: Option<Reg>,
    ) {
        let (object, length) = self.end_of(array);
        let room = self.e.load(Mem::I64, Area::Header, object, offsets::ARRAY_ROOM);
        let zero = self.e.int(0);
        let has_room = self.e.int_cmp(IntCmp::Lt, zero, room);
        let has_some = self.e.int_cmp(IntCmp::Lt, zero, length);
        let may_pop = self.e.and(has_room, has_some);
        self.quickly(may_pop, pc, |this| {
            if let (Some(to), Some(ty)) = (to, Scalar::of(scalars.types[0])) {
                let place = this.last_place(object, length, scalars.size);
                let x = this.e.load(ty.mem(), Area::Elements(ty.mem()), place, 0);
                this.e.write(to, x);
            }
            this.set_end(object, length, -1);
            if is_last {
                this.empty(array);
            }
        });
    }

    fn last_part(
        &mut self,
        pc: Pc,
        (array, is_last): (Reg, bool),
        part: &Part,
        (ty, to): (Scalar, Reg),
    ) {
        let (object, length) = self.end_of(array);
        if !self.is_promised(pc) {
            let zero = self.e.int(0);
            let has_some = self.e.int_cmp(IntCmp::Lt, zero, length);
            self.ensure(has_some, pc);
        }
        let place = self.last_place(object, length, part.element_size);
        let mem = ty.word_mem();
        let x = self.e.load(mem, Area::Elements(mem), place, part.at);
        self.e.write(to, x);
        if is_last {
            self.empty(array);
        }
    }

    /// The object of a vector, and its length.
    fn end_of(&mut self, array: Reg) -> (E::Value, E::Value) {
        let object = self.address_of(array);
        (object, self.e.load(Mem::I64, Area::Header, object, offsets::ARRAY_LEN))
    }

    /// The address of the last one of so many elements of that size.
    fn last_place(&mut self, object: E::Value, length: E::Value, size: i64) -> E::Value {
        let (elements, minus) = (self.elements(object), self.e.int(-1));
        let index = self.e.int2(Int2::Add, length, minus);
        self.e.element(elements, index, size)
    }

    /// Makes a vector longer or shorter than it was.
    fn set_end(&mut self, object: E::Value, length: E::Value, by: i64) {
        let by = self.e.int(by);
        let after = self.e.int2(Int2::Add, length, by);
        self.e.store(Mem::I64, Area::Header, object, offsets::ARRAY_LEN, after);
    }

    /// Appends a value that is no scalar, if the types say that it fits.
    fn push_value(
        &mut self,
        pc: Pc,
        element: Type,
        (array, is_last): (Reg, bool),
        (value, is_taken): (Reg, bool),
    ) -> bool {
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
