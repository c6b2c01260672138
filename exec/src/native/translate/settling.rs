//! Values that loops work on, where the emitter wants them settled.
//!
//! An allocator of registers that keeps a value in memory across a call keeps what becomes of it in a loop there, too, and what a
//! loop has computed if a call comes behind it: each iteration of a sum waits for memory then, 12 cycles in place of 4.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::emitter::Emitter;
use super::Translator;
use super::loops::Loops;
use crate::interp::{Class, LiveScalars, Pc, Reg};

/// The places where values are settled.
#[derive(Default)]
pub(super) struct Settling {
    /// By the headers of innermost loops, what comes after these.
    before: FxHashMap<Pc, Pc>,
    /// By what comes after loops, their headers, and whether all values are settled there.
    behind: FxHashMap<Pc, (Pc, bool)>,
}

impl Settling {
    /// The headers of the loops that values are settled before.
    pub(super) fn loops(&self) -> impl Iterator<Item = Pc> {
        self.before.keys().copied()
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Finds the loops whose values are settled, if the emitter settles some. Floats that innermost loops work on are settled before
    /// and behind them, as no register outlives a call with a float in it, and all that outermost ones have computed behind these.
    /// A loop that stands alone has nothing to fear.
    pub(super) fn settling(&self, loops: &Loops) -> Settling {
        if !E::SETTLES {
            return Settling::default();
        }
        let code = self.source.code;
        let ends = &loops.ends;
        let calls = code
            .insts
            .iter()
            .zip(&self.reached)
            .any(|(&inst, &reached)| reached && self.may_call(inst));
        if !calls && ends.len() < 2 {
            return Settling::default();
        }
        let (mut settling, mut outer) = (Settling::default(), 0);
        for (&header, &end) in ends {
            let is_innermost = ends.range(header + 1..end).next().is_none();
            let is_outermost = header >= outer;
            outer = outer.max(end);
            if is_innermost && self.source.start != Some(header) {
                settling.before.insert(header, end);
            }
            // What comes next may be another loop, each of whose iterations would settle the values.
            let goes_on = code.insts[end as usize - 1].goes_on() && !ends.contains_key(&end);
            if goes_on && (is_innermost || is_outermost) {
                settling.behind.entry(end).or_insert((header, is_outermost));
            }
        }
        settling
    }

    /// Settles floats that the loop with this header works on, where it begins.
    pub(super) fn settle_before(&mut self, settling: &Settling, header: Pc) {
        if let Some(&end) = settling.before.get(&header) {
            self.settle(header, end, header, false);
        }
    }

    /// Settles what a loop has computed, where what comes after it begins.
    pub(super) fn settle_behind(&mut self, settling: &Settling, end: Pc) {
        if let Some(&(header, all)) = settling.behind.get(&end) {
            self.settle(header, end, end, all);
        }
    }

    /// Settles those registers, or floats alone, that a loop writes and that are live `at` a position.
    fn settle(&mut self, header: Pc, end: Pc, at: Pc, all: bool) {
        let code = self.source.code;
        let mut written: SmallVec<[Reg; 8]> = SmallVec::new();
        for &inst in &code.insts[header as usize..end as usize] {
            code.scalar_writes(inst, &mut written);
        }
        let live = self.live.get_or_insert_with(|| LiveScalars::of(code)).at(at);
        let is_wanted = |reg: Reg| all || code.classes[reg as usize] == Class::Double;
        let settled = live.into_iter().filter(|&reg| written.contains(&reg) && is_wanted(reg));
        settled.for_each(|reg| self.e.settle(reg));
    }
}
