//! Instructions that make arrays, and why they can fail: for a negative dimension, which is an error of
//! the program, or for want of memory, which is a limit of the engine and no part of what a
//! program means.

use regraft_dialects::{arith, mem};
use regraft_ir::{Function, Operand, Value};

/// Returns whether `v` makes an array, which fails for its dimensions or for want of memory.
pub(crate) fn is_allocation_site(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(mem::ALLOC | mem::FILL | mem::COPY))
}

/// Returns whether `v` makes or grows an array and cannot fail but for want of memory.
pub(crate) fn needs_memory_only(f: &Function, v: Value) -> bool {
    needs_memory_only_given(f, v, |size| plainly_natural(f, size))
}

/// The same, given which operands are known not to be negative.
pub(crate) fn needs_memory_only_given(
    f: &Function,
    v: Value,
    is_natural: impl FnMut(Operand) -> bool,
) -> bool {
    let skipped = match f.op(v) {
        Some(mem::PUSH | mem::COPY) => f.operand_count(v),
        Some(mem::ALLOC) => 0,
        Some(mem::FILL | mem::RESIZE) => 1,
        _ => return false,
    };
    !f.checks_operands(v) && f.operands(v).skip(skipped).all(is_natural)
}

/// Returns whether an integer is seen at once not to be negative.
pub(crate) fn plainly_natural(f: &Function, size: Operand) -> bool {
    let constant = |operand: Operand| f.const_i64(operand).is_some_and(|n| n >= 0);
    let Some(v) = size.as_value() else { return constant(size) };
    match f.op(v) {
        Some(mem::LENGTH | mem::SIZE) => true,
        Some(arith::MAX) => f.operands(v).any(constant),
        _ => false,
    }
}
