//! Tests of the types of values.

use regraft_ir::Type;

use super::super::emitter::{Emitter, IntCmp};
use super::Translator;
use super::values::value_in;
use crate::interp::{Dst, Pc, Quick, Reg, Scalar};
use crate::value::{Val, tag_of};

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
                let is = self.is_a(pc, value, ty);
                self.quickly(is, pc, |this| {
                    let value = this.copy_or_take(value, is_last);
                    this.write(to, value);
                });
            }
            _ => return false,
        }
        true
    }

    fn is_a(&mut self, pc: Pc, value: Reg, ty: Type) -> E::Flag {
        let tag = match Scalar::of(ty) {
            Some(scalar) => Some(scalar.tag()),
            None => (ty == Type::UNIT).then(|| tag_of(&Val::Unit)),
        };
        if let Some(want) = tag {
            let (tag, want) = (self.tag(self.reg(value)), self.e.int(i64::from(want)));
            return self.e.int_cmp(IntCmp::Eq, tag, want);
        }
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let (value, one) = (self.val(value), self.e.int(1));
        let is_a = self.source.runtime.is_a;
        let is = self.e.call(&is_a, &[self.cx, code, position, value]).unwrap_or(one);
        self.e.int_cmp(IntCmp::Eq, is, one)
    }
}
