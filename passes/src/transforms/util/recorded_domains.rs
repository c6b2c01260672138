//! Float functions that cannot stop the program, since another one with that argument did not.
//!
//! ```text
//! for i in 1:n                            for i in n:-1:1
//!   %t[i] = %1                              %4 = mem.load %t, i
//!   %2 = math.sin %1                        %5 = math.cos %4        %1 was finite
//! ```
//!
//! The array is one that nobody else knows, and it was made with zeros. Where an element is stored, a
//! function of what is stored runs in the same block: control has left that block before the element is
//! loaded in another one. So the element is 0, or something that this function is defined for.

use regraft_dialects::mem;
use regraft_ir::{Function, Operand, Value};

use crate::analysis::traps::{is_in_domain, outside_of_domain};
use crate::analysis::{Aliases, FloatKinds};

/// The most uses of an array that are looked at.
const MAX_USES: usize = 16;

/// Returns whether the argument of the function `v` comes from an array of what is in its domain.
pub(super) fn is_known_to_be_inside(f: &Function, aliases: &Aliases, v: Value) -> bool {
    let (Some(op), Some(argument)) = (f.op(v), f.operand(v, 0)) else { return false };
    let Some(outside) = outside_of_domain(op) else { return false };
    let Some(load) = argument.as_value().filter(|&load| f.op(load) == Some(mem::LOAD)) else {
        return false;
    };
    let Some(array) = f.operand(load, 0).and_then(Operand::as_value) else { return false };
    if f.op(array) != Some(mem::ALLOC)
        || aliases.non_escaping(array) != Some(array)
        || !is_in_domain(op, |_| FloatKinds::ZERO)
        || f.uses(array).nth(MAX_USES).is_some()
    {
        return false;
    }
    f.uses(array).all(|at| match f.op(at.user) {
        Some(mem::LOAD | mem::LENGTH | mem::SIZE | mem::SHAPE) => true,
        Some(mem::STORE) if at.index == 0 => {
            let block = f.block_of(at.user);
            let stored = f.operand(at.user, 1).and_then(Operand::as_value);
            block != f.block_of(load)
                && stored.is_some_and(|stored| {
                    f.uses(stored).any(|other| {
                        let checks =
                            |op| outside_of_domain(op).is_some_and(|all| all.contains(outside));
                        other.index == 0
                            && f.block_of(other.user) == block
                            && f.operand_count(other.user) == 1
                            && f.op(other.user).is_some_and(checks)
                    })
                })
        }
        _ => false,
    })
}
