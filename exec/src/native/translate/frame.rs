//! The beginning of a function, and the ways out of it.

use super::super::context::offsets;
use super::super::emitter::{Area, Emitter, FRAME_PARAMS, IntCmp, Mem};
use super::{Translator, position_reg};
use crate::interp::{Inst, Reg, Scalar};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Checks that there is room for the frame, and fills registers in.
    pub(super) fn prologue(&mut self) {
        let code = self.source.code;
        let calls = code.insts.iter().any(|inst| self.may_call(*inst));
        let has_values = code.val_regs > 0 || code.val_args > 0;
        if has_values || code.insts.iter().any(|&inst| self.may_give_value(inst)) {
            self.room(self.vals, code.native_vals() as i64 * 16, offsets::VALS_END);
        }
        if calls || self.looks_up() {
            self.room(self.scalars, i64::from(code.scalar_regs) * 8, offsets::SCALARS_END);
        }
        if calls {
            let sp = self.e.stack_pointer();
            let end = self.e.load(Mem::I64, Area::Context, self.cx, offsets::STACK_END);
            let fits = self.e.int_cmp(IntCmp::AboveOrEq, sp, end);
            self.or_leave(fits);
        }
        for (reg, &class) in code.classes.iter().enumerate() {
            let reg = reg as Reg;
            let value = if reg < code.scalar_params {
                self.e.param(FRAME_PARAMS + reg as usize)
            } else {
                self.constant(class, code.constant_in(reg).unwrap_or(0))
            };
            self.e.write(reg, value);
        }
        let zero = self.e.int(0);
        self.e.write(position_reg(code), zero);
        // What fails from here on empties the registers.
        if calls {
            self.count(1, None);
        }
        self.note_params();
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

    /// Leaves the function, which has not begun, unless there are `bytes` of room behind an address.
    pub(super) fn room(&mut self, from: E::Value, bytes: i64, end: i32) {
        let needed = self.e.offset(from, bytes);
        let end = self.e.load(Mem::Ptr, Area::Context, self.cx, end);
        let fits = self.e.int_cmp(IntCmp::AboveOrEq, end, needed);
        let (ok, full) = (self.e.block(false), self.e.block(true));
        self.e.branch(fits, ok, full);
        self.e.enter(full);
        let (code, grow) = (self.code_address(), self.source.runtime.grow);
        let status = self.e.call(&grow, &[self.cx, code, self.scalars, self.vals]);
        self.leave_unless(status, ok);
        self.e.enter(ok);
    }

    /// Goes on at `ok` if a status is 0, and returns it otherwise.
    pub(super) fn leave_unless(&mut self, status: Option<E::Value>, ok: E::Block) {
        let Some(status) = status else { return self.e.jump(ok) };
        let leave = self.e.block(true);
        let zero = self.e.int(0);
        let good = self.e.int_cmp(IntCmp::Eq, status, zero);
        self.e.branch(good, ok, leave);
        self.e.enter(leave);
        self.ret_status(status);
    }

    /// Leaves the function, which has not begun, with the error of too deep a recursion unless `fits`.
    pub(super) fn or_leave(&mut self, fits: E::Flag) {
        let (ok, full) = (self.e.block(false), self.e.block(true));
        self.e.branch(fits, ok, full);
        self.e.enter(full);
        let too_deep = self.source.runtime.too_deep;
        let code = self.code_address();
        let status = self.e.call(&too_deep, &[self.cx, code]);
        self.leave_unless(status, ok);
        self.e.enter(ok);
    }

    pub(super) fn ret_status(&mut self, status: E::Value) {
        let result = Scalar::of(self.source.code.ret).map(|ty| self.constant(ty.class(), 0));
        self.e.ret(result, status);
    }

    /// The way out after an error: the registers of values are emptied, and the place is noted.
    pub(super) fn failure(&mut self) {
        self.e.enter(self.failed);
        let position = self.e.read(position_reg(self.source.code));
        let (code, unwind) = (self.code_address(), self.source.runtime.unwind);
        self.e.call(&unwind, &[self.cx, code, position, self.vals]);
        let status = self.e.int(1);
        self.ret_status(status);
    }
}
