//! The scalar registers that instructions read and write.

use smallvec::SmallVec;

use super::code::Code;
use super::inst::{Arg, Inst};
use super::register::{Dst, Reg, Src};

type Regs = SmallVec<[Reg; 8]>;

impl Code {
    /// Returns whether control goes back somewhere.
    pub(crate) fn has_loop(&self) -> bool {
        (0..).zip(&self.insts).any(|(pc, &inst)| {
            let mut back = false;
            super::set_target(&mut { inst }, |to| {
                back |= to <= pc;
                to
            });
            back
        })
    }

    /// Adds the scalar registers that an instruction reads.
    pub(crate) fn scalar_reads(&self, inst: Inst, regs: &mut Regs) {
        let srcs = |args: &[Src], regs: &mut Regs| {
            regs.extend(args.iter().filter_map(|src| match *src {
                Src::Scalar(_, reg) => Some(reg),
                _ => None,
            }));
        };
        match inst {
            Inst::Box { a, .. }
            | Inst::SetScalar { a, .. }
            | Inst::Return { a }
            | Inst::Mov { a, .. }
            | Inst::AddImm { a, .. }
            | Inst::NegI { a, .. }
            | Inst::NotI { a, .. }
            | Inst::NotBool { a, .. }
            | Inst::NegF { a, .. }
            | Inst::IntToF { a, .. }
            | Inst::JumpIf { a, .. }
            | Inst::JumpUnless { a, .. }
            | Inst::JumpEqImm { a, .. }
            | Inst::JumpNeImm { a, .. }
            | Inst::JumpLtImm { a, .. }
            | Inst::JumpGeImm { a, .. }
            | Inst::Switch { a, .. } => regs.push(a),
            Inst::AddI { a, b, .. }
            | Inst::SubI { a, b, .. }
            | Inst::MulI { a, b, .. }
            | Inst::AddI32 { a, b, .. }
            | Inst::SubI32 { a, b, .. }
            | Inst::MulI32 { a, b, .. }
            | Inst::And { a, b, .. }
            | Inst::Or { a, b, .. }
            | Inst::Xor { a, b, .. }
            | Inst::AddF { a, b, .. }
            | Inst::SubF { a, b, .. }
            | Inst::MulF { a, b, .. }
            | Inst::DivF { a, b, .. }
            | Inst::AddF32 { a, b, .. }
            | Inst::SubF32 { a, b, .. }
            | Inst::MulF32 { a, b, .. }
            | Inst::DivF32 { a, b, .. }
            | Inst::EqI { a, b, .. }
            | Inst::NeI { a, b, .. }
            | Inst::LtI { a, b, .. }
            | Inst::LeI { a, b, .. }
            | Inst::EqF { a, b, .. }
            | Inst::NeF { a, b, .. }
            | Inst::LtF { a, b, .. }
            | Inst::LeF { a, b, .. }
            | Inst::JumpEqI { a, b, .. }
            | Inst::JumpNeI { a, b, .. }
            | Inst::JumpLtI { a, b, .. }
            | Inst::JumpLeI { a, b, .. }
            | Inst::JumpEqF { a, b, .. }
            | Inst::JumpNeF { a, b, .. }
            | Inst::JumpLtF { a, b, .. }
            | Inst::JumpLeF { a, b, .. }
            | Inst::JumpNotLtF { a, b, .. }
            | Inst::JumpNotLeF { a, b, .. } => regs.extend([a, b]),
            Inst::Select { condition, a, b, .. } => regs.extend([condition, a, b.into()]),
            Inst::Scalar { function, a, b, c, .. } => {
                let count = self.functions[usize::from(function)].operands;
                regs.extend([a, b.into(), c.into()].into_iter().take(count.into()));
            }
            Inst::LoadF { i, .. } | Inst::LoadI { i, .. } | Inst::LoadScalar { i, .. } => {
                regs.push(i);
            }
            Inst::LoadF2 { i, j, .. } | Inst::LoadScalar2 { i, j, .. } => {
                regs.extend([i, j.into()]);
            }
            Inst::StoreF { a, i, .. }
            | Inst::StoreI { a, i, .. }
            | Inst::StoreScalar { a, i, .. } => regs.extend([a, i]),
            Inst::StoreF2 { a, i, j, .. } | Inst::StoreScalar2 { a, i, j, .. } => {
                regs.extend([a, i, j.into()]);
            }
            Inst::Probe { a, b, .. } | Inst::IndexEntries { a, b, .. } => {
                regs.extend([a, b.into()]);
            }
            Inst::Eval { site } | Inst::ReturnTuple { site } => {
                srcs(&self.evals[site as usize].args, regs);
            }
            Inst::Apply { site } => srcs(&self.applies[site as usize].args, regs),
            Inst::Call { site } => {
                regs.extend(self.calls[site as usize].args.iter().filter_map(|arg| match *arg {
                    Arg::Scalar(reg)
                    | Arg::Val(Src::Scalar(_, reg))
                    | Arg::Check(Src::Scalar(_, reg), _) => Some(reg),
                    _ => None,
                }));
            }
            Inst::MovVal { .. }
            | Inst::TakeVal { .. }
            | Inst::Drop { .. }
            | Inst::LoadConst { .. }
            | Inst::Unbox { .. }
            | Inst::Jump { .. }
            | Inst::SwitchVal { .. }
            | Inst::Length { .. }
            | Inst::GetF { .. }
            | Inst::GetI { .. }
            | Inst::GetVal { .. }
            | Inst::GetScalar { .. }
            | Inst::SetVal { .. }
            | Inst::Try { .. }
            | Inst::EndTry { .. }
            | Inst::Catch { .. }
            | Inst::EndCatch
            | Inst::RecordStart { .. }
            | Inst::RecordEnd { .. }
            | Inst::ReturnVal { .. }
            | Inst::ReturnConst { .. }
            | Inst::ReturnUnit
            | Inst::Unreachable => {}
        }
    }

    /// Adds the scalar registers that an instruction writes, of those that the runtime may run.
    pub(crate) fn scalar_writes(&self, inst: Inst, regs: &mut Regs) {
        let dst = |dst: Dst| match dst {
            Dst::Scalar(_, reg) => Some(reg),
            _ => None,
        };
        let (result, parts) = match inst {
            Inst::Unbox { d, .. }
            | Inst::Scalar { d, .. }
            | Inst::LoadF { d, .. }
            | Inst::LoadI { d, .. }
            | Inst::LoadF2 { d, .. }
            | Inst::LoadScalar { d, .. }
            | Inst::LoadScalar2 { d, .. }
            | Inst::Length { d, .. }
            | Inst::Probe { d, .. }
            | Inst::GetF { d, .. }
            | Inst::GetI { d, .. }
            | Inst::GetScalar { d, .. } => (Some(d), None),
            Inst::Eval { site } => (dst(self.evals[site as usize].dst), None),
            Inst::Call { site } => {
                let site = &self.calls[site as usize];
                (dst(site.dst), site.parts.as_deref())
            }
            Inst::Apply { site } => {
                let site = &self.applies[site as usize];
                (dst(site.dst), site.parts.as_deref())
            }
            _ => (None, None),
        };
        match parts {
            Some(parts) => regs.extend(parts.iter().filter_map(|&(_, part)| dst(part))),
            None => regs.extend(result),
        }
    }

    /// Returns whether an instruction writes to a scalar register.
    pub(crate) fn writes_scalar(&self, inst: Inst, reg: Reg) -> bool {
        match inst {
            Inst::Mov { d, .. }
            | Inst::AddI { d, .. }
            | Inst::AddImm { d, .. }
            | Inst::SubI { d, .. }
            | Inst::MulI { d, .. }
            | Inst::AddI32 { d, .. }
            | Inst::SubI32 { d, .. }
            | Inst::MulI32 { d, .. }
            | Inst::And { d, .. }
            | Inst::Or { d, .. }
            | Inst::Xor { d, .. }
            | Inst::NegI { d, .. }
            | Inst::NotI { d, .. }
            | Inst::NotBool { d, .. }
            | Inst::AddF { d, .. }
            | Inst::SubF { d, .. }
            | Inst::MulF { d, .. }
            | Inst::DivF { d, .. }
            | Inst::NegF { d, .. }
            | Inst::AddF32 { d, .. }
            | Inst::SubF32 { d, .. }
            | Inst::MulF32 { d, .. }
            | Inst::DivF32 { d, .. }
            | Inst::IntToF { d, .. }
            | Inst::Select { d, .. }
            | Inst::EqI { d, .. }
            | Inst::NeI { d, .. }
            | Inst::LtI { d, .. }
            | Inst::LeI { d, .. }
            | Inst::EqF { d, .. }
            | Inst::NeF { d, .. }
            | Inst::LtF { d, .. }
            | Inst::LeF { d, .. } => d == reg,
            inst => {
                let mut regs = Regs::new();
                self.scalar_writes(inst, &mut regs);
                regs.contains(&reg)
            }
        }
    }

    /// Adds the registers of values that an instruction writes something new to; one that it empties
    /// is not among them.
    pub(crate) fn val_writes(&self, inst: Inst, regs: &mut SmallVec<[Reg; 4]>) {
        let dst = |dst: Dst| match dst {
            Dst::Val(reg) => Some(reg),
            _ => None,
        };
        let (result, parts) = match inst {
            Inst::MovVal { vd, .. }
            | Inst::TakeVal { vd, .. }
            | Inst::LoadConst { vd, .. }
            | Inst::Box { vd, .. }
            | Inst::GetVal { vd, .. }
            | Inst::Catch { vd } => (Some(vd), None),
            Inst::Eval { site } => (dst(self.evals[site as usize].dst), None),
            Inst::Call { site } => {
                let site = &self.calls[site as usize];
                (dst(site.dst), site.parts.as_deref())
            }
            Inst::Apply { site } => {
                let site = &self.applies[site as usize];
                (dst(site.dst), site.parts.as_deref())
            }
            _ => (None, None),
        };
        regs.extend(result);
        regs.extend(parts.unwrap_or_default().iter().filter_map(|&(_, part)| dst(part)));
    }
}

impl Inst {
    /// Returns whether it is something else than an operation on scalars, a move of values, or a
    /// jump.
    pub(crate) fn touches_memory(self) -> bool {
        matches!(
            self,
            Self::LoadF { .. }
                | Self::LoadI { .. }
                | Self::LoadF2 { .. }
                | Self::StoreF { .. }
                | Self::StoreI { .. }
                | Self::StoreF2 { .. }
                | Self::LoadScalar { .. }
                | Self::LoadScalar2 { .. }
                | Self::StoreScalar { .. }
                | Self::StoreScalar2 { .. }
                | Self::Length { .. }
                | Self::Probe { .. }
                | Self::IndexEntries { .. }
                | Self::GetF { .. }
                | Self::GetI { .. }
                | Self::GetVal { .. }
                | Self::GetScalar { .. }
                | Self::SetScalar { .. }
                | Self::SetVal { .. }
        )
    }
}
