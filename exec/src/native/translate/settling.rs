//! Values that outermost loops have computed, where the emitter wants them settled.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::emitter::Emitter;
use super::Translator;
use crate::interp::{LiveScalars, Pc, Reg, targets};

impl<E: Emitter> Translator<'_, '_, E> {
    /// The headers of loops that are within no other, by what comes after them, if the emitter settles values.
    pub(super) fn outermost_loops(&self) -> FxHashMap<Pc, Pc> {
        let code = self.source.code;
        let mut found = FxHashMap::default();
        let (mut lowest, mut headers) = (Pc::MAX, Vec::new());
        for (pc, &inst) in (0..code.insts.len() as Pc).zip(&code.insts).rev() {
            if !E::SETTLES || !self.reached[pc as usize] {
                continue;
            }
            let header = targets(inst, &code.switches).into_iter().min();
            let Some(header) = header.filter(|&header| header <= pc && header < lowest) else {
                continue;
            };
            lowest = header;
            // What comes next may be another loop, each of whose iterations would settle the values.
            if inst.goes_on() && !headers.contains(&(pc + 1)) {
                found.insert(pc + 1, header);
            }
            headers.push(header);
        }
        found
    }

    /// Settles what a loop from `header` to `end` has computed, and is used behind it.
    pub(super) fn settle(&mut self, header: Pc, end: Pc) {
        let code = self.source.code;
        let mut written: SmallVec<[Reg; 8]> = SmallVec::new();
        for &inst in &code.insts[header as usize..end as usize] {
            code.scalar_writes(inst, &mut written);
        }
        let live = self.live.get_or_insert_with(|| LiveScalars::of(code)).at(end);
        live.into_iter().filter(|reg| written.contains(reg)).for_each(|reg| self.e.settle(reg));
    }
}
