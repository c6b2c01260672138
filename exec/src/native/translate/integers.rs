//! Ops on integers.

use regraft_dialects::{arith, core};
use regraft_ir::Op;

use super::super::emitter::{Cast, Emitter, Int1, Int2, IntCmp};
use super::super::{hash_tables, math};
use super::Translator;
use crate::interp::{Pc, Reg, Scalar, ScalarOp};

impl<E: Emitter> Translator<'_, '_, E> {
    pub(super) fn int_op(&mut self, pc: Pc, function: ScalarOp, d: Reg, a: Reg, b: Reg) -> bool {
        let ScalarOp { op, ty, result, .. } = function;
        let wide = ty == Scalar::I64;
        match op {
            arith::MIN => self.int2(Int2::Min, d, a, b),
            arith::MAX => self.int2(Int2::Max, d, a, b),
            arith::EQ | core::SAME => self.set_int_cmp(IntCmp::Eq, d, a, b),
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
            core::HASH => self.call_of_one(&hash_tables::hash_of_int(), d, a),
            arith::CLZ if wide => self.int1(Int1::Clz, d, a),
            arith::CTZ if wide => self.int1(Int1::Ctz, d, a),
            arith::POPCOUNT if wide => self.int1(Int1::Popcount, d, a),
            arith::BITREVERSE if wide => self.int1(Int1::Bitreverse, d, a),
            arith::BSWAP if wide => self.int1(Int1::Bswap, d, a),
            arith::SHL | arith::SHR | arith::ASHR if wide => self.shift(pc, op, d, a, b),
            arith::DIV | arith::REM | arith::FLD | arith::CLD | arith::MOD => {
                match self.source.code.constant_in(b) {
                    Some(u64::MAX) => self.divide_by_minus_one(pc, function, d, a),
                    _ => self.divide(pc, op, d, a, b),
                }
            }
            arith::POWI if wide => {
                let Some(power) = math::of_two(op) else { return false };
                let (x, n, zero) = (self.e.read(a), self.e.read(b), self.e.int(0));
                let usual = self.e.int_cmp(IntCmp::Le, zero, n);
                self.quickly(usual, pc, |this| {
                    if let Some(result) = this.e.call(&power, &[x, n]) {
                        this.e.write(d, result);
                    }
                });
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
            arith::INT_TO_FLOAT | core::CONVERT if result == Scalar::F64 => {
                self.cast(Cast::IntToDouble, d, a);
            }
            arith::INT_TO_FLOAT | core::CONVERT if result == Scalar::F32 => {
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

    /// A quotient or remainder by -1; the runtime does that of the least integer.
    fn divide_by_minus_one(&mut self, pc: Pc, function: ScalarOp, d: Reg, a: Reg) {
        let least = i64::MIN >> (64 - 8 * function.ty.mem().size());
        let (x, least, zero) = (self.e.read(a), self.e.int(least), self.e.int(0));
        let usual = self.e.int_cmp(IntCmp::Ne, x, least);
        self.quickly(usual, pc, |this| {
            let result = match function.op {
                arith::REM | arith::MOD => zero,
                _ => this.e.int2(Int2::Sub, zero, x),
            };
            this.e.write(d, result);
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
}
