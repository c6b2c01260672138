//! The beginning of a function, and the ways out of it.

use smallvec::SmallVec;

use super::super::context::offsets;
use super::super::emitter::{Area, Emitter, FRAME_PARAMS, IntCmp, Mem};
use super::{Translator, position_reg};
use crate::interp::{Class, Inst, Reg, Scalar};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Checks that there is room for the frame, and fills registers in.
    pub(super) fn prologue(&mut self) {
        let code = self.source.code;
        let calls = code.insts.iter().any(|inst| self.may_call(*inst));
        let mut fits: SmallVec<[E::Flag; 3]> = SmallVec::new();
        let has_values = code.val_regs > 0 || code.val_args > 0;
        if has_values || code.insts.iter().any(|&inst| self.may_give_value(inst)) {
            fits.push(self.has_room(self.vals, code.native_vals() as i64 * 16, offsets::VALS_END));
        }
        if calls || self.looks_up() {
            let bytes = i64::from(code.scalar_regs) * 8;
            fits.push(self.has_room(self.scalars, bytes, offsets::SCALARS_END));
        }
        if calls {
            let sp = self.e.stack_pointer();
            let end = self.e.load(Mem::I64, Area::Context, self.cx, offsets::STACK_END);
            fits.push(self.e.int_cmp(IntCmp::AboveOrEq, sp, end));
        }
        if let Some(fits) = fits.into_iter().reduce(|x, y| self.e.and(x, y)) {
            self.begin_unless(fits);
        }
        for (reg, &class) in code.classes.iter().enumerate() {
            let reg = reg as Reg;
            if reg < code.scalar_params {
                let value = self.e.param(FRAME_PARAMS + reg as usize);
                self.e.write(reg, value);
            } else {
                self.begin_register(reg, class);
            }
        }
        let zero = self.e.int(0);
        self.e.write(position_reg(code), zero);
        // What fails from here on empties the registers.
        if calls {
            self.count(1, None);
        }
        self.note_params();
    }

    /// Sets a register to its constant for good, or to 0.
    pub(super) fn begin_register(&mut self, reg: Reg, class: Class) {
        let constant = self.source.code.constant_in(reg);
        let value = self.constant(class, constant.unwrap_or(0));
        match constant {
            Some(_) => self.e.fix(reg, value),
            None => self.e.write(reg, value),
        }
    }

    /// Returns whether an instruction may put a value behind the registers of the frame.
    fn may_give_value(&self, inst: Inst) -> bool {
        match inst {
            Inst::Call { site } => {
                let site = &self.source.code.calls[site as usize];
                let callee = (self.source.callee)(site.callee);
                callee.is_none_or(|callee| callee.result.is_none())
            }
            Inst::Eval { .. } | Inst::Apply { .. } | Inst::ReturnTuple { .. } => true,
            _ => false,
        }
    }

    /// Returns whether there are `bytes` of room behind an address.
    fn has_room(&mut self, from: E::Value, bytes: i64, end: i32) -> E::Flag {
        let needed = self.e.offset(from, bytes);
        let end = self.e.load(Mem::Ptr, Area::Context, self.cx, end);
        self.e.int_cmp(IntCmp::AboveOrEq, end, needed)
    }

    /// Lets the runtime make room unless `fits`, and leaves the function, which has not begun, if there is none.
    fn begin_unless(&mut self, fits: E::Flag) {
        let (ok, full, leave) = (self.e.block(false), self.e.block(true), self.e.block(true));
        self.e.branch(fits, ok, full);
        self.e.enter(full);
        let (code, begin) = (self.code_address(), self.source.runtime.begin);
        let status = self.e.call(&begin, &[self.cx, code, self.scalars, self.vals]);
        let status = status.expect("it gives a status");
        let good = self.is_status(status, 0);
        self.e.branch(good, ok, leave);
        self.e.enter(leave);
        self.ret_status(status);
        self.e.enter(ok);
    }

    pub(super) fn ret_status(&mut self, status: E::Value) {
        let result = Scalar::of(self.source.code.ret).map(|ty| self.constant(ty.class(), 0));
        self.e.ret(result, status);
    }

    /// The ways out after an error: the runtime makes it, the registers of values are emptied, and the place is noted.
    pub(super) fn failure(&mut self) {
        if let Some(fails) = self.fails {
            self.e.enter(fails);
            let position = self.e.read(position_reg(self.source.code));
            let (code, fail) = (self.code_address(), self.source.runtime.fail);
            self.e.call(&fail, &[self.cx, code, position, self.scalars, self.vals]);
            self.e.jump(self.failed);
        }
        self.e.enter(self.failed);
        let position = self.e.read(position_reg(self.source.code));
        let (code, unwind) = (self.code_address(), self.source.runtime.unwind);
        self.e.call(&unwind, &[self.cx, code, position, self.vals]);
        let status = self.e.int(1);
        self.ret_status(status);
    }
}
