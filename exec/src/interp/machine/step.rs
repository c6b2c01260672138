//! One instruction on the frame of native code, as the loop of the interpreter runs it.
//!
//! Native code has those here that it does not do itself, and those that it found to fail: they
//! make the same error then.

use super::super::code::Code;
use super::super::inst::{Inst, Pc};
use super::super::register::{Reg, Scalar};
use super::Machine;
use super::access::{access_error, field, field_error, load_slot, position, set_field, store_slot};
use super::transfer::assign;
use crate::error::Trap;
use crate::value::{Array, Val};

impl<'a> Machine<'a> {
    /// Runs an instruction of native code on its frame.
    pub(super) fn step(
        &mut self,
        code: &'a Code,
        pc: Pc,
        (s, v): (usize, usize),
    ) -> Result<(), Trap> {
        macro_rules! get {
            ($r:expr) => {
                self.scalars[s + $r as usize]
            };
        }
        macro_rules! val {
            ($r:expr) => {
                self.vals[v + $r as usize]
            };
        }
        macro_rules! access {
            ($va:expr, [$($index:expr),*], $array:ident => $access:expr) => {{
                let access = |$array: &Array| $access;
                match &val!($va) {
                    Val::Array(array) if let Some(x) = access(array) => x,
                    other => {
                        return Err(access_error(
                            self.texts(),
                            other,
                            &[$(get!($index) as i64),*],
                        ));
                    }
                }
            }};
        }
        let scalar_field = |value: &Val, index: u32, ty: Scalar| {
            let slot = field(value, index as usize).and_then(|item| ty.unboxed(&item));
            slot.ok_or_else(|| field_error(index))
        };
        match code.insts[pc as usize].general() {
            Inst::Eval { site } => self.eval(code, site, s, v)?,
            Inst::Call { site } => {
                let site = &code.calls[site as usize];
                self.check_depth()?;
                let callee = self.compiled(site.callee)?;
                let next = (s + code.scalar_regs as usize, v + code.val_regs as usize);
                self.push_frame(callee, next.0, next.1)?;
                self.pass(code, &site.args, (s, v), next)?;
                self.call_from_native(code, pc, (s, v), callee, next)?;
            }
            Inst::Apply { site } => {
                let site = &code.applies[site as usize];
                self.check_depth()?;
                let next = (s + code.scalar_regs as usize, v + code.val_regs as usize);
                if let Some(callee) = self.apply(code, site, (s, v), next)? {
                    self.call_from_native(code, pc, (s, v), callee, next)?;
                }
            }
            Inst::Unbox { ty, d, va } => match ty.unboxed(&val!(va)) {
                Some(slot) => get!(d) = slot,
                None => return Err(self.wrong_type(&val!(va), ty.ty())),
            },
            Inst::Scalar { function, d, a, b, c } => {
                let function = code.functions[usize::from(function)];
                get!(d) = (function.call)(get!(a), get!(Reg::from(b)), get!(Reg::from(c)))?;
            }
            Inst::LoadScalar { ty, d, va, i } => {
                get!(d) = access!(va, [i], a => load_slot(a, position(get!(i)), ty));
            }
            Inst::LoadScalar2 { ty, j, d, va, i } => {
                let at = [get!(i) as i64, get!(j) as i64];
                get!(d) = access!(va, [i, j], a => load_slot(a, a.offset(&at)?, ty));
            }
            Inst::StoreScalar { ty, a, va, i } => {
                let x = get!(a);
                access!(va, [i], to => store_slot(to, position(get!(i)), ty, x).then_some(()));
            }
            Inst::StoreScalar2 { ty, j, a, va, i } => {
                let (x, at) = (get!(a), [get!(i) as i64, get!(j) as i64]);
                access!(va, [i, j], to => store_slot(to, to.offset(&at)?, ty, x).then_some(()));
            }
            Inst::Length { d, va } => get!(d) = access!(va, [], a => Some(a.len() as u64)),
            Inst::Probe { b, d, va, a } => {
                let (hash, after) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                let found = access!(va, [], a => Some(a.buffer::<i32>()?.probe(hash, after)));
                get!(d) = found as u64;
            }
            Inst::IndexEntries { b, va, vb, a } => {
                let (first, last) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                self.index_entries(&val!(va), &val!(vb), first, last)?;
            }
            Inst::GetF { d, va, index } => get!(d) = scalar_field(&val!(va), index, Scalar::F64)?,
            Inst::GetI { d, va, index } => get!(d) = scalar_field(&val!(va), index, Scalar::I64)?,
            Inst::GetVal { vd, va, index } => {
                let item = field(&val!(va), index as usize).ok_or_else(|| field_error(index))?;
                assign(&mut val!(vd), item);
            }
            Inst::GetScalar { ty, index, d, va } => {
                get!(d) = scalar_field(&val!(va), index.into(), ty)?;
            }
            Inst::SetScalar { ty, index, a, va } => {
                let value = ty.boxed(get!(a));
                if !set_field(&val!(va), index.into(), value) {
                    return Err(field_error(index.into()));
                }
            }
            Inst::SetVal { index, vb, va } => {
                let value = val!(vb).clone();
                if !set_field(&val!(va), index.into(), value) {
                    return Err(field_error(index.into()));
                }
            }
            Inst::Unreachable => {
                return Err(regraft_dialects::semantics::Trap::Unreachable.into());
            }
            inst => {
                return Err(Trap::type_error(format!("native code has no way to run {inst:?}")));
            }
        }
        Ok(())
    }
}
