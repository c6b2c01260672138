//! Values on their way into and out of registers.

use regraft_ir::Type;
use smallvec::SmallVec;

use super::super::code::{Code, EvalSite};
use super::super::inst::{Arg, Inst, Pc};
use super::super::quick::Quick;
use super::super::register::{Dst, Scalar, Src};
use super::super::state::Frame;
use super::Machine;
use super::access::field;
use crate::error::Trap;
use crate::eval::EvalCx;
use crate::value::Val;

/// The number of operands that most ops have at most.
const INLINE: usize = 6;

impl Machine<'_> {
    /// Stores what a call returned where the call site wants it.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        code: &Code,
        pc: Pc,
        s: usize,
        v: usize,
        ret: Type,
        result: Returned,
    ) -> Result<(), Trap> {
        let Some((dst, check, parts)) = results(code, pc) else { return Ok(()) };
        if let Some(parts) = parts {
            if matches!(result, Returned::Parts) {
                return Ok(());
            }
            let value = result.into_val(ret);
            return match check {
                Some(want) if !value.is_a(&self.world.ctx, want) => {
                    Err(self.wrong_type(&value, want))
                }
                _ => self.put_parts(parts, s, v, &value),
            };
        }
        if let Some(want) = check {
            let value = result.into_val(ret);
            if !value.is_a(&self.world.ctx, want) {
                return Err(self.wrong_type(&value, want));
            }
            return self.put(dst, s, v, value);
        }
        match (dst, result) {
            (Dst::Scalar(want, d), Returned::Scalar(slot)) if want.ty() == ret => {
                self.scalars[s + d as usize] = slot;
                Ok(())
            }
            (dst, result) => self.put(dst, s, v, result.into_val(ret)),
        }
    }

    /// Stores a value, which has to be of the type of a scalar register.
    pub(super) fn put(&mut self, dst: Dst, s: usize, v: usize, value: Val) -> Result<(), Trap> {
        match dst {
            Dst::Val(reg) => assign(&mut self.vals[v + reg as usize], value),
            Dst::Nowhere => {}
            Dst::Scalar(ty, reg) => match ty.unboxed(&value) {
                Some(slot) => self.scalars[s + reg as usize] = slot,
                None => return Err(self.wrong_type(&value, ty.ty())),
            },
        }
        Ok(())
    }

    /// Stores the parts of a value.
    fn put_parts(
        &mut self,
        parts: &[(u32, Dst)],
        s: usize,
        v: usize,
        value: &Val,
    ) -> Result<(), Trap> {
        for &(index, dst) in parts {
            let Some(part) = field(value, index as usize) else {
                let ty = self.texts().type_of(value);
                return Err(crate::error::out_of_bounds(&ty, &[i64::from(index) + 1]));
            };
            self.put(dst, s, v, part)?;
        }
        Ok(())
    }

    /// Returns the result of a function that would be a tuple of these operands: the parts go to
    /// where the caller wants them, if it wants parts.
    pub(super) fn return_tuple(
        &mut self,
        code: &Code,
        site: &EvalSite,
        (s, v): (usize, usize),
    ) -> Result<Returned, Trap> {
        let caller = self.frames.last().copied();
        if let Some(Frame { code: by, pc, scalars, vals, .. }) = caller
            && let Some((_, None, Some(parts))) = results(by, pc)
            && parts.iter().all(|&(index, _)| (index as usize) < site.args.len())
        {
            for &(index, dst) in parts {
                let part = self.operand(code, site.args[index as usize], s, v);
                self.put(dst, scalars, vals, part)?;
            }
            return Ok(Returned::Parts);
        }
        let tuple = self.quick(code, site, (s, v))?;
        Ok(Returned::Val(tuple.unwrap_or(Val::Unit)))
    }

    /// The value of an operand, which is moved out at its last use.
    #[inline(always)]
    pub(super) fn operand(&mut self, code: &Code, src: Src, s: usize, v: usize) -> Val {
        match src {
            Src::Last(reg) => std::mem::replace(&mut self.vals[v + reg as usize], Val::Unit),
            src => self.copied(code, src, s, v),
        }
    }

    /// The value of an operand, which stays where it is.
    #[inline(always)]
    pub(super) fn copied(&self, code: &Code, src: Src, s: usize, v: usize) -> Val {
        match src {
            Src::Scalar(ty, reg) => ty.boxed(self.scalars[s + reg as usize]),
            Src::Val(reg) | Src::Last(reg) => self.vals[v + reg as usize].clone(),
            Src::Const(index) => code.vals[index as usize].clone(),
            Src::Unit => Val::Unit,
        }
    }

    pub(super) fn eval(&mut self, code: &Code, site: u32, s: usize, v: usize) -> Result<(), Trap> {
        let site = &code.evals[site as usize];
        if site.quick != Quick::None
            && let Some(value) = self.quick(code, site, (s, v))?
        {
            for &arg in &site.args {
                if let Src::Last(reg) = arg {
                    assign(&mut self.vals[v + reg as usize], Val::Unit);
                }
            }
            return self.put(site.dst, s, v, value);
        }
        if site.args.len() > INLINE {
            return self.eval_many(code, site, s, v);
        }
        let mut args: SmallVec<[Val; INLINE]> = SmallVec::new();
        for &src in &site.args {
            args.push(self.operand(code, src, s, v));
        }
        let value = self.call_eval(site, &args)?;
        self.put(site.dst, s, v, value)
    }

    #[inline]
    fn call_eval(&mut self, site: &EvalSite, args: &[Val]) -> Result<Val, Trap> {
        let &EvalSite { function, def, ty, attrs, .. } = site;
        let host = &mut self.state.host;
        let value = function(&mut EvalCx { ctx: &self.world.ctx, def, ty, attrs, host }, args);
        if let Some(changed) = host.take_changed() {
            self.world.detach(&changed);
        }
        value
    }

    /// The same for an op with many operands, such as a long tuple.
    #[inline(never)]
    fn eval_many(&mut self, code: &Code, site: &EvalSite, s: usize, v: usize) -> Result<(), Trap> {
        let mut args = std::mem::take(&mut self.state.operands);
        args.extend(site.args.iter().map(|&src| self.operand(code, src, s, v)));
        let value = self.call_eval(site, &args);
        args.clear();
        self.state.operands = args;
        self.put(site.dst, s, v, value?)
    }

    /// Passes the arguments of a direct call into the frame of the callee.
    pub(super) fn pass(
        &mut self,
        code: &Code,
        args: &[Arg],
        (s, v): (usize, usize),
        (mut callee_s, mut callee_v): (usize, usize),
    ) -> Result<(), Trap> {
        for &arg in args {
            let value = match arg {
                Arg::Scalar(reg) => {
                    self.scalars[callee_s] = self.scalars[s + reg as usize];
                    callee_s += 1;
                    continue;
                }
                Arg::Unbox(ty, reg) => {
                    let value = &self.vals[v + reg as usize];
                    match ty.unboxed(value) {
                        Some(slot) => self.scalars[callee_s] = slot,
                        None => return Err(self.wrong_type(value, ty.ty())),
                    }
                    callee_s += 1;
                    continue;
                }
                Arg::Val(src) => self.operand(code, src, s, v),
                Arg::Check(src, want) => {
                    let value = self.operand(code, src, s, v);
                    if !value.is_a(&self.world.ctx, want) {
                        return Err(self.wrong_type(&value, want));
                    }
                    value
                }
            };
            assign(&mut self.vals[callee_v], value);
            callee_v += 1;
        }
        Ok(())
    }
}

/// The place of the result of the call at `pc`, its type if it is still to be checked, and the places
/// of its parts, if only they are used.
#[inline(always)]
#[allow(clippy::type_complexity)]
fn results(code: &Code, pc: Pc) -> Option<(Dst, Option<Type>, Option<&[(u32, Dst)]>)> {
    Some(match code.insts[pc as usize] {
        Inst::Call { site } => {
            let site = &code.calls[site as usize];
            (site.dst, site.check, site.parts.as_deref())
        }
        Inst::Apply { site } => {
            let site = &code.applies[site as usize];
            (site.dst, site.check, site.parts.as_deref())
        }
        _ => return None,
    })
}

/// Puts a value in the place of another.
#[inline(always)]
pub(super) fn assign(place: &mut Val, value: Val) {
    std::mem::replace(place, value).discard();
}

/// The result of a function.
pub(crate) enum Returned {
    Scalar(u64),
    Val(Val),
    /// Its parts are where the caller wants them.
    Parts,
}

impl Returned {
    /// The result of native code: a scalar, or the value in the first register of its frame, which starts at `v`.
    #[inline]
    pub(super) fn of_registers(code: &Code, scalar: u64, vals: &mut [Val], v: usize) -> Self {
        match Scalar::of(code.ret) {
            Some(_) => Self::Scalar(scalar),
            None => Self::Val(std::mem::replace(&mut vals[v], Val::Unit)),
        }
    }

    pub(super) fn into_val(self, ty: Type) -> Val {
        match (self, Scalar::of(ty)) {
            (Self::Scalar(slot), Some(ty)) => ty.boxed(slot),
            (Self::Scalar(_), None) | (Self::Parts, _) => Val::Unit,
            (Self::Val(value), _) => value,
        }
    }
}
