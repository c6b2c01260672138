//! Tests of the types of values.

use regraft_ir::{Type, TypeKind};

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::values::{Place, value_in};
use crate::interp::{Dst, Pc, Quick, Reg, Scalar};
use crate::value::{Compound, Val, offsets, tag_of};

/// The most parts of a tuple that are tested one by one.
const MOST_PARTS: usize = 8;

/// The tag of the values of a type, if no others have it.
fn tag_of_type(ty: Type) -> Option<u8> {
    match Scalar::of(ty) {
        Some(scalar) => Some(scalar.tag()),
        None => (ty == Type::UNIT).then(|| tag_of(&Val::Unit)),
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Tests the type of a value, or goes on with the value if it is of a type; `false` if the instruction does
    /// something else.
    pub(super) fn type_test_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let Some((value, is_last)) = site.args.first().copied().and_then(value_in) else {
            return false;
        };
        match (site.quick, site.dst) {
            (Quick::IsA(ty), Dst::Scalar(Scalar::Bool, d)) => {
                let is = self.is_a(pc, value, ty);
                let is = self.e.flag(is);
                self.e.write(d, is);
                if is_last {
                    self.empty(value);
                }
            }
            (Quick::Assert(ty), Dst::Val(to)) => {
                let slow = self.e.block(true);
                let is = self.is_flat_tuple(value, ty, slow);
                let is = is.unwrap_or_else(|| self.is_a(pc, value, ty));
                self.quickly_unless(slow, is, pc, |this| {
                    let value = this.copy_or_take(value, is_last);
                    this.write(to, value);
                });
            }
            _ => return false,
        }
        true
    }

    /// Returns whether a value is of a type of tuples whose parts tell by their tags that they are of its types; goes to `not` if
    /// it is no tuple of so many. `None` if it is another type.
    fn is_flat_tuple(&mut self, value: Reg, ty: Type, not: E::Block) -> Option<E::Flag> {
        let TypeKind::Tuple(types) = self.source.f.ctx().kind(ty) else { return None };
        let is_told = |&ty: &Type| ty == Type::ANY || tag_of_type(ty).is_some();
        if types.len() > MOST_PARTS || !types.iter().all(is_told) {
            return None;
        }
        let place = self.reg(value);
        let is_tuple = self.has_tag(place, Compound::Tuple.tag());
        let (look, compare) = (self.e.block(false), self.e.block(false));
        self.e.branch(is_tuple, look, not);
        self.e.enter(look);
        let object = self.object(place);
        let count = self.e.load(Mem::I64, Area::Header, object, offsets::FIELD_COUNT);
        let want = self.e.int(types.len() as i64);
        let mut is_such = self.e.int_cmp(IntCmp::Eq, count, want);
        self.e.branch(is_such, compare, not);
        self.e.enter(compare);
        let base = self.parts_of(object, types.len());
        for (index, &ty) in (0..).zip(types) {
            if let Some(tag) = tag_of_type(ty) {
                let part = Place { base, at: index * 16, area: Area::Fields };
                let fits = self.has_tag(part, tag);
                is_such = self.e.and(is_such, fits);
            }
        }
        Some(is_such)
    }

    /// Returns whether a value is of a type of structs, which its object names; `None` if it is another type.
    fn is_struct(&mut self, value: Reg, ty: Type) -> Option<E::Flag> {
        let mutable = self.source.f.ctx().struct_of(ty)?.mutable;
        let want = self.e.type_bits(ty)?;
        let kind = if mutable { Compound::Object } else { Compound::Struct };
        let (tag, word) = self.load_pair(self.reg(value));
        let kind = self.e.int(i64::from(kind.tag()));
        let is_such = self.e.int_cmp(IntCmp::Eq, tag, kind);
        // Of another value the frame itself is read, which is as long, and of which nothing is used.
        let object = self.e.select(is_such, word, self.vals);
        let found = self.e.load(Mem::I32, Area::Header, object, offsets::STRUCT_TYPE);
        let is_same = self.e.int_cmp(IntCmp::Eq, found, want);
        Some(self.e.and(is_such, is_same))
    }

    fn has_tag(&mut self, place: Place<E::Value>, tag: u8) -> E::Flag {
        let (tag, want) = (self.tag(place), self.e.int(i64::from(tag)));
        self.e.int_cmp(IntCmp::Eq, tag, want)
    }

    fn is_a(&mut self, pc: Pc, value: Reg, ty: Type) -> E::Flag {
        if let Some(tag) = tag_of_type(ty) {
            return self.has_tag(self.reg(value), tag);
        }
        if let Some(is) = self.is_struct(value, ty) {
            return is;
        }
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let (value, one) = (self.val(value), self.e.int(1));
        let is_a = self.source.runtime.is_a;
        let is = self.e.call(&is_a, &[self.cx, code, position, value]).unwrap_or(one);
        self.e.int_cmp(IntCmp::Eq, is, one)
    }
}
