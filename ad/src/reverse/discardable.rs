//! Values that may be computed for nothing.
//!
//! ```text
//! %2: f64 = math.sqrt %1
//! %3: f64 = core.select %c, %2, 0.0
//! ```
//!
//! The cotangent of `%2` is zero where it is not selected, and what it gives to `%1` has to be zero
//! as well, also where the derivative of the root is infinite: zero times infinity is no number.

use regraft_dialects::{arith, core};
use regraft_ir::{Block, Function, Value};

/// By [`Value::index`], the values that may be discarded after they were computed: by a select, or
/// as the lesser of two. Their cotangent is then zero, whatever their derivative is.
pub(super) fn discardable(f: &Function, blocks: &[Block]) -> Vec<bool> {
    let mut found = vec![false; f.value_capacity()];
    for &block in blocks.iter().rev() {
        let body: Vec<Value> = f.body(block).collect();
        for &v in body.iter().rev() {
            let selects = matches!(f.op(v), Some(core::SELECT | arith::MIN | arith::MAX));
            if !selects && !found[v.index()] {
                continue;
            }
            for operand in f.plain_operands(v) {
                if let Some(operand) = operand.as_value()
                    && f.ty(operand).is_float()
                {
                    found[operand.index()] = true;
                }
            }
        }
    }
    found
}
