//! Limits of a run: code counts its instructions where a loop goes back, or looks at the interrupt flag.

use smallvec::{SmallVec, smallvec};

use super::super::context::offsets;
use super::super::emitter::{Area, Emitter, Int2, IntCmp, Mem};
use super::{Translator, position_reg};
use crate::interp::{Inst, Pc, Reg, targets};

/// The number of instructions that are looked at to see whether control comes back.
const MANY: usize = 32;

/// So many sums are looked through between a counter and an index.
const MAX_SUMS: u32 = 4;

/// Returns whether a register is a counter of a loop, or is as far from one in all iterations.
fn follows(
    body: &[Inst],
    is_counter: &impl Fn(Reg) -> bool,
    writes: &impl Fn(Reg) -> usize,
    reg: Reg,
    sums: u32,
) -> bool {
    if is_counter(reg) {
        return true;
    }
    let again = |reg| sums > 0 && follows(body, is_counter, writes, reg, sums - 1);
    let stays = |reg| writes(reg) == 0;
    writes(reg) == 1
        && body.iter().any(|inst| match *inst {
            Inst::AddImm { d, a, .. } => d == reg && again(a),
            Inst::AddI { d, a, b } | Inst::SubI { d, a, b } => {
                d == reg && (stays(b) && again(a) || stays(a) && again(b))
            }
            _ => false,
        })
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
        let inside = self.coming_to(from, to);
        // Blocks that the loop is left to may stand between its own.
        let insts = code.insts[from as usize..=to as usize].iter().zip(&inside);
        let body: SmallVec<[Inst; MANY]> =
            insts.filter(|(_, inside)| **inside).map(|(&inst, _)| inst).collect();
        let writes = |reg: Reg| body.iter().filter(|&&inst| code.writes_scalar(inst, reg)).count();
        let is_counter = |reg: Reg| {
            let counts = |inst: &Inst| matches!(*inst, Inst::AddImm { d, a, imm } if d == a && d == reg && imm != 0);
            body.iter().any(counts) && writes(reg) == 1
        };
        // What counts, or is as far from it in all iterations.
        let counts = |reg: Reg| follows(&body, &is_counter, &writes, reg, MAX_SUMS);
        let ends = |inst: &Inst| match *inst {
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
        if !body.iter().any(ends) {
            return false;
        }
        let mut walks = false;
        for (at, inside) in (from..).zip(inside) {
            if !inside {
                continue;
            }
            let inst = code.insts[at as usize];
            match self.access_of(inst) {
                Some(access) => walks |= access.indices.iter().any(|&index| counts(index)),
                None if inst.runs_others() => return false,
                None => {}
            }
            // What goes back further leaves the loop, if it never returns.
            let goes_back =
                |&target: &Pc| target <= at && (target >= from || self.comes_back(target, at));
            if at != to && targets(inst, &code.switches).iter().any(goes_back) {
                return false;
            }
        }
        walks
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
