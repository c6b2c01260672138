//! Instructions on scalars, and the branches on them.

use regraft_dialects::arith;
use regraft_ir::Op;

use super::super::emitter::{Cast, Emitter, Float1, Float2, FloatCmp, Int1, Int2, IntCmp, Mem};
use super::super::math::{self, Domain};
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

    fn set_int_cmp(&mut self, op: IntCmp, d: Reg, a: Reg, b: Reg) {
        let flag = self.int_flag(op, a, b);
        let x = self.e.flag(flag);
        self.e.write(d, x);
    }

    fn set_float_cmp(&mut self, op: FloatCmp, d: Reg, a: Reg, b: Reg) {
        let flag = self.float_flag(op, a, b);
        let x = self.e.flag(flag);
        self.e.write(d, x);
    }

    fn int2(&mut self, op: Int2, d: Reg, a: Reg, b: Reg) {
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

    fn float1(&mut self, op: Float1, d: Reg, a: Reg) {
        let a = self.e.read(a);
        let x = self.e.float1(op, a);
        self.e.write(d, x);
    }

    fn cast(&mut self, op: Cast, d: Reg, a: Reg) {
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
            arith::FLOAT_CAST | regraft_dialects::core::CONVERT if !result.is_int() => {
                match (ty, result) {
                    (Scalar::F64, Scalar::F32) => self.cast(Cast::DoubleToSingle, d, a),
                    (Scalar::F32, Scalar::F64) => self.cast(Cast::SingleToDouble, d, a),
                    _ => {
                        let x = self.e.read(a);
                        self.e.write(d, x);
                    }
                }
            }
            arith::FLOAT_TO_INT if (ty, result) == (Scalar::F64, Scalar::I64) => {
                self.float_to_int(pc, d, a);
            }
            arith::BITCAST if result.is_int() => {
                let bits = self.bits(ty, a);
                self.e.write(d, bits);
            }
            op => return self.math(pc, op, ty, d, a, b),
        }
        true
    }

    /// The bits of a float as an integer.
    fn bits(&mut self, ty: Scalar, a: Reg) -> E::Value {
        let x = self.e.read(a);
        self.e.cast(if ty == Scalar::F32 { Cast::BitsOfSingle } else { Cast::BitsOfDouble }, x)
    }

    fn infinity(&mut self, ty: Scalar) -> E::Value {
        match ty {
            Scalar::F32 => self.e.single(f32::INFINITY.to_bits()),
            _ => self.e.double(f64::INFINITY.to_bits()),
        }
    }

    /// The product in which a zero wins.
    fn mulz(&mut self, ty: Scalar, d: Reg, a: Reg, b: Reg) {
        let (x, y) = (self.e.read(a), self.e.read(b));
        let product = self.e.float2(Float2::Mul, x, y);
        let zero = match ty {
            Scalar::F32 => self.e.single(0),
            _ => self.e.double(0),
        };
        let nan = self.e.float_cmp(FloatCmp::Ne, product, product);
        let (zero_x, zero_y) =
            (self.e.float_cmp(FloatCmp::Eq, x, zero), self.e.float_cmp(FloatCmp::Eq, y, zero));
        let (zero_x, zero_y) = (self.e.flag(zero_x), self.e.flag(zero_y));
        let any = self.e.int2(Int2::Or, zero_x, zero_y);
        let any = self.nonzero(any);
        let wins = self.e.and(nan, any);
        let x = self.e.select(wins, zero, product);
        self.e.write(d, x);
    }

    /// The whole part of a float; the runtime does those that are large.
    fn float_to_int(&mut self, pc: Pc, d: Reg, a: Reg) {
        let x = self.e.read(a);
        let (size, large) =
            (self.e.float1(Float1::Abs, x), self.e.double((2f64.powi(62)).to_bits()));
        let small = self.e.float_cmp(FloatCmp::Lt, size, large);
        self.quickly(small, pc, |this| {
            let x = this.e.cast(Cast::DoubleToInt, x);
            this.e.write(d, x);
        });
    }

    /// Does the common case if `flag` holds, and leaves the instruction to the runtime otherwise.
    fn quickly(&mut self, flag: E::Flag, pc: Pc, common: impl FnOnce(&mut Self)) {
        let (quick, slow, then) = (self.e.block(false), self.e.block(true), self.e.block(false));
        self.e.branch(flag, quick, slow);
        self.e.enter(slow);
        self.slowly(pc);
        self.e.jump(then);
        self.e.enter(quick);
        common(self);
        self.e.jump(then);
        self.e.enter(then);
    }

    /// An elementary function.
    fn math(&mut self, pc: Pc, op: Op, ty: Scalar, d: Reg, a: Reg, b: Reg) -> bool {
        if op == regraft_dialects::math::SQRT {
            let x = self.e.read(a);
            let zero = self.constant(ty.class(), 0);
            let negative = self.e.float_cmp(FloatCmp::Lt, x, zero);
            let negative = self.e.flag(negative);
            let none = self.e.int(0);
            let fits = self.e.int_cmp(IntCmp::Eq, negative, none);
            self.ensure(fits, pc);
            let x = self.e.float1(Float1::Sqrt, x);
            self.e.write(d, x);
            return true;
        }
        if ty != Scalar::F64 {
            return false;
        }
        if let Some(function) = math::of_one(op) {
            let x = self.e.read(a);
            self.check_domain(pc, function.domain, x);
            if let Some(result) = self.e.call(&function.call, &[x]) {
                self.e.write(d, result);
            }
            return true;
        }
        if let Some(function) = math::of_two(op) {
            let (x, y) = (self.e.read(a), self.e.read(b));
            if let Some(result) = self.e.call(&function, &[x, y]) {
                self.e.write(d, result);
            }
            return true;
        }
        false
    }

    /// Leaves with an error unless `x` is in the domain of a function.
    fn check_domain(&mut self, pc: Pc, domain: Domain, x: E::Value) {
        let (cmp, limit, size) = match domain {
            Domain::All => return,
            Domain::AtLeast(limit) => (FloatCmp::Lt, limit, false),
            Domain::Finite => (FloatCmp::Eq, f64::INFINITY, true),
            Domain::Within(limit) => (FloatCmp::Lt, limit, true),
        };
        let limit = self.e.double(limit.to_bits());
        let x = if size { self.e.float1(Float1::Abs, x) } else { x };
        let outside = match domain {
            Domain::Within(_) => self.e.float_cmp(cmp, limit, x),
            _ => self.e.float_cmp(cmp, x, limit),
        };
        let (outside, zero) = (self.e.flag(outside), self.e.int(0));
        let inside = self.e.int_cmp(IntCmp::Eq, outside, zero);
        self.ensure(inside, pc);
    }

    fn int_op(&mut self, pc: Pc, function: ScalarOp, d: Reg, a: Reg, b: Reg) -> bool {
        let ScalarOp { op, ty, result, .. } = function;
        let wide = ty == Scalar::I64;
        match op {
            arith::MIN => self.int2(Int2::Min, d, a, b),
            arith::MAX => self.int2(Int2::Max, d, a, b),
            arith::EQ => self.set_int_cmp(IntCmp::Eq, d, a, b),
            arith::NE => self.set_int_cmp(IntCmp::Ne, d, a, b),
            arith::LT => self.set_int_cmp(IntCmp::Lt, d, a, b),
            arith::LE => self.set_int_cmp(IntCmp::Le, d, a, b),
            arith::GT => self.set_int_cmp(IntCmp::Lt, d, b, a),
            arith::GE => self.set_int_cmp(IntCmp::Le, d, b, a),
            arith::AND => self.int2(Int2::And, d, a, b),
            arith::OR => self.int2(Int2::Or, d, a, b),
            arith::XOR => self.int2(Int2::Xor, d, a, b),
            arith::ADD | arith::SUB | arith::MUL if ty != Scalar::Bool => {
                let op = match op {
                    arith::ADD => Int2::Add,
                    arith::SUB => Int2::Sub,
                    _ => Int2::Mul,
                };
                let (x, y) = (self.e.read(a), self.e.read(b));
                let x = self.e.int2(op, x, y);
                let x = self.low(ty, x);
                self.e.write(d, x);
            }
            arith::NEG | arith::ABS => {
                let (zero, x) = (self.e.int(0), self.e.read(a));
                let negative = self.e.int2(Int2::Sub, zero, x);
                let result =
                    if op == arith::NEG { negative } else { self.e.int2(Int2::Max, x, negative) };
                // The least integer has none: its negative wraps to itself.
                let result = self.low(ty, result);
                self.e.write(d, result);
            }
            arith::SIGNBIT => {
                let (zero, x) = (self.e.int(0), self.e.read(a));
                let flag = self.e.int_cmp(IntCmp::Lt, x, zero);
                let x = self.e.flag(flag);
                self.e.write(d, x);
            }
            arith::CLZ if wide => self.int1(Int1::Clz, d, a),
            arith::CTZ if wide => self.int1(Int1::Ctz, d, a),
            arith::POPCOUNT if wide => self.int1(Int1::Popcount, d, a),
            arith::BITREVERSE if wide => self.int1(Int1::Bitreverse, d, a),
            arith::BSWAP if wide => self.int1(Int1::Bswap, d, a),
            arith::SHL | arith::SHR | arith::ASHR if wide => self.shift(pc, op, d, a, b),
            arith::DIV | arith::REM | arith::FLD | arith::CLD | arith::MOD => {
                self.divide(pc, op, d, a, b);
            }
            arith::CHECKED_ADD | arith::CHECKED_SUB if wide => {
                self.checked(pc, op == arith::CHECKED_ADD, d, a, b);
            }
            arith::WRAP | arith::SEXT if result != Scalar::Bool => {
                let x = self.e.read(a);
                let x = self.low(result, x);
                self.e.write(d, x);
            }
            arith::WRAP => {
                let (x, one) = (self.e.read(a), self.e.int(1));
                let x = self.e.int2(Int2::And, x, one);
                self.e.write(d, x);
            }
            arith::ZEXT => {
                let x = self.e.read(a);
                let bits = ty.mem().size() * 8;
                let x = if bits < 64 {
                    let mask = self.e.int((1 << bits) - 1);
                    self.e.int2(Int2::And, x, mask)
                } else {
                    x
                };
                let x = self.low(result, x);
                self.e.write(d, x);
            }
            arith::INT_TO_FLOAT | regraft_dialects::core::CONVERT if result == Scalar::F64 => {
                self.cast(Cast::IntToDouble, d, a);
            }
            arith::INT_TO_FLOAT | regraft_dialects::core::CONVERT if result == Scalar::F32 => {
                self.cast(Cast::IntToSingle, d, a);
            }
            arith::BITCAST => match result {
                Scalar::F64 => self.cast(Cast::DoubleOfBits, d, a),
                Scalar::F32 => self.cast(Cast::SingleOfBits, d, a),
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    fn int1(&mut self, op: Int1, d: Reg, a: Reg) {
        let a = self.e.read(a);
        let x = self.e.int1(op, a);
        self.e.write(d, x);
    }

    /// The low bits of an integer as a narrower type.
    fn low(&mut self, ty: Scalar, x: E::Value) -> E::Value {
        match ty {
            Scalar::I8 | Scalar::I16 | Scalar::I32 => self.e.int1(Int1::Low(ty.mem()), x),
            _ => x,
        }
    }

    /// A shift by less than the width; the runtime does the others.
    fn shift(&mut self, pc: Pc, op: Op, d: Reg, a: Reg, b: Reg) {
        let (x, count, width) = (self.e.read(a), self.e.read(b), self.e.int(64));
        let usual = self.e.int_cmp(IntCmp::Below, count, width);
        let shift = match op {
            arith::SHL => Int2::Shl,
            arith::SHR => Int2::Shr,
            _ => Int2::Sar,
        };
        self.quickly(usual, pc, |this| {
            let x = this.e.int2(shift, x, count);
            this.e.write(d, x);
        });
    }

    /// A quotient or remainder; the runtime does those by 0 and by -1.
    fn divide(&mut self, pc: Pc, op: Op, d: Reg, a: Reg, b: Reg) {
        let (x, y) = (self.e.read(a), self.e.read(b));
        let (one, two) = (self.e.int(1), self.e.int(2));
        let above = self.e.int2(Int2::Add, y, one);
        let usual = self.e.int_cmp(IntCmp::AboveOrEq, above, two);
        self.quickly(usual, pc, |this| {
            let zero = this.e.int(0);
            let result = match op {
                arith::DIV => this.e.int2(Int2::Div, x, y),
                arith::REM => this.e.int2(Int2::Rem, x, y),
                _ => {
                    let rem = this.e.int2(Int2::Rem, x, y);
                    let signs = this.e.int2(Int2::Xor, rem, y);
                    let differ = match op {
                        arith::CLD => this.e.int_cmp(IntCmp::Le, zero, signs),
                        _ => this.e.int_cmp(IntCmp::Lt, signs, zero),
                    };
                    let left = this.e.int_cmp(IntCmp::Ne, rem, zero);
                    let crosses = this.e.and(differ, left);
                    if op == arith::MOD {
                        let other = this.e.int2(Int2::Add, rem, y);
                        this.e.select(crosses, other, rem)
                    } else {
                        let quotient = this.e.int2(Int2::Div, x, y);
                        let step = this.e.flag(crosses);
                        let op = if op == arith::CLD { Int2::Add } else { Int2::Sub };
                        this.e.int2(op, quotient, step)
                    }
                }
            };
            this.e.write(d, result);
        });
    }

    /// A sum or difference; it is an error if it wraps.
    fn checked(&mut self, pc: Pc, is_sum: bool, d: Reg, a: Reg, b: Reg) {
        let (x, y, zero) = (self.e.read(a), self.e.read(b), self.e.int(0));
        let result = self.e.int2(if is_sum { Int2::Add } else { Int2::Sub }, x, y);
        // It wraps if its sign differs from that of `x`, and from that of what is added.
        let turned = self.e.int2(Int2::Xor, x, result);
        let against =
            if is_sum { self.e.int2(Int2::Xor, y, result) } else { self.e.int2(Int2::Xor, x, y) };
        let wraps = self.e.int2(Int2::And, turned, against);
        let fits = self.e.int_cmp(IntCmp::Le, zero, wraps);
        self.ensure(fits, pc);
        self.e.write(d, result);
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
