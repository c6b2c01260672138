//! Direct calls.

use super::super::emitter::{Callee, Emitter};
use super::Translator;
use super::values::{Place, TAG};
use crate::interp::{Arg, CallSite, Dst, Pc, Scalar, Src};

impl<E: Emitter> Translator<'_, '_, E> {
    pub(super) fn call(&mut self, pc: Pc, site: u32) {
        let site = &self.source.code.calls[site as usize];
        let plain = site.check.is_none()
            && site.parts.is_none()
            && site.args.iter().all(|arg| matches!(arg, Arg::Scalar(_) | Arg::Val(_)));
        match (self.source.callee)(site.callee).filter(|_| plain) {
            Some(callee) => self.call_directly(pc, site, callee),
            None => self.slowly(pc),
        }
    }

    fn call_directly(&mut self, pc: Pc, site: &CallSite, callee: Callee) {
        let code = self.source.code;
        let scalars = self.e.offset(self.scalars, i64::from(code.scalar_regs) * 8);
        let vals = self.e.offset(self.vals, i64::from(code.val_regs) * 16);
        let mut args = vec![self.cx, scalars, vals];
        let mut at = code.val_regs;
        // A value may be used twice and be moved out at the second place.
        for &arg in &site.args {
            match arg {
                Arg::Scalar(reg) => args.push(self.e.read(reg)),
                Arg::Val(src) => {
                    self.pass(src, at);
                    at += 1;
                }
                Arg::Unbox(..) | Arg::Check(..) => {}
            }
        }
        let ret = callee.result;
        let (result, status) = self.e.call_compiled(callee, &args);
        self.check_status(Some(status), pc);
        let returned = self.reg(code.val_regs);
        match (site.dst, ret, result) {
            (Dst::Scalar(want, d), Some(have), Some(result)) if want == have => {
                self.e.write(d, result);
            }
            (Dst::Val(vd), Some(have), Some(result)) => {
                let tag = self.e.int(i64::from(have.tag()));
                self.let_go(self.reg(vd));
                self.store_scalar(self.reg(vd), have, tag, result);
            }
            (Dst::Val(vd), None, _) => {
                let value = self.load_pair(returned);
                let unit = self.e.int(0);
                self.store_tag(returned, unit);
                self.assign(self.reg(vd), value);
            }
            (Dst::Scalar(want, d), _, _) => self.unbox_returned(pc, returned, want, d),
            (Dst::Nowhere, None, _) => {
                self.let_go(returned);
                let unit = self.e.int(0);
                self.store_tag(returned, unit);
            }
            (Dst::Nowhere, ..) | (Dst::Val(_), Some(_), None) => {}
        }
    }

    /// A scalar that is returned as a value: its type is checked by the runtime.
    fn unbox_returned(
        &mut self,
        pc: Pc,
        returned: Place<E::Value>,
        want: Scalar,
        d: crate::interp::Reg,
    ) {
        let tag = self.tag(returned);
        let expected = self.e.int(i64::from(want.tag()));
        let fits = self.e.int_cmp(super::super::emitter::IntCmp::Eq, tag, expected);
        self.ensure(fits, pc);
        let x = self.load_payload(returned, want);
        let unit = self.e.int(0);
        self.store_tag(returned, unit);
        self.e.write(d, x);
    }

    fn store_tag(&mut self, place: Place<E::Value>, tag: E::Value) {
        self.e.store(TAG, place.area, place.base, place.at, tag);
    }

    /// Passes an argument to the register `at` behind the frame.
    fn pass(&mut self, src: Src, at: u32) {
        let value = match src {
            Src::Val(va) => {
                let value = self.load_pair(self.reg(va));
                self.add_pointer(value);
                value
            }
            Src::Last(va) => self.take(va),
            Src::Const(index) => self.constant_value(index),
            // It holds `nothing` already.
            Src::Unit => return,
            Src::Scalar(ty, reg) => {
                let (tag, x) = (self.e.int(i64::from(ty.tag())), self.e.read(reg));
                self.store_scalar(self.reg(at), ty, tag, x);
                return;
            }
        };
        self.store_pair(self.reg(at), value);
    }
}
