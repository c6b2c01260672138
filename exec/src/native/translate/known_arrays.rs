//! Arrays that stay in one register, whose parts need not be looked up again and again.
//!
//! A register that is written once holds one array for as long as it is read. Its address is loaded where
//! it is written, and of an array that never changes its length so are the address of
//! its elements and its lengths.
//!
//! # Why it is right
//! An array of more than one dimension never changes its length. One of one dimension does so by ops that declare it, and by
//! what a call runs; a function with neither does not change any. One may have them before an error, with no branch between: there the parts
//! are looked up. Functions that catch errors are not translated.

use smallvec::SmallVec;

use super::super::source::Source;
use crate::interp::{Code, Inst, Reg, Scalar};

/// An array that stays in one register.
#[derive(Clone)]
pub(super) struct KnownArray<V> {
    pub(super) address: V,
    /// The address of the elements, and the lengths, if they never change.
    pub(super) parts: Option<(V, SmallVec<[V; 4]>)>,
}

/// The facts about the registers of values.
pub(super) struct Arrays<V> {
    /// By register: true if it is written once.
    pub(super) once: Vec<bool>,
    pub(super) known: Vec<Option<KnownArray<V>>>,
    /// True if the function changes no array's length before it ends.
    pub(super) keeps_lengths: bool,
    /// By instruction: true if nothing comes after it but an error.
    pub(super) ends: Vec<bool>,
}

impl<V: Copy> Arrays<V> {
    pub(super) fn of(source: Source<'_>) -> Self {
        let code = source.code;
        let mut writes = vec![0u32; code.val_regs as usize];
        let scalars = code.params.iter().filter(|&&ty| Scalar::of(ty).is_some()).count();
        let params = code.params.len() - scalars;
        writes.iter_mut().take(params).for_each(|count| *count = 1);
        let mut keeps_lengths = true;
        let ends = code.ends_with_error();
        for (&inst, &ends) in code.insts.iter().zip(&ends) {
            let mut regs: SmallVec<[Reg; 4]> = SmallVec::new();
            code.val_writes(inst, &mut regs);
            for reg in regs {
                writes[reg as usize] = writes[reg as usize].saturating_add(1);
            }
            keeps_lengths &= ends || keeps_all_lengths(code, inst);
        }
        let once = writes.into_iter().map(|count| count == 1).collect();
        Self { once, known: vec![None; code.val_regs as usize], keeps_lengths, ends }
    }

    /// Returns whether all of an array of so many dimensions is known from where it is written to a register.
    pub(super) fn is_known_for_good(&self, reg: Reg, rank: u8) -> bool {
        self.once[reg as usize] && self.are_fixed(rank)
    }

    /// Returns whether arrays of so many dimensions never change their lengths.
    pub(super) fn are_fixed(&self, rank: u8) -> bool {
        rank > 1 || self.keeps_lengths
    }
}

/// Returns whether an instruction changes no array's length.
pub(super) fn keeps_all_lengths(code: &Code, inst: Inst) -> bool {
    match inst {
        Inst::Call { .. } | Inst::Apply { .. } => false,
        Inst::Eval { site } => {
            let effects = code.evals[site as usize].def.effects;
            !effects.opaque && effects.writes_shape.is_empty()
        }
        _ => true,
    }
}
