//! Small integer constants that stand in the instruction itself.
//!
//! They need no register, which would have to be filled whenever a frame starts. What is decided
//! here depends on the function alone, so that constants get their registers before any code is
//! made.

use regraft_dialects::arith;
use regraft_ir::{Op, Operand, Type, Value};

use super::super::inst::Inst;
use super::super::register::Reg;
use super::Compiler;
use super::control::Test;

/// A comparison with a constant, whose register is still to be said.
#[derive(Clone, Copy)]
pub(super) enum ImmediateTest {
    Eq(i32),
    Ne(i32),
    Lt(i32),
    Ge(i32),
}

impl ImmediateTest {
    pub(super) fn of(self, a: Reg) -> Test {
        match self {
            Self::Eq(imm) => Test::EqImm(a, imm),
            Self::Ne(imm) => Test::NeImm(a, imm),
            Self::Lt(imm) => Test::LtImm(a, imm),
            Self::Ge(imm) => Test::GeImm(a, imm),
        }
    }
}

impl Compiler<'_> {
    /// Returns whether the constant at `index` stands in the instruction that is made of `v`.
    pub(super) fn is_immediate(&self, v: Value, index: usize) -> bool {
        let operand = self.f.operand(v, index);
        let is = |other: Operand| operand.is_some_and(|operand| operand != other);
        if self.is_fused(v) {
            return self.immediate_test(v).is_some_and(|(x, _)| is(x));
        }
        self.immediate_sum(v).is_some_and(|(x, _)| is(x))
    }

    /// Adding a small constant to the operand, if `v` is that.
    pub(super) fn immediate_sum(&self, v: Value) -> Option<(Operand, i32)> {
        let op = self.f.op(v)?;
        if self.f.ty(v) != Type::I64 || !(op == arith::ADD || op == arith::SUB) {
            return None;
        }
        let [x, y] = self.f.matches(v, op)?;
        let (x, imm) = match (self.small(x), self.small(y)) {
            (None, Some(y)) if op == arith::SUB => (x, y.checked_neg()?),
            (None, Some(y)) => (x, y),
            (Some(x), None) if op == arith::ADD => (y, x),
            _ => return None,
        };
        (self.f.operand_type(x) == Type::I64).then_some((x, imm))
    }

    /// The operand that a fused comparison compares with a small constant, and how.
    pub(super) fn immediate_test(&self, v: Value) -> Option<(Operand, ImmediateTest)> {
        let op = self.f.op(v)?;
        let [x, y] = self.f.matches(v, op)?;
        let (x, op, imm) = match (self.small(x), self.small(y)) {
            (None, Some(y)) => (x, op, y),
            (Some(x), None) => (y, swapped(op), x),
            _ => return None,
        };
        if !self.f.operand_type(x).is_int() {
            return None;
        }
        let test = match op {
            arith::EQ => ImmediateTest::Eq(imm),
            arith::NE => ImmediateTest::Ne(imm),
            arith::LT => ImmediateTest::Lt(imm),
            arith::GE => ImmediateTest::Ge(imm),
            arith::LE => ImmediateTest::Lt(imm.checked_add(1)?),
            arith::GT => ImmediateTest::Ge(imm.checked_add(1)?),
            _ => return None,
        };
        Some((x, test))
    }

    pub(super) fn add_immediate(&mut self, v: Value, d: Reg) -> Option<Inst> {
        let (x, imm) = self.immediate_sum(v)?;
        let a = self.reg(x, super::super::register::Scalar::I64)?;
        Some(Inst::AddImm { d, a, imm })
    }

    fn small(&self, operand: Operand) -> Option<i32> {
        let constant = self.f.constant(operand)?;
        if !self.f.operand_type(operand).is_int() {
            return None;
        }
        i32::try_from(constant.as_int()?).ok()
    }
}

/// The comparison of `y` with `x` that says the same as that of `x` with `y`.
fn swapped(op: Op) -> Op {
    match op {
        arith::LT => arith::GT,
        arith::LE => arith::GE,
        arith::GT => arith::LT,
        arith::GE => arith::LE,
        other => other,
    }
}
