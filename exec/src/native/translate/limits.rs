//! Limits of a run: code counts its instructions where a loop goes back, or looks at the interrupt flag.

use smallvec::{SmallVec, smallvec};

use super::super::context::offsets;
use super::super::emitter::{Area, Emitter, Int2, IntCmp, Mem};
use super::{Translator, position_reg};
use crate::interp::{Code, Inst, Pc, Reg, targets};

/// The number of instructions that are looked at to see whether control comes back.
const MANY: usize = 32;

/// So many sums are looked through between a counter and an index.
const MAX_SUMS: u32 = 4;

/// A loop of more instructions than this always looks whether it is to stop.
pub(super) const LARGE: usize = 1000;

/// The instructions of a loop that has none within, from its header to the jump back.
struct Body<'a> {
    code: &'a Code,
    from: Pc,
    to: Pc,
    /// The instructions from which control may come to the jump back. Exit blocks may stand between the blocks of the loop.
    insts: SmallVec<[(Pc, Inst); MANY]>,
    /// Returns whether a block begins at an instruction.
    is_start: &'a dyn Fn(Pc) -> bool,
}

impl Body<'_> {
    fn writes(&self, reg: Reg) -> impl Iterator<Item = (Pc, Inst)> {
        self.insts.iter().copied().filter(move |&(_, inst)| self.code.writes_scalar(inst, reg))
    }

    fn stays(&self, reg: Reg) -> bool {
        self.writes(reg).next().is_none()
    }

    /// Returns whether each iteration runs this instruction.
    fn always_runs(&self, pc: Pc) -> bool {
        let mut comes: SmallVec<[bool; MANY]> =
            smallvec![false; (self.to - self.from) as usize + 1];
        comes[0] = true;
        for at in (self.from..=self.to).filter(|&at| at != pc) {
            if comes[(at - self.from) as usize] {
                if at == self.to {
                    return false;
                }
                let inst = self.code.insts[at as usize];
                let next = targets(inst, &self.code.switches).into_iter();
                for next in next.chain(inst.goes_on().then_some(at + 1)) {
                    if next > at && next <= self.to {
                        comes[(next - self.from) as usize] = true;
                    }
                }
            }
        }
        true
    }

    /// The only instruction that writes to a register, if each iteration runs it.
    fn only_write(&self, reg: Reg) -> Option<(Pc, Inst)> {
        let mut writes = self.writes(reg);
        let write = writes.next().filter(|_| writes.next().is_none());
        write.filter(|&(pc, _)| self.always_runs(pc))
    }

    /// The instruction that has written what a register holds before the one at `at`, as far as that is clear.
    fn definition(&self, reg: Reg, at: Pc) -> Option<(Pc, Inst)> {
        let mut next = at;
        for &(pc, inst) in self.insts.iter().rev().skip_while(|&&(pc, _)| pc >= at) {
            if (self.is_start)(next) || pc + 1 != next {
                break;
            }
            if self.code.writes_scalar(inst, reg) {
                return Some((pc, inst));
            }
            next = pc;
        }
        self.only_write(reg)
    }

    /// Returns whether a register is changed once in each iteration, by the same number. Where the old value is read after the
    /// step, the new one is moved there last.
    fn is_counter(&self, reg: Reg) -> bool {
        let (mut from, mut step) = (reg, 0);
        for _ in 0..MAX_SUMS {
            let Some((_, inst)) = self.only_write(from) else { return false };
            from = match inst {
                Inst::Mov { a, .. } => a,
                Inst::AddImm { a, imm, .. } => {
                    step += i64::from(imm);
                    a
                }
                _ => return false,
            };
            if from == reg {
                return step != 0;
            }
        }
        false
    }

    /// Returns whether a register, as the instruction at `at` reads it, is a counter, or is as far from one in all
    /// iterations.
    fn counts(&self, reg: Reg, at: Pc, sums: u32) -> bool {
        if self.is_counter(reg) {
            return true;
        }
        let Some((at, inst)) = self.definition(reg, at).filter(|_| sums > 0) else { return false };
        let again = |reg| self.counts(reg, at, sums - 1);
        match inst {
            Inst::AddImm { a, .. } => again(a),
            Inst::AddI { a, b, .. } | Inst::SubI { a, b, .. } => {
                self.stays(b) && again(a) || self.stays(a) && again(b)
            }
            _ => false,
        }
    }

    /// Returns whether it leaves the loop by what is counted, where an instruction of each iteration asks.
    fn ends_at(&self, at: Pc, inst: Inst) -> bool {
        let counts = |reg| self.counts(reg, at, MAX_SUMS);
        let asks = match inst {
            Inst::JumpLtI { a, b, .. }
            | Inst::JumpLeI { a, b, .. }
            | Inst::JumpEqI { a, b, .. }
            | Inst::JumpNeI { a, b, .. } => counts(a) || counts(b),
            Inst::JumpEqImm { a, .. }
            | Inst::JumpNeImm { a, .. }
            | Inst::JumpLtImm { a, .. }
            | Inst::JumpGeImm { a, .. } => counts(a),
            _ => false,
        };
        asks && self.always_runs(at)
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Counts instructions if there is a limit of them; where a loop goes back, with its header.
    pub(super) fn count(&mut self, instructions: i64, header: Option<Pc>) {
        if !self.source.counted {
            return;
        }
        let left = self.e.load(Mem::I64, Area::Context, self.cx, offsets::FUEL);
        let (used, zero) = (self.e.int(-instructions), self.e.int(0));
        let left = self.e.int2(Int2::Add, left, used);
        self.e.store(Mem::I64, Area::Context, self.cx, offsets::FUEL, left);
        let goes_on = self.e.int_cmp(IntCmp::Le, zero, left);
        self.ask_unless(goes_on, header);
    }

    /// Asks the runtime whether the run may go on, unless `goes_on` holds. Where a loop goes back, better code may
    /// take over.
    fn ask_unless(&mut self, goes_on: E::Flag, header: Option<Pc>) {
        let (ok, asks) = (self.e.block(false), self.e.block(true));
        self.e.branch(goes_on, ok, asks);
        self.e.enter(asks);
        let live = header.map(|header| self.spill_live(header)).unwrap_or_default();
        let back = self.e.block(true);
        match header.filter(|_| self.source.is_replaceable) {
            Some(header) => self.look_up(header, back),
            None => {
                let refuel = self.source.runtime.refuel;
                let status = self.e.call(&refuel, &[self.cx]).expect("it gives a status");
                let good = self.is_status(status, 0);
                self.e.branch(good, back, self.failed);
            }
        }
        self.e.enter(back);
        self.reload_live(&live);
        self.e.jump(ok);
        self.e.enter(ok);
    }

    pub(super) fn is_status(&mut self, status: E::Value, wanted: i64) -> E::Flag {
        let wanted = self.e.int(wanted);
        self.e.int_cmp(IntCmp::Eq, status, wanted)
    }

    /// Returns whether the run looks somewhere whether it is to stop.
    pub(super) fn looks_up(&self) -> bool {
        let code = self.source.code;
        let jumps =
            (0..).zip(&code.insts).filter(|&(_, inst)| !matches!(inst, Inst::Switch { .. }));
        let mut jumps = jumps.flat_map(|(pc, &inst)| {
            targets(inst, &code.switches).into_iter().map(move |to| (pc, to))
        });
        jumps.any(|(pc, to)| to <= pc && self.is_polled(pc, to))
    }

    /// Returns whether the run looks whether it is to stop where control goes back from `pc` to `to`.
    fn is_polled(&self, pc: Pc, to: Pc) -> bool {
        self.source.counted || !self.is_bounded(to, pc) && self.comes_back(to, pc)
    }

    /// Returns whether control may come to `pc` from a position before it. "Yes" is what is said if it would take long to
    /// find out: a loop is then looked at with all the instructions between its ends.
    fn comes_back(&self, from: Pc, pc: Pc) -> bool {
        let code = self.source.code;
        let mut seen: SmallVec<[Pc; MANY]> = SmallVec::new();
        let mut pending: SmallVec<[Pc; MANY]> = smallvec![from];
        while let Some(at) = pending.pop() {
            if at == pc || seen.len() == MANY {
                return true;
            }
            if !seen.contains(&at) {
                seen.push(at);
                let inst = code.insts[at as usize];
                pending.extend(targets(inst, &code.switches));
                pending.extend(inst.goes_on().then_some(at + 1));
            }
        }
        false
    }

    /// Looks whether the run is to stop, where control goes back from `pc` to `to`.
    pub(super) fn poll(&mut self, pc: Pc, to: Pc) {
        if !self.is_polled(pc, to) {
            return;
        }
        let position = self.e.int(i64::from(pc));
        self.e.write(position_reg(self.source.code), position);
        if self.source.counted {
            self.count(i64::from(pc - to) + 1, Some(to));
            return;
        }
        let flag = self.e.load(Mem::Ptr, Area::Context, self.cx, offsets::INTERRUPT);
        let set = self.e.load(Mem::I8, Area::Context, flag, 0);
        let zero = self.e.int(0);
        let goes_on = self.e.int_cmp(IntCmp::Eq, set, zero);
        self.ask_unless(goes_on, Some(to));
    }

    /// Returns whether a loop is over soon: it has none within, calls nothing, counts, ends by what it
    /// counts, and walks over an array, so that it has no more iterations than the array has elements. An index that is as
    /// far from a counter in all iterations is another one in each.
    pub(super) fn is_bounded(&self, from: Pc, to: Pc) -> bool {
        let code = self.source.code;
        if to - from >= LARGE as Pc {
            return false;
        }
        let inside = self.coming_to(from, to);
        let insts = (from..).zip(&code.insts[from as usize..=to as usize]).zip(&inside);
        let insts = insts.filter(|(_, inside)| **inside).map(|((pc, &inst), _)| (pc, inst));
        let is_start = |pc: Pc| self.blocks[pc as usize].is_some();
        let body = Body { code, from, to, insts: insts.collect(), is_start: &is_start };
        let is_within = |&(at, inst): &(Pc, Inst)| {
            // What goes back further leaves the loop, if it never returns.
            let goes_back =
                |&target: &Pc| target <= at && (target >= from || self.comes_back(target, at));
            let is_call = inst.runs_others() && self.access_of(inst).is_none();
            !is_call && (at == to || !targets(inst, &code.switches).iter().any(goes_back))
        };
        let walks = |&(at, inst): &(Pc, Inst)| {
            self.access_of(inst).is_some_and(|access| {
                access.indices.iter().any(|&index| body.counts(index, at, MAX_SUMS))
                    && body.always_runs(at)
            })
        };
        body.insts.iter().all(is_within)
            && body.insts.iter().any(|&(at, inst)| body.ends_at(at, inst))
            && body.insts.iter().any(walks)
    }

    /// The instructions from one position to another from which control may come to the latter.
    fn coming_to(&self, from: Pc, to: Pc) -> SmallVec<[bool; MANY]> {
        let code = self.source.code;
        let mut comes: SmallVec<[bool; MANY]> = smallvec![false; (to - from) as usize + 1];
        for at in (from..=to).rev() {
            let inst = code.insts[at as usize];
            let is_known = |next: Pc| next > at && next <= to && comes[(next - from) as usize];
            let mut next =
                targets(inst, &code.switches).into_iter().chain(inst.goes_on().then_some(at + 1));
            comes[(at - from) as usize] = at == to || next.any(is_known) || self.comes_back(at, to);
        }
        comes
    }
}
