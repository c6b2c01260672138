//! Instructions on scalars, and the branches on them.

use regraft_dialects::{arith, core};

use super::super::emitter::{
    Cast, Emitter, Float1, Float2, FloatCmp, Function, Int1, Int2, IntCmp, Mem,
};
use super::super::{hash_tables, math};
use super::Translator;
use crate::interp::{Inst, Pc, Reg, Scalar, ScalarOp};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Operations on scalars; `false` if the instruction is another one.
    pub(super) fn scalar_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        use Float2 as F;
        match inst {
            Inst::Mov { d, a } => {
                let x = self.e.read(a);
                self.e.write(d, x);
            }
            Inst::AddI { d, a, b } => self.int2(Int2::Add, d, a, b),
            Inst::SubI { d, a, b } => self.int2(Int2::Sub, d, a, b),
            Inst::MulI { d, a, b } => self.int2(Int2::Mul, d, a, b),
            Inst::And { d, a, b } => self.int2(Int2::And, d, a, b),
            Inst::Or { d, a, b } => self.int2(Int2::Or, d, a, b),
            Inst::Xor { d, a, b } => self.int2(Int2::Xor, d, a, b),
            Inst::AddI32 { d, a, b } => self.int32(Int2::Add, d, a, b),
            Inst::SubI32 { d, a, b } => self.int32(Int2::Sub, d, a, b),
            Inst::MulI32 { d, a, b } => self.int32(Int2::Mul, d, a, b),
            Inst::AddImm { d, a, imm } => {
                let (x, imm) = (self.e.read(a), self.e.int(imm.into()));
                let sum = self.e.int2(Int2::Add, x, imm);
                self.e.write(d, sum);
            }
            Inst::NegI { d, a } => {
                let (zero, x) = (self.e.int(0), self.e.read(a));
                let x = self.e.int2(Int2::Sub, zero, x);
                self.e.write(d, x);
            }
            Inst::NotI { d, a } => self.xor_with(d, a, -1),
            Inst::NotBool { d, a } => self.xor_with(d, a, 1),
            Inst::AddF { d, a, b } | Inst::AddF32 { d, a, b } => self.float2(F::Add, d, a, b),
            Inst::SubF { d, a, b } | Inst::SubF32 { d, a, b } => self.float2(F::Sub, d, a, b),
            Inst::MulF { d, a, b } | Inst::MulF32 { d, a, b } => self.float2(F::Mul, d, a, b),
            Inst::DivF { d, a, b } | Inst::DivF32 { d, a, b } => self.float2(F::Div, d, a, b),
            Inst::NegF { d, a } => self.float1(Float1::Neg, d, a),
            Inst::IntToF { d, a } => self.cast(Cast::IntToDouble, d, a),
            Inst::Select { d, condition, a, b } => {
                let condition = self.e.read(condition);
                let (a, b) = (self.e.read(a), self.e.read(Reg::from(b)));
                let flag = self.nonzero(condition);
                let x = self.e.select(flag, a, b);
                self.e.write(d, x);
            }
            Inst::EqI { d, a, b } => self.set_int_cmp(IntCmp::Eq, d, a, b),
            Inst::NeI { d, a, b } => self.set_int_cmp(IntCmp::Ne, d, a, b),
            Inst::LtI { d, a, b } => self.set_int_cmp(IntCmp::Lt, d, a, b),
            Inst::LeI { d, a, b } => self.set_int_cmp(IntCmp::Le, d, a, b),
            Inst::EqF { d, a, b } => self.set_float_cmp(FloatCmp::Eq, d, a, b),
            Inst::NeF { d, a, b } => self.set_float_cmp(FloatCmp::Ne, d, a, b),
            Inst::LtF { d, a, b } => self.set_float_cmp(FloatCmp::Lt, d, a, b),
            Inst::LeF { d, a, b } => self.set_float_cmp(FloatCmp::Le, d, a, b),
            Inst::Scalar { function, d, a, b, c } => {
                let function = self.source.code.functions[usize::from(function)];
                if !self.scalar_op(pc, function, d, [a, b.into(), c.into()]) {
                    self.slowly(pc);
                }
            }
            _ => return false,
        }
        true
    }

    /// Branches on scalars; `false` if the instruction is another one.
    pub(super) fn branch_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        let (flag, to) = match inst {
            Inst::JumpIf { a, to } => {
                let a = self.e.read(a);
                (self.nonzero(a), to)
            }
            Inst::JumpUnless { a, to } => {
                let (a, zero) = (self.e.read(a), self.e.int(0));
                (self.e.int_cmp(IntCmp::Eq, a, zero), to)
            }
            Inst::JumpEqI { a, b, to } => (self.int_flag(IntCmp::Eq, a, b), to),
            Inst::JumpNeI { a, b, to } => (self.int_flag(IntCmp::Ne, a, b), to),
            Inst::JumpLtI { a, b, to } => (self.int_flag(IntCmp::Lt, a, b), to),
            Inst::JumpLeI { a, b, to } => (self.int_flag(IntCmp::Le, a, b), to),
            Inst::JumpEqImm { a, imm, to } => (self.imm_flag(IntCmp::Eq, a, imm), to),
            Inst::JumpNeImm { a, imm, to } => (self.imm_flag(IntCmp::Ne, a, imm), to),
            Inst::JumpLtImm { a, imm, to } => (self.imm_flag(IntCmp::Lt, a, imm), to),
            Inst::JumpGeImm { a, imm, to } => {
                let (a, imm) = (self.e.read(a), self.e.int(imm.into()));
                (self.e.int_cmp(IntCmp::Le, imm, a), to)
            }
            Inst::JumpEqF { a, b, to } => (self.float_flag(FloatCmp::Eq, a, b), to),
            Inst::JumpNeF { a, b, to } => (self.float_flag(FloatCmp::Ne, a, b), to),
            Inst::JumpLtF { a, b, to } => (self.float_flag(FloatCmp::Lt, a, b), to),
            Inst::JumpLeF { a, b, to } => (self.float_flag(FloatCmp::Le, a, b), to),
            Inst::JumpNotLtF { a, b, to } => (self.unless(FloatCmp::Lt, a, b), to),
            Inst::JumpNotLeF { a, b, to } => (self.unless(FloatCmp::Le, a, b), to),
            _ => return false,
        };
        self.branch_to(pc, flag, to);
        true
    }

    pub(super) fn nonzero(&mut self, x: E::Value) -> E::Flag {
        let zero = self.e.int(0);
        self.e.int_cmp(IntCmp::Ne, x, zero)
    }

    fn int_flag(&mut self, op: IntCmp, a: Reg, b: Reg) -> E::Flag {
        let (a, b) = (self.e.read(a), self.e.read(b));
        self.e.int_cmp(op, a, b)
    }

    fn imm_flag(&mut self, op: IntCmp, a: Reg, imm: i32) -> E::Flag {
        let (a, imm) = (self.e.read(a), self.e.int(imm.into()));
        self.e.int_cmp(op, a, imm)
    }

    fn float_flag(&mut self, op: FloatCmp, a: Reg, b: Reg) -> E::Flag {
        let (a, b) = (self.e.read(a), self.e.read(b));
        self.e.float_cmp(op, a, b)
    }

    /// The opposite of a comparison, true for NaN.
    fn unless(&mut self, op: FloatCmp, a: Reg, b: Reg) -> E::Flag {
        let flag = self.float_flag(op, a, b);
        let (x, zero) = (self.e.flag(flag), self.e.int(0));
        self.e.int_cmp(IntCmp::Eq, x, zero)
    }

    pub(super) fn set_int_cmp(&mut self, op: IntCmp, d: Reg, a: Reg, b: Reg) {
        let flag = self.int_flag(op, a, b);
        let x = self.e.flag(flag);
        self.e.write(d, x);
    }

    pub(super) fn set_float_cmp(&mut self, op: FloatCmp, d: Reg, a: Reg, b: Reg) {
        let flag = self.float_flag(op, a, b);
        let x = self.e.flag(flag);
        self.e.write(d, x);
    }

    pub(super) fn int2(&mut self, op: Int2, d: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.e.read(a), self.e.read(b));
        let x = self.e.int2(op, a, b);
        self.e.write(d, x);
    }

    fn int32(&mut self, op: Int2, d: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.e.read(a), self.e.read(b));
        let x = self.e.int2(op, a, b);
        let x = self.e.int1(Int1::Low(Mem::I32), x);
        self.e.write(d, x);
    }

    fn xor_with(&mut self, d: Reg, a: Reg, mask: i64) {
        let (a, mask) = (self.e.read(a), self.e.int(mask));
        let x = self.e.int2(Int2::Xor, a, mask);
        self.e.write(d, x);
    }

    fn float2(&mut self, op: Float2, d: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.e.read(a), self.e.read(b));
        let x = self.e.float2(op, a, b);
        self.e.write(d, x);
    }

    pub(super) fn float1(&mut self, op: Float1, d: Reg, a: Reg) {
        let a = self.e.read(a);
        let x = self.e.float1(op, a);
        self.e.write(d, x);
    }

    pub(super) fn cast(&mut self, op: Cast, d: Reg, a: Reg) {
        let a = self.e.read(a);
        let x = self.e.cast(op, a);
        self.e.write(d, x);
    }

    /// An op that is an operation of the machine, or a few; `false` if it is none.
    fn scalar_op(&mut self, pc: Pc, function: ScalarOp, d: Reg, [a, b, c]: [Reg; 3]) -> bool {
        let ScalarOp { op, ty, result, .. } = function;
        if ty.is_int() {
            return self.int_op(pc, function, d, a, b);
        }
        match op {
            arith::NEG => self.float1(Float1::Neg, d, a),
            arith::ABS => self.float1(Float1::Abs, d, a),
            arith::FLOOR => self.float1(Float1::Floor, d, a),
            arith::CEIL => self.float1(Float1::Ceil, d, a),
            arith::TRUNC => self.float1(Float1::Trunc, d, a),
            arith::ROUND => self.float1(Float1::Round, d, a),
            arith::MIN => self.float2(Float2::Min, d, a, b),
            arith::MAX => self.float2(Float2::Max, d, a, b),
            arith::COPYSIGN => self.float2(Float2::Copysign, d, a, b),
            arith::MULZ => self.mulz(ty, d, a, b),
            arith::EQ => self.set_float_cmp(FloatCmp::Eq, d, a, b),
            arith::NE => self.set_float_cmp(FloatCmp::Ne, d, a, b),
            arith::LT => self.set_float_cmp(FloatCmp::Lt, d, a, b),
            arith::LE => self.set_float_cmp(FloatCmp::Le, d, a, b),
            arith::GT => self.set_float_cmp(FloatCmp::Lt, d, b, a),
            arith::GE => self.set_float_cmp(FloatCmp::Le, d, b, a),
            arith::ISNAN => self.set_float_cmp(FloatCmp::Ne, d, a, a),
            arith::FMA => {
                let (x, y, z) = (self.e.read(a), self.e.read(b), self.e.read(c));
                let x = self.e.fma(x, y, z);
                self.e.write(d, x);
            }
            arith::SIGNBIT => {
                let bits = self.bits(ty, a);
                let zero = self.e.int(0);
                let negative = self.e.int_cmp(IntCmp::Lt, bits, zero);
                let x = self.e.flag(negative);
                self.e.write(d, x);
            }
            arith::ISINF | arith::ISFINITE => {
                let x = self.e.read(a);
                let x = self.e.float1(Float1::Abs, x);
                let infinite = self.infinity(ty);
                let cmp = if op == arith::ISINF { FloatCmp::Eq } else { FloatCmp::Lt };
                let flag = self.e.float_cmp(cmp, x, infinite);
                let x = self.e.flag(flag);
                self.e.write(d, x);
            }
            arith::FLOAT_CAST | core::CONVERT if !result.is_int() => match (ty, result) {
                (Scalar::F64, Scalar::F32) => self.cast(Cast::DoubleToSingle, d, a),
                (Scalar::F32, Scalar::F64) => self.cast(Cast::SingleToDouble, d, a),
                _ => {
                    let x = self.e.read(a);
                    self.e.write(d, x);
                }
            },
            arith::FLOAT_TO_INT if (ty, result) == (Scalar::F64, Scalar::I64) => {
                self.float_to_int(pc, d, a);
            }
            core::SAME => {
                let (x, y) = (self.bits(ty, a), self.bits(ty, b));
                let flag = self.e.int_cmp(IntCmp::Eq, x, y);
                let x = self.e.flag(flag);
                self.e.write(d, x);
            }
            core::HASH if ty == Scalar::F64 => {
                self.call_of_one(&hash_tables::hash_of_double(), d, a);
            }
            arith::BITCAST if result.is_int() => {
                let bits = self.bits(ty, a);
                self.e.write(d, bits);
            }
            op => return self.math(pc, op, ty, d, a, b),
        }
        true
    }

    /// Calls a function of one number.
    pub(super) fn call_of_one(&mut self, function: &Function, d: Reg, a: Reg) {
        let x = self.e.read(a);
        if let Some(result) = self.e.call(function, &[x]) {
            self.e.write(d, result);
        }
    }

    /// Does the common case if `flag` holds, and leaves the instruction to the runtime otherwise.
    pub(super) fn quickly(&mut self, flag: E::Flag, pc: Pc, common: impl FnOnce(&mut Self)) {
        let slow = self.e.block(true);
        self.quickly_unless(slow, flag, pc, common);
    }

    /// The same where control may have gone to the block already in which the runtime does it.
    pub(super) fn quickly_unless(
        &mut self,
        slow: E::Block,
        flag: E::Flag,
        pc: Pc,
        common: impl FnOnce(&mut Self),
    ) {
        let (quick, then) = (self.e.block(false), self.e.block(false));
        self.e.branch(flag, quick, slow);
        self.e.enter(slow);
        self.slowly(pc);
        self.e.jump(then);
        self.e.enter(quick);
        common(self);
        self.e.jump(then);
        self.e.enter(then);
    }

    /// Returns whether the runtime may have to run an instruction on the frame.
    pub(super) fn may_be_slow(&self, inst: Inst) -> bool {
        match inst {
            Inst::Scalar { function, .. } => {
                let op = self.source.code.functions[usize::from(function)];
                !math::is_total(op.op) || op.ty != Scalar::F64
            }
            Inst::Unbox { .. } | Inst::SwitchVal { .. } | Inst::Unreachable => true,
            inst => inst.touches_memory(),
        }
    }
}
