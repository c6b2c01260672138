//! Calls, and ops that have no instruction of their own.

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, Op, Operand, Symbol, Type, Value};

use super::super::code::{ApplySite, CallSite, EvalSite};
use super::super::code::{CodeCell, InlineCache};
use super::super::inst::{Arg, Inst};
use super::super::quick::Quick;
use super::super::register::{Dst, NOWHERE, Reg, Scalar, Src};
use super::Compiler;
use super::control::set_target;
use crate::error::{ErrorKind, Trap};
use crate::eval::{EvalRow, EvalTable};

impl Compiler<'_> {
    pub(super) fn inst(&mut self, v: Value) -> Result<(), Trap> {
        let Some(op) = self.f.op(v) else { return Ok(()) };
        if self.is_part(v) || self.is_returned(v) {
            return Ok(());
        }
        match op {
            core::CALL => {
                self.call(v);
                return Ok(());
            }
            core::TRY => {
                self.try_catch(v);
                return Ok(());
            }
            core::APPLY | core::SPLAT => {
                let args = self.f.operands(v).map(|operand| self.src(operand)).collect();
                self.apply(v, args, op == core::SPLAT, None);
                return Ok(());
            }
            _ => {}
        }
        if let Some(inst) = self.special(v, op) {
            self.emit(inst);
            return Ok(());
        }
        let site = self.eval_site(v, op)?;
        self.emit(Inst::Eval { site });
        Ok(())
    }

    fn eval_site(&mut self, v: Value, op: Op) -> Result<u32, Trap> {
        let def = self.f.ctx().def(op);
        let Some(EvalRow::Function(function)) =
            self.world.ctx.extensions().get::<EvalTable>().get(def)
        else {
            let message = format!("there is no evaluation function for `{}`", def.name);
            return Err(Trap::of_kind(ErrorKind::Module, message));
        };
        let args = self.f.operands(v).map(|operand| self.src(operand)).collect();
        let (dst, ty, attrs) = (self.dsts[v.index()], self.f.ty(v), self.f.attrs(v));
        let quick = Quick::of(self.f, v, op);
        self.evals.push(EvalSite { function, quick, def, args, dst, ty, attrs });
        Ok(self.evals.len() as u32 - 1)
    }

    /// Returns a tuple that is made for that; `false` if it is another value.
    pub(super) fn return_tuple(&mut self, value: Operand) -> bool {
        let Some(v) = value.as_value().filter(|&v| self.is_returned(v)) else { return false };
        let Ok(site) = self.eval_site(v, core::TUPLE) else { return false };
        self.emit(Inst::ReturnTuple { site });
        true
    }

    /// The type that a result still has to be checked for, if what comes is only known as
    /// `have`. Scalars are checked when they are taken out of their value.
    pub(super) fn check(&self, v: Value, have: Type) -> Option<Type> {
        let want = self.f.ty(v);
        let known =
            have.is_assignable_to(want) || Scalar::of(want).is_some() || want == Type::NEVER;
        (!known).then_some(want)
    }

    fn call(&mut self, v: Value) {
        let args: Vec<(Src, Type)> = self.typed(v).skip(1).collect();
        self.call_of(v, 0, args);
    }

    /// The places of the operands of an instruction, with their types.
    fn typed(&mut self, v: Value) -> std::vec::IntoIter<(Src, Type)> {
        let operands: Vec<Operand> = self.f.operands(v).collect();
        let typed = operands.into_iter().map(|o| (self.src(o), self.f.operand_type(o)));
        typed.collect::<Vec<_>>().into_iter()
    }

    /// ```text
    ///     Try handler
    ///     Call body
    ///     EndTry handler
    ///     Jump end
    /// handler:
    ///     Catch error
    ///     Call handler
    ///     EndCatch
    /// end:
    /// ```
    fn try_catch(&mut self, v: Value) {
        let captures: Vec<(Src, Type)> = self.typed(v).skip(2).collect();
        let start = self.insts.len();
        self.emit(Inst::Try { to: 0 });
        self.call_of(v, 0, captures.clone());
        let end = self.insts.len();
        self.emit(Inst::EndTry { to: 0 });
        self.emit(Inst::Jump { to: 0 });
        let handler = self.pc();
        set_target(&mut self.insts[start], |_| handler);
        set_target(&mut self.insts[end], |_| handler);
        let error = self.new_val();
        self.emit(Inst::Catch { vd: error });
        let mut args = vec![(Src::Val(error), Type::ANY)];
        args.extend(captures);
        self.call_of(v, 1, args);
        self.emit(Inst::EndCatch);
        let after = self.pc();
        set_target(&mut self.insts[end + 1], |_| after);
    }

    /// Calls the function that is the operand of `v` at `callee`; its result is that of `v`.
    fn call_of(&mut self, v: Value, callee: usize, given: Vec<(Src, Type)>) {
        let callee = self.f.operand(v, callee).and_then(|callee| self.f.const_func(callee));
        let Some(name) = callee else { return };
        // An error of the call resolver comes again, at the call, if control ever gets there.
        let callee = self.world.lookup(name, None).ok().flatten();
        let signature = callee.and_then(|callee| self.world.slot(callee).signature());
        let (callee, params, ret) = match (callee, signature) {
            (Some(callee), Some((params, ret))) if params.len() == given.len() => {
                (callee, params, ret)
            }
            _ => {
                // There is none, or it takes another number of arguments: the error is made by
                // the way that looks at it.
                let callee = self.val_const(Constant::Func(name));
                let mut args = vec![Src::Const(callee)];
                args.extend(given.into_iter().map(|(src, _)| src));
                self.apply(v, args.into(), false, Some(name));
                return;
            }
        };
        let mut args = Vec::with_capacity(params.len());
        for ((src, have), &want) in given.into_iter().zip(params) {
            args.push(match (src, Scalar::of(want)) {
                (Src::Scalar(have, reg), Some(want)) if have == want => Arg::Scalar(reg),
                (Src::Val(reg), Some(want)) => Arg::Unbox(want, reg),
                (src, None) if have.is_assignable_to(want) => Arg::Val(src),
                (src, None) => Arg::Check(src, want),
                // What cannot fit goes through a value, so that the check finds it.
                (src, Some(want)) => {
                    let temp = self.new_val();
                    self.move_to_val(temp, src);
                    Arg::Unbox(want, temp)
                }
            });
        }
        let (dst, check) = (self.dsts[v.index()], self.check(v, ret));
        let parts = self.taken_parts(v);
        let direct = match (dst, Scalar::of(ret)) {
            (Dst::Scalar(ty, d), Some(ret)) if ty == ret => Some(d),
            (Dst::Val(d), None) if check.is_none() && parts.is_none() => Some(d),
            (Dst::Nowhere, None) if check.is_none() && parts.is_none() => Some(NOWHERE),
            _ => None,
        };
        let scalars = args.iter().map(|arg| match *arg {
            Arg::Scalar(reg) => Some(reg),
            _ => None,
        });
        let scalars = scalars.collect();
        let (args, code) = (args.into(), CodeCell::default());
        self.calls.push(CallSite { callee, code, args, scalars, dst, direct, check, parts });
        self.emit(Inst::Call { site: self.calls.len() as u32 - 1 });
    }

    fn apply(&mut self, v: Value, args: Box<[Src]>, splat: bool, by_name: Option<Symbol>) {
        let (dst, check) = (self.dsts[v.index()], self.check(v, Type::ANY));
        let (cache, parts) = (InlineCache::default(), self.taken_parts(v));
        let terminator = Value::terminator(self.f.block_of(v));
        let fails = self.f.op(terminator) == Some(cf::UNREACHABLE)
            && self.f.next_inst(v).is_none_or(|next| next == terminator);
        self.applies.push(ApplySite { args, dst, check, parts, splat, by_name, fails, cache });
        self.emit(Inst::Apply { site: self.applies.len() as u32 - 1 });
    }

    pub(super) fn move_to_val(&mut self, vd: Reg, src: Src) {
        match src {
            Src::Scalar(ty, a) => self.emit(Inst::Box { ty, vd, a }),
            Src::Val(va) | Src::Last(va) if va == vd => {}
            Src::Val(va) | Src::Last(va) => self.emit(Inst::MovVal { vd, va }),
            Src::Const(index) => self.emit(Inst::LoadConst { vd, index }),
            Src::Unit => {
                let index = self.val_const(Constant::Unit);
                self.emit(Inst::LoadConst { vd, index });
            }
        }
    }
}
