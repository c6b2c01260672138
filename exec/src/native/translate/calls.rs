//! Direct calls.

use regraft_ir::TypeKind;

use super::super::emitter::{Area, Callee, Emitter};
use super::Translator;
use super::values::Place;
use crate::interp::{Arg, CallSite, Dst, Pc, Src};

impl<E: Emitter> Translator<'_, '_, E> {
    pub(super) fn call(&mut self, pc: Pc, site: u32) {
        let site = &self.source.code.calls[site as usize];
        let plain = site.check.is_none()
            && site.parts.as_ref().is_none_or(|parts| self.parts_of_result(pc, parts).is_some())
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
                    self.pass(src, self.reg(at));
                    at += 1;
                }
                Arg::Unbox(..) | Arg::Check(..) => {}
            }
        }
        let ret = callee.result;
        let (result, status) = self.e.call_compiled(callee, &args);
        self.check_status(Some(status), pc);
        let returned = self.reg(code.val_regs);
        if let Some(parts) = &site.parts
            && let Some(count) = self.parts_of_result(pc, parts)
        {
            return self.take_parts(returned, parts, count);
        }
        match (site.dst, ret, result) {
            (Dst::Scalar(want, d), Some(have), Some(result)) if want == have => {
                self.e.write(d, result);
            }
            (Dst::Val(vd), Some(have), Some(result)) => {
                self.write_scalar(vd, have, result);
            }
            (Dst::Val(vd), None, _) => {
                let value = self.take_from(returned);
                self.write(vd, value);
            }
            // A scalar that is returned as a value.
            (Dst::Scalar(want, d), _, _) => {
                let x = self.unbox(pc, returned, want);
                self.set_unit(returned);
                self.e.write(d, x);
            }
            (Dst::Nowhere, None, _) => {
                self.let_go(returned);
                self.set_unit(returned);
            }
            (Dst::Nowhere, ..) | (Dst::Val(_), Some(_), None) => {}
        }
    }

    /// The number of parts of the tuple that a call returns, if its type says that these are among them, and which scalars.
    fn parts_of_result(&self, pc: Pc, parts: &[(u32, Dst)]) -> Option<usize> {
        let f = self.source.f;
        let TypeKind::Tuple(types) = f.ctx().kind(f.ty(self.made_from(pc))) else { return None };
        let is_there = |&(index, dst): &(u32, Dst)| match (types.get(index as usize), dst) {
            (Some(&ty), Dst::Scalar(want, _)) => ty == want.ty(),
            (ty, _) => ty.is_some(),
        };
        parts.iter().all(is_there).then_some(types.len())
    }

    /// Takes parts out of a tuple of so many, whose types are known, and lets go of it.
    fn take_parts(&mut self, of: Place<E::Value>, parts: &[(u32, Dst)], count: usize) {
        let tuple = self.object(of);
        let base = self.parts_of(tuple, count);
        for &(index, dst) in parts {
            let part = Place { base, at: index as i32 * 16, area: Area::Fields };
            match dst {
                Dst::Scalar(ty, d) => {
                    let x = self.e.load(ty.mem(), part.area, part.base, part.at + 8);
                    self.e.write(d, x);
                }
                Dst::Val(vd) => {
                    let value = self.load_pair(part);
                    self.add_pointer(value);
                    self.write(vd, value);
                }
                Dst::Nowhere => {}
            }
        }
        self.let_go(of);
        self.set_unit(of);
    }

    /// Passes an operand to a place that holds `nothing`.
    pub(super) fn pass(&mut self, src: Src, place: Place<E::Value>) {
        let value = match src {
            // It holds `nothing` already.
            Src::Unit => return,
            Src::Scalar(ty, reg) => {
                let x = self.e.read(reg);
                return self.store_scalar(place, ty, x);
            }
            Src::Const(index) => self.constant_value(index),
            Src::Val(va) => self.copy_or_take(va, false),
            Src::Last(va) => self.copy_or_take(va, true),
        };
        self.store_pair(place, value);
    }
}
