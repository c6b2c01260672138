//! On-stack replacement: a function that is at work goes on in better code of it, at the header of a loop.
//!
//! # Method
//! Both are made of the same compact code and have the same frame. Values stand in it in any case. The code that is
//! left writes the scalars that are live at the header to their registers in the frame, and the code that takes over
//! begins by reading them; of the rest of the function it has what control can get to from the header.
//!
//! The parts of arrays that are looked up where an array is written ([`known_arrays`](super::known_arrays)) are looked up at the beginning if
//! that place cannot be reached any more. An array that may be used before it is written anew has no such parts.

use regraft_ir::Type;
use rustc_hash::FxHashSet;

use super::super::context::offsets;
use super::super::emitter::{Area, Emitter};
use super::super::functions::DONE;
use super::{Translator, slot_mem};
use crate::interp::{Code, Inst, LiveScalars, Pc, Reg, Scalar, targets};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Writes the scalars that are live at a header to the frame. Gives their registers.
    pub(super) fn spill_live(&mut self, header: Pc) -> Vec<Reg> {
        let code = self.source.code;
        let mut live = self.live.get_or_insert_with(|| LiveScalars::of(code)).at(header);
        live.retain(|&reg| code.constant_in(reg).is_none());
        for &reg in &live {
            let value = self.e.read(reg);
            let mem = slot_mem(code.classes[reg as usize]);
            self.e.store(mem, Area::Frame, self.scalars, reg as i32 * 8, value);
        }
        live
    }

    /// Reads them from the frame, so that none of them is kept while a function of the runtime is called: in a
    /// loop they would be in memory all the time.
    pub(super) fn reload_live(&mut self, live: &[Reg]) {
        for &reg in live {
            let mem = slot_mem(self.source.code.classes[reg as usize]);
            let value = self.e.load(mem, Area::Frame, self.scalars, reg as i32 * 8);
            self.e.write(reg, value);
        }
    }

    /// Asks the runtime whether the run may go on at the header, with its live scalars in the frame, and leaves the
    /// function if better code has run it to its end.
    pub(super) fn look_up(&mut self, header: Pc, goes_on: E::Block) {
        let code = self.source.code;
        let (address, position) = (self.code_address(), self.e.int(i64::from(header)));
        let look_up = self.source.runtime.look_up;
        let args = [self.cx, address, position, self.scalars, self.vals];
        let status = self.e.call(&look_up, &args).expect("it gives a status");
        let (stops, is_replaced) = (self.e.block(true), self.e.block(true));
        let good = self.is_status(status, 0);
        self.e.branch(good, goes_on, stops);
        self.e.enter(stops);
        let has_failed = self.is_status(status, 1);
        self.e.branch(has_failed, self.failed, is_replaced);
        self.e.enter(is_replaced);
        let is_done = self.is_status(status, DONE);
        let (zero, one) = (self.e.int(0), self.e.int(1));
        let status = self.e.select(is_done, zero, one);
        let result = Scalar::of(code.ret)
            .map(|ty| self.e.load(slot_mem(ty.class()), Area::Context, self.cx, offsets::RESULT));
        self.e.ret(result, status);
    }

    /// Begins at the header of a loop, in a frame that is there.
    pub(super) fn resume(&mut self, header: Pc) {
        let code = self.source.code;
        for (reg, &class) in (0..).zip(&code.classes) {
            if code.constant_in(reg).is_some() {
                self.begin_register(reg, class);
            } else {
                let mem = slot_mem(class);
                let value = self.e.load(mem, Area::Frame, self.scalars, reg as i32 * 8);
                self.e.write(reg, value);
            }
        }
        let zero = self.e.int(0);
        self.e.write(super::position_reg(code), zero);
        self.note_live_arrays(header);
        let target = self.target(header, header);
        self.e.jump(target);
    }

    /// Looks at arrays that are there at the header.
    fn note_live_arrays(&mut self, header: Pc) {
        let all = 0..self.source.code.insts.len() as Pc;
        let params = self.params_of_arrays().into_iter().map(|(reg, ty)| (None, reg, ty));
        let written = all.filter_map(|pc| self.array_of(pc).map(|(reg, ty)| (Some(pc), reg, ty)));
        let arrays: Vec<(Option<Pc>, Reg, Type)> = params.chain(written).collect();
        let used = self.accessed(&self.reached);
        for (pc, reg, ty) in arrays.into_iter().filter(|(_, reg, _)| used.contains(reg)) {
            let is_written = pc.is_some_and(|pc| self.reached[pc as usize]);
            if !is_written {
                self.note(reg, ty);
            } else if self.arrays.once[reg as usize] {
                let before = reached_from(self.source.code, header, pc);
                self.arrays.once[reg as usize] = !self.accessed(&before).contains(&reg);
            }
        }
    }

    /// The registers of the arrays that instructions may access which control can get to.
    fn accessed(&self, reached: &[bool]) -> FxHashSet<Reg> {
        let insts = self.source.code.insts.iter().zip(reached).filter(|&(_, &reached)| reached);
        let mut arrays = FxHashSet::default();
        for (&inst, _) in insts {
            match inst {
                Inst::Length { va, .. } | Inst::Probe { va, .. } => arrays.extend([va]),
                Inst::Eval { site } => {
                    let args = &self.source.code.evals[site as usize].args;
                    arrays.extend(args.iter().filter_map(|arg| arg.val()));
                }
                _ => arrays.extend(self.access_of(inst).map(|access| access.array)),
            }
        }
        arrays
    }
}

/// Finds the instructions that control can get to from a position, without going on behind `until`.
pub(super) fn reached_from(code: &Code, start: Pc, until: Option<Pc>) -> Vec<bool> {
    let mut reached = vec![false; code.insts.len()];
    let mut pending = vec![start];
    while let Some(pc) = pending.pop() {
        if std::mem::replace(&mut reached[pc as usize], true) || until == Some(pc) {
            continue;
        }
        let inst = code.insts[pc as usize];
        pending.extend(targets(inst, &code.switches));
        if inst.goes_on() {
            pending.push(pc + 1);
        }
    }
    reached
}
