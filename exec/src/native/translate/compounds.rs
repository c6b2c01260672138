//! Values that are made of others: tuples, structs, mutable structs and refs.

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::values::Place;
use crate::interp::{Dst, EvalSite, Pc, Quick, Reg};
use crate::value::{Compound, offsets};

/// The most parts that are set one by one.
const MOST_PARTS: usize = 16;

impl<E: Emitter> Translator<'_, '_, E> {
    /// Makes a value of others; `false` if the instruction does something else.
    pub(super) fn compound_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (Quick::Compound { kind, .. }, Dst::Val(to)) = (site.quick, site.dst) else {
            return false;
        };
        let count = site.args.len();
        if count > MOST_PARTS {
            return false;
        }
        match self.filled_next(pc, site, to) {
            Some(holder) => {
                let then = self.e.block(false);
                self.renew(&holder, site, kind, to, then);
                self.make(pc, site, kind, to);
                self.e.jump(then);
                self.e.enter(then);
            }
            None => self.make(pc, site, kind, to),
        }
        true
    }

    fn make(&mut self, pc: Pc, site: &EvalSite, kind: Compound, to: Reg) {
        let count = site.args.len();
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let new_compound = self.source.runtime.new_compound;
        let made = self.e.call(&new_compound, &[self.cx, code, position]);
        let null = self.e.int(0);
        let object = made.unwrap_or(null);
        let is_made = self.e.int_cmp(IntCmp::Ne, object, null);
        self.quickly(is_made, pc, |this| {
            let base = match kind {
                Compound::Ref => this.e.offset(object, i64::from(offsets::REF_CONTENT)),
                _ => this.parts_of(object, count),
            };
            for (index, &part) in (0..).zip(&site.args) {
                this.pass(part, Place { base, at: index * 16, area: Area::Fields });
            }
            let tag = this.e.int(i64::from(kind.tag()));
            this.write(to, (tag, object));
        });
    }

    /// The address of the parts of a tuple or struct of so many.
    pub(super) fn parts_of(&mut self, object: E::Value, count: usize) -> E::Value {
        if count > offsets::INLINE_FIELDS as usize {
            return self.e.load(Mem::Ptr, Area::Header, object, offsets::FIELDS);
        }
        self.e.offset(object, i64::from(offsets::FIELDS))
    }
}
