//! The registers of values that may hold something.
//!
//! # Method
//! A forward data-flow analysis over the instructions. A frame begins with its arguments, and with nothing in all other
//! registers. What an instruction writes may hold something, and what it drops or moves elsewhere holds nothing then. An evaluated
//! op may leave an operand where it is, though it is the last use of it.
//!
//! # Why it is right
//! A frame that ends leaves nothing in its registers, boxed scalars neither: the next one at its place begins with that, and an
//! argument that is nothing is not written.
//!
//! # Cost
//! O(instructions), times the depth to which loops are nested.

use smallvec::SmallVec;

use super::super::source::Source;
use crate::interp::{Arg, Code, Inst, Reg, Scalar, Src, targets};

/// A set of the first 64 registers of values. All others may always hold something.
pub(super) type Registers = u64;

/// The set with one register, or none if that is not among the first.
fn only(reg: Reg) -> Registers {
    1u64.checked_shl(reg).unwrap_or(0)
}

/// Returns whether a register may hold something.
pub(super) fn may_hold(held: Registers, reg: Reg) -> bool {
    reg >= Registers::BITS || held & only(reg) != 0
}

/// For each instruction, the registers that may hold something before it.
pub(super) fn held(source: Source<'_>) -> Vec<Registers> {
    let code = source.code;
    let mut before: Vec<Registers> = vec![0; code.insts.len()];
    let mut reached = vec![false; code.insts.len()];
    let (start, at_first) = match source.start {
        // The frame of code that was at work before.
        Some(header) => (header, Registers::MAX),
        None => {
            let params = code.params.iter().filter(|&&ty| Scalar::of(ty).is_none()).count();
            (0, (0..params).fold(0, |all, reg| all | only(reg as Reg)))
        }
    };
    let mut left = vec![(start as usize, at_first)];
    while let Some((first, mut held)) = left.pop() {
        for pc in first..code.insts.len() {
            if reached[pc] && held & !before[pc] == 0 {
                break;
            }
            held |= before[pc];
            (before[pc], reached[pc]) = (held, true);
            let inst = code.insts[pc];
            held = behind(code, inst, held);
            left.extend(targets(inst, &code.switches).into_iter().map(|to| (to as usize, held)));
            if !inst.goes_on() {
                break;
            }
        }
    }
    before
}

/// The registers that may hold something behind an instruction, if these do before it.
fn behind(code: &Code, inst: Inst, mut held: Registers) -> Registers {
    match inst {
        Inst::Drop { va } | Inst::TakeVal { va, .. } => held &= !only(va),
        Inst::Call { site } => {
            for &arg in &code.calls[site as usize].args {
                if let Arg::Val(Src::Last(reg)) | Arg::Check(Src::Last(reg), _) = arg {
                    held &= !only(reg);
                }
            }
        }
        _ => {}
    }
    let mut written: SmallVec<[Reg; 4]> = SmallVec::new();
    code.val_writes(inst, &mut written);
    written.into_iter().fold(held, |held, reg| held | only(reg))
}
