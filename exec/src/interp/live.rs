//! The scalar registers that are live where jumps go to.
//!
//! # Method
//! The usual equations, backwards over the instructions in their order, until nothing changes: once more than loops are
//! nested.
//!
//! # Cost
//! O(instructions · depth of loops), and a bit for each register and target of a jump.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::code::Code;
use super::inst::Pc;
use super::operands::targets;
use super::register::Reg;

/// A set of registers.
type Set = Box<[u64]>;

/// The live scalar registers of a function.
pub(crate) struct LiveScalars {
    /// By the target of a jump, and what comes after one that goes back.
    sets: FxHashMap<Pc, Set>,
}

impl LiveScalars {
    /// Finds those of a function.
    pub(crate) fn of(code: &Code) -> Self {
        let empty: Set = vec![0; code.classes.len().div_ceil(64)].into();
        let all = (0..).zip(&code.insts).flat_map(|(pc, &inst)| {
            let targets = targets(inst, &code.switches);
            let goes_back = inst.goes_on() && targets.iter().any(|&target| target <= pc);
            targets.into_iter().chain(goes_back.then_some(pc + 1))
        });
        let mut live = Self { sets: all.map(|target| (target, empty.clone())).collect() };
        let mut changed = true;
        while changed {
            changed = false;
            let mut now = empty.clone();
            for (pc, &inst) in (0..code.insts.len() as Pc).zip(&code.insts).rev() {
                if !inst.goes_on() {
                    now.fill(0);
                }
                for target in targets(inst, &code.switches) {
                    let there = &live.sets[&target];
                    now.iter_mut().zip(there).for_each(|(now, there)| *now |= there);
                }
                let mut regs: SmallVec<[Reg; 8]> = SmallVec::new();
                code.scalar_writes(inst, &mut regs);
                regs.iter().for_each(|reg| now[*reg as usize / 64] &= !(1 << (reg % 64)));
                regs.clear();
                code.scalar_reads(inst, &mut regs);
                regs.iter().for_each(|reg| now[*reg as usize / 64] |= 1 << (reg % 64));
                if let Some(set) = live.sets.get_mut(&pc)
                    && *set != now
                {
                    set.clone_from(&now);
                    changed = true;
                }
            }
        }
        live
    }

    /// The registers that are live at the target of a jump, or behind one that goes back, in order.
    pub(crate) fn at(&self, target: Pc) -> Vec<Reg> {
        let Some(set) = self.sets.get(&target) else { return Vec::new() };
        let regs = 0..set.len() as Reg * 64;
        regs.filter(|reg| set[*reg as usize / 64] & 1 << (reg % 64) != 0).collect()
    }
}
