//! Ops on floats that are more than an operation of the machine.

use regraft_dialects::math as ops;
use regraft_ir::Op;

use super::super::emitter::{Cast, Emitter, Float1, Float2, FloatCmp, Int2, IntCmp};
use super::super::math::{self, Domain};
use super::Translator;
use crate::interp::{Pc, Reg, Scalar};

impl<E: Emitter> Translator<'_, '_, E> {
    /// The bits of a float as an integer.
    pub(super) fn bits(&mut self, ty: Scalar, a: Reg) -> E::Value {
        let x = self.e.read(a);
        self.e.cast(if ty == Scalar::F32 { Cast::BitsOfSingle } else { Cast::BitsOfDouble }, x)
    }

    pub(super) fn infinity(&mut self, ty: Scalar) -> E::Value {
        match ty {
            Scalar::F32 => self.e.single(f32::INFINITY.to_bits()),
            _ => self.e.double(f64::INFINITY.to_bits()),
        }
    }

    /// The product in which a zero wins.
    pub(super) fn mulz(&mut self, ty: Scalar, d: Reg, a: Reg, b: Reg) {
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
    pub(super) fn float_to_int(&mut self, pc: Pc, d: Reg, a: Reg) {
        let x = self.e.read(a);
        let (size, large) =
            (self.e.float1(Float1::Abs, x), self.e.double((2f64.powi(62)).to_bits()));
        let small = self.e.float_cmp(FloatCmp::Lt, size, large);
        self.quickly(small, pc, |this| {
            let x = this.e.cast(Cast::DoubleToInt, x);
            this.e.write(d, x);
        });
    }

    /// An elementary function.
    pub(super) fn math(&mut self, pc: Pc, op: Op, ty: Scalar, d: Reg, a: Reg, b: Reg) -> bool {
        if op == ops::SQRT {
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
            self.call_of_one(&function.call, d, a);
            return true;
        }
        let Some(function) = math::of_two(op) else { return false };
        let (x, y) = (self.e.read(a), self.e.read(b));
        let call = |this: &mut Self| {
            if let Some(result) = this.e.call(&function, &[x, y]) {
                this.e.write(d, result);
            }
        };
        match op {
            // Of a negative number only powers to whole ones are defined.
            ops::POW => {
                let zero = self.e.double(0);
                let usual = self.e.float_cmp(FloatCmp::Le, zero, x);
                self.quickly(usual, pc, call);
            }
            _ => call(self),
        }
        true
    }

    /// Leaves with an error unless `x` is in the domain of a function.
    pub(super) fn check_domain(&mut self, pc: Pc, domain: Domain, x: E::Value) {
        let outside = match domain {
            Domain::All => return,
            Domain::AtLeast(limit) => {
                let limit = self.e.double(limit.to_bits());
                self.e.float_cmp(FloatCmp::Lt, x, limit)
            }
            Domain::Finite => {
                let (size, limit) = (self.e.float1(Float1::Abs, x), self.infinity(Scalar::F64));
                self.e.float_cmp(FloatCmp::Eq, size, limit)
            }
            Domain::Within(limit) => {
                let size = self.e.float1(Float1::Abs, x);
                let limit = self.e.double(limit.to_bits());
                self.e.float_cmp(FloatCmp::Lt, limit, size)
            }
        };
        let (outside, zero) = (self.e.flag(outside), self.e.int(0));
        let inside = self.e.int_cmp(IntCmp::Eq, outside, zero);
        self.ensure(inside, pc);
    }
}
