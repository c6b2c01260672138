//! Instructions that compute a count.

use regraft_dialects::{arith, core};
use regraft_ir::{Constant, Function, Inst, IrResult, Operand, Type, Value};

use super::materialize;
use crate::analysis::loop_exits::{Condition, Count, CountForm, LatchRuns, is_signed_distance};
use crate::analysis::{LoopId, Poly};

impl Count {
    /// Inserts instructions before `at` (which may be a terminator) that compute the count; none
    /// of them traps. The result is of type [`Count::ty`], unsigned. What the count mentions has
    /// to dominate `at`; `counter` gives the iterations of the loops around.
    ///
    /// # Errors
    /// If `at` or a value in it is stale.
    pub fn materialize(
        &self,
        f: &mut Function,
        at: Value,
        counter: &mut dyn FnMut(LoopId) -> Operand,
    ) -> IrResult<Operand> {
        let ty = self.ty();
        let constant = |f: &Function, x: u64| -> Operand {
            f.constant_id(Constant::int(ty, x as i64).expect("counts are integers")).into()
        };
        let insert = |f: &mut Function, inst: Inst| f.insert(at, inst).map(Operand::from);
        match &self.form {
            CountForm::Number(poly) => materialize(f, poly, at, counter),
            CountForm::Equal(left, right) => {
                let left = materialize(f, left, at, counter)?;
                let right = materialize(f, right, at, counter)?;
                let equal = insert(f, arith::eq(left, right))?;
                insert(f, arith::zext(equal, ty))
            }
            CountForm::Solution { distance, shift, inverse } => {
                let distance = materialize(f, distance, at, counter)?;
                let count: Operand = f.constant_id(i64::from(*shift)).into();
                let mut solution = insert(f, arith::shr(distance, count))?;
                if *inverse != 1 {
                    let inverse = constant(f, *inverse as u64);
                    solution = insert(f, arith::mul(solution, inverse))?;
                    let mask = constant(f, (u64::MAX >> (64 - ty.bits().unwrap_or(64))) >> shift);
                    solution = insert(f, arith::and(solution, mask))?;
                }
                Ok(solution)
            }
            CountForm::Distance { from, to, down, stride } => {
                let is_signed = is_signed_distance(f, from, to, *down);
                let (first, last) =
                    (materialize(f, from, at, counter)?, materialize(f, to, at, counter)?);
                let (high, low) = if *down {
                    (first, insert(f, arith::min(first, last))?)
                } else {
                    (insert(f, arith::max(first, last))?, first)
                };
                let is_zero = f.constant(low).and_then(Constant::as_int) == Some(0);
                let distance = if is_zero { high } else { insert(f, arith::sub(high, low))? };
                if *stride == 1 {
                    return Ok(distance);
                }
                divide_up(f, distance, *stride, is_signed, &insert, &constant)
            }
        }
    }
}

/// `x` (unsigned; `is_signed` if it is known to be a signed number too) divided by a constant and
/// rounded up.
fn divide_up(
    f: &mut Function,
    x: Operand,
    by: u64,
    is_signed: bool,
    insert: &dyn Fn(&mut Function, Inst) -> IrResult<Operand>,
    constant: &dyn Fn(&Function, u64) -> Operand,
) -> IrResult<Operand> {
    let (zero, one, divisor) = (constant(f, 0), constant(f, 1), constant(f, by));
    // Of what is not 0, one less is rounded down: that cannot overflow.
    let positive = insert(f, arith::ne(x, zero))?;
    let ty = f.operand_type(x);
    let some = insert(f, arith::zext(positive, ty))?;
    let less = insert(f, arith::sub(x, some))?;
    let quotient = if by.is_power_of_two() {
        let count: Operand = f.constant_id(i64::from(by.trailing_zeros())).into();
        insert(f, arith::shr(less, count))?
    } else if is_signed {
        insert(f, arith::div(less, divisor))?
    } else {
        // Half of it is a signed number; the quotient is then too small by 1 at most.
        let half: Operand = f.constant_id(1i64).into();
        let halved = insert(f, arith::shr(less, half))?;
        let quotient = insert(f, arith::div(halved, divisor))?;
        let double = insert(f, arith::add(quotient, quotient))?;
        let product = insert(f, arith::mul(double, divisor))?;
        let rest = insert(f, arith::sub(less, product))?;
        // 0 <= rest < 2 * by as an unsigned number: it is a negative signed one if it is large.
        let reached = insert(f, arith::ge(rest, divisor))?;
        let negative = insert(f, arith::lt(rest, zero))?;
        let either = insert(f, arith::or(reached, negative))?;
        let correction = insert(f, core::select(either, one, zero))?;
        insert(f, arith::add(double, correction))?
    };
    insert(f, arith::add(quotient, some))
}

impl Condition {
    /// Inserts a comparison before `at` that tells whether the condition is met.
    ///
    /// # Errors
    /// If `at` or a value in it is stale.
    pub fn materialize(
        &self,
        f: &mut Function,
        at: Value,
        counter: &mut dyn FnMut(LoopId) -> Operand,
    ) -> IrResult<Operand> {
        let value = materialize(f, &self.value, at, counter)?;
        let limit = Poly::constant(self.value.ty(), self.limit);
        let limit = materialize(f, &limit, at, counter)?;
        let inst = if self.at_least { arith::ge(value, limit) } else { arith::le(value, limit) };
        Ok(f.insert(at, inst)?.into())
    }
}

impl Count {
    /// The same as [`Count::materialize`], as an `i64`.
    ///
    /// # Errors
    /// As of that.
    pub fn materialize_i64(
        &self,
        f: &mut Function,
        at: Value,
        counter: &mut dyn FnMut(LoopId) -> Operand,
    ) -> IrResult<Operand> {
        let count = self.materialize(f, at, counter)?;
        match f.operand_type(count) {
            Type::I64 => Ok(count),
            _ => f.insert(at, arith::zext(count, Type::I64)).map(Operand::from),
        }
    }
}

impl LatchRuns {
    /// The count as a constant, if it is one and fits an `i64`.
    pub fn as_constant(&self) -> Option<i64> {
        match *self {
            Self::Constant(n) => i64::try_from(n).ok(),
            _ => None,
        }
    }
}
