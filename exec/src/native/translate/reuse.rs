//! Immutable values that are made in the place of others.
//!
//! ```text
//! v9 = data.named s36, s38
//! set-val 0, v9, v8
//! ```
//!
//! An immutable value of scalars that is made to be the content of a ref, or an element of an array, takes the place of what is there,
//! if nobody else holds that: so does the shadow of a struct (reuse, as in A. Reinking, N. Xie, L. de Moura and D. Leijen,
//! "Perceus: Garbage Free Reference Counting with Reuse", PLDI 2021).

use regraft_dialects::semantics::field_types;
use regraft_ir::TypeKind;
use smallvec::SmallVec;

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::memory::Evaluated;
use super::values::Place;
use crate::interp::{EvalSite, Inst, Pc, Reg, Scalar, Src};
use crate::value::{Compound, offsets};

/// The place that a value is made for.
pub(super) enum Holder {
    /// The ref in this register.
    Ref(Reg),
    /// An element that an instruction stores, which is there.
    Element { store: Pc, array: Reg, indices: SmallVec<[Reg; 4]> },
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// The place that an immutable value of scalars is made for, which holds such a value.
    pub(super) fn filled_next(&self, pc: Pc, site: &EvalSite, made: Reg) -> Option<Holder> {
        let (f, code, next) = (self.source.f, self.source.code, pc + 1);
        let ty = f.ty(self.made_from(pc));
        if f.ctx().struct_of(ty).is_some_and(|def| def.mutable) {
            return None;
        }
        let parts = field_types(f.ctx(), ty)?;
        let are_scalars = site.args.iter().zip(&parts).all(|(&arg, &part)| {
            matches!(arg, Src::Scalar(scalar, _) if Scalar::of(part) == Some(scalar))
        });
        let is_next = self.blocks.get(next as usize)?.is_none();
        if !is_next || !are_scalars || parts.len() != site.args.len() {
            return None;
        }
        match *code.insts.get(next as usize)? {
            Inst::SetVal { vb, va, .. } => {
                let holds_such = *f.ctx().kind(self.operand_type(next, 0)) == TypeKind::Ref(ty);
                (vb == made && va != made && holds_such).then_some(Holder::Ref(va))
            }
            Inst::Eval { site } => {
                let site = &code.evals[site as usize];
                let Evaluated { array, stored, indices, .. } = Evaluated::of(site)?;
                let &TypeKind::Array { element, rank } = f.ctx().kind(self.operand_type(next, 0))
                else {
                    return None;
                };
                let is_one = indices.len() == 1 || indices.len() == usize::from(rank);
                let fills = matches!(stored, Some(Src::Last(reg) | Src::Val(reg)) if reg == made);
                let is_boxed = element == ty && !self.is_unboxed(element);
                let fits = is_one && is_boxed && array != made && self.is_promised(next);
                (fills && fits).then_some(Holder::Element { store: next, array, indices })
            }
            _ => None,
        }
    }

    /// Changes what is held to the value that is to be made, and goes on with `then`, if nobody else holds it. Otherwise, goes on
    /// here.
    pub(super) fn renew(
        &mut self,
        of: &Holder,
        site: &EvalSite,
        kind: Compound,
        to: Reg,
        then: E::Block,
    ) {
        let held = match of {
            &Holder::Ref(of) => {
                let holder = self.object(self.reg(of));
                Place { base: holder, at: offsets::REF_CONTENT, area: Area::Fields }
            }
            Holder::Element { store, array, indices } => {
                self.value_element(*store, *array, indices)
            }
        };
        let (look, renew, make) = (self.e.block(false), self.e.block(false), self.e.block(false));
        let (tag, want) = (self.tag(held), self.e.int(i64::from(kind.tag())));
        let is_such = self.e.int_cmp(IntCmp::Eq, tag, want);
        self.e.branch(is_such, look, make);
        self.e.enter(look);
        let object = self.object(held);
        let (count, one) = (self.e.load(Mem::I64, Area::Count, object, 0), self.e.int(1));
        let is_only = self.e.int_cmp(IntCmp::Eq, count, one);
        self.e.branch(is_only, renew, make);
        self.e.enter(renew);
        let base = self.parts_of(object, site.args.len());
        for (index, &part) in (0..).zip(&site.args) {
            if let Src::Scalar(scalar, reg) = part {
                let x = self.e.read(reg);
                self.e.store(scalar.mem(), Area::Fields, base, index * 16 + 8, x);
            }
        }
        self.count_up(object);
        self.write(to, (want, object));
        self.e.jump(then);
        self.e.enter(make);
    }
}
