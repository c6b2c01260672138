//! Functions that are a few operations on scalars, run in place when they are called as values.
//!
//! For two integers, a generic function such as `+` comes down to one instruction. A
//! frame would cost several times as much as that. Such code has no jumps, calls or traps, and
//! knows only scalar registers, so a handful of them on our own stack is all it needs.

use super::code::Code;
use super::inst::Inst;
use super::register::Reg;

/// The registers there are room for.
pub(super) const LEAF_REGS: usize = 8;

/// The most instructions, so that what a run does between two looks at its fuel stays small.
const LEAF_INSTS: usize = 8;

impl Code {
    /// Returns whether [`run`] can run the code.
    pub(super) fn is_leaf(&self) -> bool {
        self.scalar_regs as usize <= LEAF_REGS
            && self.val_regs == 0
            && self.insts.len() <= LEAF_INSTS
            && matches!(self.insts.last(), Some(Inst::Return { .. }))
            && {
                let mut regs = [0; LEAF_REGS];
                self.insts.iter().all(|&inst| step(inst, &mut regs).is_some())
            }
    }
}

/// Runs code that [is a leaf](Code::is_leaf), with the arguments in the first registers.
#[inline]
pub(super) fn run(code: &Code, regs: &mut [u64; LEAF_REGS]) -> u64 {
    let constants = code.scalar_params as usize;
    for (place, &constant) in regs[constants..].iter_mut().zip(&code.scalars) {
        *place = constant;
    }
    for &inst in &code.insts {
        if let Some(Some(result)) = step(inst, regs) {
            return result;
        }
    }
    // A leaf ends with a return.
    0
}

/// Runs one instruction; `None` if it is none that a leaf may have, `Some(Some(..))` if it
/// returns.
#[inline(always)]
fn step(inst: Inst, regs: &mut [u64; LEAF_REGS]) -> Option<Option<u64>> {
    // The mask costs less than a check, and changes nothing: registers are below it.
    let get = |regs: &[u64; LEAF_REGS], r: Reg| regs[r as usize % LEAF_REGS];
    let (d, x) = {
        let int = |r: Reg| get(regs, r) as i64;
        let float = |r: Reg| f64::from_bits(get(regs, r));
        match inst {
            Inst::Return { a } => return Some(Some(get(regs, a))),
            Inst::Mov { d, a } => (d, get(regs, a)),
            Inst::AddI { d, a, b } => (d, int(a).wrapping_add(int(b)) as u64),
            Inst::AddImm { d, a, imm } => (d, int(a).wrapping_add(i64::from(imm)) as u64),
            Inst::SubI { d, a, b } => (d, int(a).wrapping_sub(int(b)) as u64),
            Inst::MulI { d, a, b } => (d, int(a).wrapping_mul(int(b)) as u64),
            Inst::NegI { d, a } => (d, int(a).wrapping_neg() as u64),
            Inst::NotBool { d, a } => (d, get(regs, a) ^ 1),
            Inst::And { d, a, b } => (d, get(regs, a) & get(regs, b)),
            Inst::Or { d, a, b } => (d, get(regs, a) | get(regs, b)),
            Inst::AddF { d, a, b } => (d, (float(a) + float(b)).to_bits()),
            Inst::SubF { d, a, b } => (d, (float(a) - float(b)).to_bits()),
            Inst::MulF { d, a, b } => (d, (float(a) * float(b)).to_bits()),
            Inst::DivF { d, a, b } => (d, (float(a) / float(b)).to_bits()),
            Inst::NegF { d, a } => (d, (-float(a)).to_bits()),
            Inst::IntToF { d, a } => (d, (int(a) as f64).to_bits()),
            Inst::EqI { d, a, b } => (d, u64::from(get(regs, a) == get(regs, b))),
            Inst::NeI { d, a, b } => (d, u64::from(get(regs, a) != get(regs, b))),
            Inst::LtI { d, a, b } => (d, u64::from(int(a) < int(b))),
            Inst::LeI { d, a, b } => (d, u64::from(int(a) <= int(b))),
            Inst::EqF { d, a, b } => (d, u64::from(float(a) == float(b))),
            Inst::NeF { d, a, b } => (d, u64::from(float(a) != float(b))),
            Inst::LtF { d, a, b } => (d, u64::from(float(a) < float(b))),
            Inst::LeF { d, a, b } => (d, u64::from(float(a) <= float(b))),
            _ => return None,
        }
    };
    regs[d as usize % LEAF_REGS] = x;
    Some(None)
}
