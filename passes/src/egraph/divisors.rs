//! Divisors that are not zero, as all floats are real numbers.
//!
//! ```text
//! %3: f64 = arith.fdiv %1, %2
//! %4: f64 = arith.mul %3, %3
//! mem.store %a, %4, 1               %2 is not zero
//! %5: f64 = arith.fdiv 0.5, %2
//! %6: f64 = arith.mulz %7, %5       so %5 is finite, and this is a product like others
//! ```
//!
//! # Method
//! A quotient that sums and products carry to a result of the function, to memory or to the only block that follows would be infinite
//! there if its divisor were zero. All of this happens in the block of the quotient: one that is computed ahead, for a way that need not be
//! taken, says nothing. One that may not get there, as `mulz` or a selection leaves it away, says nothing: it may be
//! the derivative at a singular point, which is guarded.

use regraft_dialects::{arith, math};
use regraft_ir::{Function, Operand, Use, Value};

/// The most values that are looked at.
const MAX_VISITED: usize = 64;

/// Returns whether something other than a number would get out of a block if the divisor of `quotient` were zero.
/// O(uses of `MAX_VISITED` values).
pub(super) fn shows_divisor(f: &Function, quotient: Value) -> bool {
    let (mut work, mut seen) = (vec![quotient], vec![quotient]);
    while let Some(v) = work.pop() {
        for at in f.uses(v) {
            if f.block_of(at.user) != f.block_of(quotient) {
                continue;
            }
            if is_way_out(f, at) {
                return true;
            }
            if is_carried(f, at) && seen.len() < MAX_VISITED && !seen.contains(&at.user) {
                seen.push(at.user);
                work.push(at.user);
            }
        }
    }
    false
}

/// Returns whether a use is the only way on from its block, or is seen by others.
fn is_way_out(f: &Function, at: Use) -> bool {
    match at.user.is_terminator() {
        true => f.out_edges(f.block_of(at.user)).nth(1).is_none(),
        false => f.op_def(at.user).is_some_and(|def| def.effects.writes_anything()),
    }
}

/// Returns whether the result of an instruction is infinite or no number if this operand is infinite.
fn is_carried(f: &Function, at: Use) -> bool {
    match f.op(at.user) {
        Some(arith::ADD | arith::SUB | arith::MUL | arith::NEG) => true,
        Some(math::POWI) => {
            let exponent = f.operand(at.user, 1).and_then(Operand::as_const);
            let exponent = exponent.and_then(|n| f.ctx().constant(n).as_int());
            at.index == 0 && exponent.is_some_and(|n| n > 0)
        }
        Some(arith::FDIV) => at.index == 0,
        _ => false,
    }
}
