//! Values that are made of others: tuples, structs, mutable structs and refs.

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use super::values::Place;
use crate::interp::{Dst, EvalSite, Pc, Quick, Reg, Src};
use crate::value::{Compound, offsets};

/// The most parts that are set one by one.
const MOST_PARTS: usize = 40;

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
        let (object, is_made) = self.new_compound(pc);
        self.quickly(is_made, pc, |this| {
            this.fill(object, site, kind);
            let tag = this.e.int(i64::from(kind.tag()));
            this.write(to, (tag, object));
        });
    }

    /// Returns from the function with a tuple that is made for that.
    pub(super) fn return_tuple(&mut self, pc: Pc, site: u32) {
        let site = &self.source.code.evals[site as usize];
        let zero = self.e.int(0);
        if site.args.len() <= MOST_PARTS {
            let (object, is_made) = self.new_compound(pc);
            let (quick, slow) = (self.e.block(false), self.e.block(true));
            self.e.branch(is_made, quick, slow);
            self.e.enter(quick);
            self.fill(object, site, Compound::Tuple);
            self.empty_all(None);
            let tag = self.e.int(i64::from(Compound::Tuple.tag()));
            self.store_pair(self.reg(0), (tag, object));
            self.e.ret(None, zero);
            self.e.enter(slow);
        }
        let status = self.run_on_frame(self.source.runtime.return_tuple, pc);
        self.check_status(status, pc);
        self.e.ret(None, zero);
    }

    /// Asks for the object that an instruction makes, and whether there is one.
    fn new_compound(&mut self, pc: Pc) -> (E::Value, E::Flag) {
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let new_compound = self.source.runtime.new_compound;
        let made = self.e.call(&new_compound, &[self.cx, code, position]);
        let null = self.e.int(0);
        let object = made.unwrap_or(null);
        (object, self.e.int_cmp(IntCmp::Ne, object, null))
    }

    /// Sets the parts of an object that is new, which hold nothing that is counted.
    fn fill(&mut self, object: E::Value, site: &EvalSite, kind: Compound) {
        let base = match kind {
            Compound::Ref => self.e.offset(object, i64::from(offsets::REF_CONTENT)),
            _ => self.parts_of(object, site.args.len()),
        };
        for (index, &part) in (0..).zip(&site.args) {
            let place = Place { base, at: index * 16, area: Area::Fields };
            if part == Src::Unit {
                self.set_unit(place);
            }
            self.pass(part, place);
        }
    }

    /// The address of the parts of a tuple or struct of so many.
    pub(super) fn parts_of(&mut self, object: E::Value, count: usize) -> E::Value {
        if count > offsets::INLINE_FIELDS as usize {
            return self.e.load(Mem::Ptr, Area::Header, object, offsets::FIELDS);
        }
        self.e.offset(object, i64::from(offsets::FIELDS))
    }
}
