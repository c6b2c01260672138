//! The loops of compact code, and the arrays that stay in one register while one runs.
//!
//! # Method
//! A loop is what stands from the target of a jump back to the last such jump. If control comes to its instructions through the first
//! of them alone, a register that none of them writes to holds one array in all of them, whatever it holds elsewhere: the state of
//! a simulation, which each step hands to the next one. Its address is loaded on the way into the loop, and so are the address of its
//! elements and its lengths if nothing within changes the length of any array.
//!
//! # Why it is right
//! A register that nothing in the loop writes to holds at each instruction of it what it held at the header.
//!
//! # Cost
//! O(instructions), times the depth to which loops of up to [`LARGE`] instructions are nested.

use std::collections::BTreeMap;

use regraft_ir::TypeKind;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::super::emitter::Emitter;
use super::Translator;
use super::known_arrays::{KnownArray, keeps_all_lengths};
use super::limits::LARGE;
use super::memory::Evaluated;
use crate::interp::{Inst, Pc, Reg, targets};

/// The loops of a function, by the positions of their headers.
pub(super) struct Loops {
    /// The position behind the last jump back.
    pub(super) ends: BTreeMap<Pc, Pc>,
    /// The arrays that stay in one register while a loop runs that control enters at the header alone.
    arrays: FxHashMap<Pc, LoopArrays>,
}

impl Loops {
    /// The headers of the loops that arrays stay in one register for.
    pub(super) fn with_arrays(&self) -> impl Iterator<Item = Pc> {
        self.arrays.keys().copied()
    }
}

/// The registers of arrays with their numbers of dimensions, and whether the lengths stay the same.
type LoopArrays = SmallVec<[(Reg, u8, bool); 4]>;

/// A register whose array is known until the position behind a loop, and what was known of it before.
pub(super) struct KnownWithin<V> {
    end: Pc,
    reg: Reg,
    before: Option<KnownArray<V>>,
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Finds the loops that control can get to.
    pub(super) fn loops(&self) -> Loops {
        let code = self.source.code;
        let mut ends: BTreeMap<Pc, Pc> = BTreeMap::new();
        // The first and the last position from which each one is jumped to.
        let mut ways: FxHashMap<Pc, (Pc, Pc)> = FxHashMap::default();
        for (pc, &inst) in (0..).zip(&code.insts) {
            if self.reached[pc as usize] {
                for to in targets(inst, &code.switches) {
                    ways.entry(to).or_insert((pc, pc)).1 = pc;
                    if to <= pc {
                        ends.insert(to, pc + 1);
                    }
                }
            }
        }
        let mut arrays = FxHashMap::default();
        for (&header, &end) in &ends {
            let starts_within =
                self.source.start.map_or(header == 0, |start| (header..end).contains(&start));
            let is_reached_from_within =
                |to: Pc| ways.get(&to).is_none_or(|&(first, last)| header <= first && last < end);
            if !starts_within
                && end - header <= LARGE as Pc
                && (header + 1..end).all(is_reached_from_within)
            {
                let found = self.arrays_within(header, end);
                if !found.is_empty() {
                    arrays.insert(header, found);
                }
            }
        }
        Loops { ends, arrays }
    }

    /// The arrays whose elements are accessed between two positions, in registers that nothing there writes to, and that are not known
    /// anyway.
    fn arrays_within(&self, header: Pc, end: Pc) -> LoopArrays {
        let code = self.source.code;
        let mut written: SmallVec<[Reg; 4]> = SmallVec::new();
        let mut keeps_lengths = true;
        let reached = (header..end).filter(|&pc| self.reached[pc as usize]);
        for pc in reached.clone() {
            let inst = code.insts[pc as usize];
            code.val_writes(inst, &mut written);
            keeps_lengths &= self.arrays.ends[pc as usize] || keeps_all_lengths(code, inst);
        }
        let mut seen: FxHashSet<Reg> = written.into_iter().collect();
        let mut regs = LoopArrays::new();
        for pc in reached.filter(|&pc| !self.arrays.ends[pc as usize]) {
            if let Some(reg) = self.array_accessed(pc)
                && seen.insert(reg)
                && let &TypeKind::Array { rank, .. } =
                    self.source.f.ctx().kind(self.operand_type(pc, 0))
                && !self.arrays.is_known_for_good(reg, rank)
            {
                regs.push((reg, rank, keeps_lengths || self.arrays.are_fixed(rank)));
            }
        }
        regs
    }

    /// The register of the array whose element or length an instruction asks for, the first operand of it in the IR.
    fn array_accessed(&self, pc: Pc) -> Option<Reg> {
        match self.source.code.insts[pc as usize] {
            Inst::Length { va, .. } => Some(va),
            Inst::Eval { site } => {
                let site = &self.source.code.evals[site as usize];
                Evaluated::of(site).map(|access| access.array)
            }
            inst => self.access_of(inst).map(|access| access.array),
        }
    }

    /// Looks up the arrays that stay in one register while the loop with this header runs, and are not known yet.
    pub(super) fn begin_loop(&mut self, loops: &Loops, header: Pc) {
        let (Some(regs), Some(&end)) = (loops.arrays.get(&header), loops.ends.get(&header)) else {
            return;
        };
        for &(reg, rank, fixed) in regs {
            let known = &self.arrays.known[reg as usize];
            if known.as_ref().is_some_and(|known| known.parts.is_some() || !fixed) {
                continue;
            }
            let found = self.parts_in(reg, rank, fixed);
            let before = self.arrays.known[reg as usize].replace(found);
            self.known_within.push(KnownWithin { end, reg, before });
        }
    }

    /// Forgets what is known within loops that end at a position.
    pub(super) fn end_loops(&mut self, at: Pc) {
        while let Some(KnownWithin { reg, before, .. }) =
            self.known_within.pop_if(|known| known.end <= at)
        {
            self.arrays.known[reg as usize] = before;
        }
    }
}
