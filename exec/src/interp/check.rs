//! Checks compact code before it runs, so that the loop that runs it need not.

use super::code::{CallSite, Code};
use super::inst::{Inst, Pc};
use super::register::{Dst, Reg};

impl Code {
    /// Checks what the loop that runs the code relies on without looking.
    ///
    /// # Panics
    /// If a scalar register or the target of a jump is out of bounds, or if the code runs on
    /// past its end: a mistake of the compiler.
    pub(crate) fn assert_in_bounds(&self) {
        let len = self.insts.len();
        let reg = |r: Reg| assert!(r < self.scalar_regs, "register {r} of {}", self.scalar_regs);
        let regs = |all: &[Reg]| all.iter().copied().for_each(reg);
        let target = |to: Pc| assert!((to as usize) < len, "target {to} of {len}");
        for inst in &self.insts {
            match *inst {
                Inst::MovVal { .. }
                | Inst::TakeVal { .. }
                | Inst::Drop { .. }
                | Inst::LoadConst { .. }
                | Inst::GetVal { .. }
                | Inst::SetVal { .. }
                | Inst::Eval { .. }
                | Inst::Call { .. }
                | Inst::Apply { .. }
                | Inst::Catch { .. }
                | Inst::EndCatch
                | Inst::Chunks
                | Inst::RecordStart { .. }
                | Inst::RecordEnd { .. }
                | Inst::ReturnVal { .. }
                | Inst::ReturnConst { .. }
                | Inst::ReturnUnit
                | Inst::ReturnTuple { .. }
                | Inst::Unreachable => {}
                Inst::Box { a, .. } | Inst::Return { a } | Inst::SetScalar { a, .. } => reg(a),
                Inst::Unbox { d, .. }
                | Inst::Length { d, .. }
                | Inst::GetF { d, .. }
                | Inst::GetScalar { d, .. }
                | Inst::GetI { d, .. } => reg(d),
                Inst::Mov { d, a }
                | Inst::AddImm { d, a, .. }
                | Inst::NegI { d, a }
                | Inst::NotI { d, a }
                | Inst::NotBool { d, a }
                | Inst::NegF { d, a }
                | Inst::IntToF { d, a } => regs(&[d, a]),
                Inst::AddI { d, a, b }
                | Inst::SubI { d, a, b }
                | Inst::MulI { d, a, b }
                | Inst::AddI32 { d, a, b }
                | Inst::SubI32 { d, a, b }
                | Inst::MulI32 { d, a, b }
                | Inst::And { d, a, b }
                | Inst::Or { d, a, b }
                | Inst::Xor { d, a, b }
                | Inst::AddF { d, a, b }
                | Inst::SubF { d, a, b }
                | Inst::MulF { d, a, b }
                | Inst::DivF { d, a, b }
                | Inst::AddF32 { d, a, b }
                | Inst::SubF32 { d, a, b }
                | Inst::MulF32 { d, a, b }
                | Inst::DivF32 { d, a, b }
                | Inst::EqI { d, a, b }
                | Inst::NeI { d, a, b }
                | Inst::LtI { d, a, b }
                | Inst::LeI { d, a, b }
                | Inst::EqF { d, a, b }
                | Inst::NeF { d, a, b }
                | Inst::LtF { d, a, b }
                | Inst::LeF { d, a, b } => regs(&[d, a, b]),
                Inst::Select { d, condition, a, b } => regs(&[d, condition, a, Reg::from(b)]),
                Inst::Jump { to } | Inst::Try { to } | Inst::EndTry { to } => target(to),
                Inst::JumpIf { a, to }
                | Inst::JumpUnless { a, to }
                | Inst::JumpEqImm { a, to, .. }
                | Inst::JumpNeImm { a, to, .. }
                | Inst::JumpLtImm { a, to, .. }
                | Inst::JumpGeImm { a, to, .. } => {
                    reg(a);
                    target(to);
                }
                Inst::JumpEqI { a, b, to }
                | Inst::JumpNeI { a, b, to }
                | Inst::JumpLtI { a, b, to }
                | Inst::JumpLeI { a, b, to }
                | Inst::JumpEqF { a, b, to }
                | Inst::JumpNeF { a, b, to }
                | Inst::JumpLtF { a, b, to }
                | Inst::JumpLeF { a, b, to }
                | Inst::JumpNotLtF { a, b, to }
                | Inst::JumpNotLeF { a, b, to } => {
                    regs(&[a, b]);
                    target(to);
                }
                Inst::Switch { a, .. } => reg(a),
                Inst::SwitchVal { .. } => {}
                Inst::LoadF { d, i, .. }
                | Inst::LoadI { d, i, .. }
                | Inst::LoadScalar { d, i, .. } => regs(&[d, i]),
                Inst::StoreF { a, i, .. }
                | Inst::StoreI { a, i, .. }
                | Inst::StoreScalar { a, i, .. } => regs(&[a, i]),
                Inst::Probe { b, d, a, .. } => regs(&[d, a, Reg::from(b)]),
                Inst::IndexEntries { b, a, .. } => regs(&[a, Reg::from(b)]),
                Inst::LoadF2 { j, d, i, .. } | Inst::LoadScalar2 { j, d, i, .. } => {
                    regs(&[d, i, Reg::from(j)]);
                }
                Inst::StoreF2 { j, a, i, .. } | Inst::StoreScalar2 { j, a, i, .. } => {
                    regs(&[a, i, Reg::from(j)]);
                }
                Inst::Scalar { d, a, b, c, .. } => regs(&[d, a, b.into(), c.into()]),
            }
        }
        // Only scalar registers are used without a look at their number.
        let scalar = |site: &CallSite| site.direct.filter(|_| matches!(site.dst, Dst::Scalar(..)));
        self.calls.iter().filter_map(scalar).for_each(reg);
        self.calls.iter().filter_map(|site| site.scalars.as_deref()).for_each(regs);
        for table in &self.switches {
            target(table.default);
            table.scalars.iter().for_each(|&(_, to)| target(to));
            table.vals.iter().for_each(|&(_, to)| target(to));
        }
        let ends = self.insts.last().is_some_and(|inst| !inst.goes_on());
        assert!(ends, "the code ends with what goes on");
    }
}
