//! The registers that instructions read and write, and the positions that they jump to.

use smallvec::SmallVec;

use super::code::{Code, SwitchTable};
use super::inst::{Arg, Inst, Pc};
use super::register::{Dst, Reg, Scalar, Src};

type Regs = SmallVec<[Reg; 8]>;

impl Code {
    /// Returns whether control goes back somewhere.
    pub(crate) fn has_loop(&self) -> bool {
        let goes_back = |(pc, &inst)| targets(inst, &self.switches).iter().any(|&to: &Pc| to <= pc);
        (0..).zip(&self.insts).any(goes_back)
    }

    /// Adds the scalar registers that an instruction reads.
    pub(crate) fn scalar_reads(&self, inst: Inst, regs: &mut Regs) {
        let srcs = |args: &[Src], regs: &mut Regs| {
            regs.extend(args.iter().filter_map(|src| match *src {
                Src::Scalar(_, reg) => Some(reg),
                _ => None,
            }));
        };
        match inst.general() {
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
            Inst::LoadScalar { i, .. } => regs.push(i),
            Inst::LoadScalar2 { i, j, .. } => regs.extend([i, j.into()]),
            Inst::StoreScalar { a, i, .. } => regs.extend([a, i]),
            Inst::StoreScalar2 { a, i, j, .. } => regs.extend([a, i, j.into()]),
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
            // The general form of these is another one.
            Inst::LoadF { .. }
            | Inst::LoadI { .. }
            | Inst::LoadF2 { .. }
            | Inst::StoreF { .. }
            | Inst::StoreI { .. }
            | Inst::StoreF2 { .. }
            | Inst::MovVal { .. }
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
            | Inst::Chunks
            | Inst::RecordStart { .. }
            | Inst::RecordEnd { .. }
            | Inst::ReturnVal { .. }
            | Inst::ReturnConst { .. }
            | Inst::ReturnUnit
            | Inst::Unreachable => {}
        }
    }

    /// Adds the scalar registers that an instruction writes.
    pub(crate) fn scalar_writes(&self, inst: Inst, regs: &mut Regs) {
        self.each_result(inst, |file, reg| {
            if file == File::Scalars {
                regs.push(reg);
            }
        });
    }

    /// Returns whether an instruction writes to a scalar register.
    pub(crate) fn writes_scalar(&self, inst: Inst, reg: Reg) -> bool {
        let mut writes = false;
        self.each_result(inst, |file, written| writes |= (file, written) == (File::Scalars, reg));
        writes
    }

    /// Adds the registers of values that an instruction writes something new to; one that it empties
    /// is not among them.
    pub(crate) fn val_writes(&self, inst: Inst, regs: &mut SmallVec<[Reg; 4]>) {
        self.each_result(inst, |file, reg| {
            if file == File::Vals {
                regs.push(reg);
            }
        });
    }

    /// Visits the registers that an instruction writes.
    fn each_result(&self, inst: Inst, mut visit: impl FnMut(File, Reg)) {
        let (dst, parts) = match inst {
            Inst::Eval { site } => (self.evals[site as usize].dst, None),
            Inst::Call { site } => {
                let site = &self.calls[site as usize];
                (site.dst, site.parts.as_deref())
            }
            Inst::Apply { site } => {
                let site = &self.applies[site as usize];
                (site.dst, site.parts.as_deref())
            }
            Inst::MovVal { vd, .. }
            | Inst::TakeVal { vd, .. }
            | Inst::LoadConst { vd, .. }
            | Inst::Box { vd, .. }
            | Inst::GetVal { vd, .. }
            | Inst::Catch { vd } => return visit(File::Vals, vd),
            inst => {
                if let Some(d) = inst.scalar_result() {
                    visit(File::Scalars, d);
                }
                return;
            }
        };
        let mut visit = |dst| match dst {
            Dst::Scalar(_, reg) => visit(File::Scalars, reg),
            Dst::Val(reg) => visit(File::Vals, reg),
            Dst::Nowhere => {}
        };
        match parts {
            Some(parts) => parts.iter().for_each(|&(_, part)| visit(part)),
            None => visit(dst),
        }
    }
}

/// The two files of registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum File {
    Scalars,
    Vals,
}

/// The positions that an instruction may jump to.
pub(crate) fn targets(mut inst: Inst, switches: &[SwitchTable]) -> SmallVec<[Pc; 2]> {
    let mut targets = SmallVec::new();
    if let Inst::Switch { table, .. } | Inst::SwitchVal { table, .. } = inst {
        let table = &switches[table as usize];
        targets.push(table.default);
        targets.extend(table.scalars.iter().map(|&(_, to)| to));
        targets.extend(table.vals.iter().map(|&(_, to)| to));
    }
    super::set_target(&mut inst, |to| {
        targets.push(to);
        to
    });
    targets
}

impl Inst {
    /// The same access to an array without what it knows of the type of the elements; any other
    /// instruction as it is.
    pub(crate) fn general(self) -> Self {
        match self {
            Self::LoadF { d, va, i } => Self::LoadScalar { ty: Scalar::F64, d, va, i },
            Self::LoadI { d, va, i } => Self::LoadScalar { ty: Scalar::I64, d, va, i },
            Self::LoadF2 { j, d, va, i } => Self::LoadScalar2 { ty: Scalar::F64, j, d, va, i },
            Self::StoreF { a, va, i } => Self::StoreScalar { ty: Scalar::F64, a, va, i },
            Self::StoreI { a, va, i } => Self::StoreScalar { ty: Scalar::I64, a, va, i },
            Self::StoreF2 { j, a, va, i } => Self::StoreScalar2 { ty: Scalar::F64, j, a, va, i },
            other => other,
        }
    }

    /// Returns whether it may run other code, or any op.
    pub(crate) fn runs_others(self) -> bool {
        matches!(self, Self::Eval { .. } | Self::Call { .. } | Self::Apply { .. })
    }

    /// The scalar register that it writes, unless it has a site.
    fn scalar_result(self) -> Option<Reg> {
        match self {
            Self::Mov { d, .. }
            | Self::AddI { d, .. }
            | Self::AddImm { d, .. }
            | Self::SubI { d, .. }
            | Self::MulI { d, .. }
            | Self::AddI32 { d, .. }
            | Self::SubI32 { d, .. }
            | Self::MulI32 { d, .. }
            | Self::And { d, .. }
            | Self::Or { d, .. }
            | Self::Xor { d, .. }
            | Self::NegI { d, .. }
            | Self::NotI { d, .. }
            | Self::NotBool { d, .. }
            | Self::AddF { d, .. }
            | Self::SubF { d, .. }
            | Self::MulF { d, .. }
            | Self::DivF { d, .. }
            | Self::NegF { d, .. }
            | Self::AddF32 { d, .. }
            | Self::SubF32 { d, .. }
            | Self::MulF32 { d, .. }
            | Self::DivF32 { d, .. }
            | Self::IntToF { d, .. }
            | Self::Select { d, .. }
            | Self::EqI { d, .. }
            | Self::NeI { d, .. }
            | Self::LtI { d, .. }
            | Self::LeI { d, .. }
            | Self::EqF { d, .. }
            | Self::NeF { d, .. }
            | Self::LtF { d, .. }
            | Self::LeF { d, .. }
            | Self::Unbox { d, .. }
            | Self::Scalar { d, .. }
            | Self::LoadF { d, .. }
            | Self::LoadI { d, .. }
            | Self::LoadF2 { d, .. }
            | Self::LoadScalar { d, .. }
            | Self::LoadScalar2 { d, .. }
            | Self::Length { d, .. }
            | Self::Probe { d, .. }
            | Self::GetF { d, .. }
            | Self::GetI { d, .. }
            | Self::GetScalar { d, .. } => Some(d),
            _ => None,
        }
    }

    /// Returns whether it is something else than an operation on scalars, a move of values, or a
    /// jump.
    pub(crate) fn touches_memory(self) -> bool {
        matches!(
            self.general(),
            Self::LoadScalar { .. }
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
