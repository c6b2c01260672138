//! Sums of integers of which two terms stay the same in a loop: those two are added first.
//!
//! ```text
//! ^3:                                   ^3:
//!   %4: i64 = arith.add %3, %1            %6: i64 = arith.add %1, 1        leaves the loop
//!   %5: i64 = arith.add %4, 1       =>    %5: i64 = arith.add %3, %6
//! ```
//!
//! # Why it is right
//! Integers wrap, so that their sums may be added in any order.

use regraft_dialects::arith;
use regraft_ir::{Block, Function, IrResult, Operand, Value};
use rustc_hash::FxHashSet;

use crate::analysis::{LoopForest, LoopId};

/// Regroups sums in loops, in those with the headers `only` or in all. Returns how many.
/// O(instructions of the loops).
///
/// # Errors
/// None if `f` is valid.
pub(super) fn regroup(
    f: &mut Function,
    forest: &LoopForest,
    only: Option<&FxHashSet<Block>>,
) -> IrResult<usize> {
    let mut regrouped = 0;
    for id in forest.loops() {
        if only.is_some_and(|only| !only.contains(&forest.get(id).header)) {
            continue;
        }
        for &block in forest.own_blocks(id) {
            let sums: Vec<Value> = f.body(block).filter(|&v| is_sum(f, v)).collect();
            for v in sums {
                // One that is used no more has gone with its user.
                if !f.is_live(v) {
                    continue;
                }
                regrouped += usize::from(regroup_one(f, forest, id, v)?);
            }
        }
    }
    Ok(regrouped)
}

fn is_sum(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(arith::ADD | arith::SUB)) && f.ty(v).is_int() && !f.checks_operands(v)
}

/// A sum as something that changes in a loop, and something that stays the same, which is taken off if the
/// flag says so.
fn split(
    f: &Function,
    forest: &LoopForest,
    id: LoopId,
    sum: Value,
) -> Option<(Value, Operand, bool)> {
    let stays = |x: Operand| x.as_value().is_none_or(|v| !forest.contains(id, f.block_of(v)));
    let (x, y) = (f.operand(sum, 0)?, f.operand(sum, 1)?);
    let is_difference = f.op(sum) == Some(arith::SUB);
    match (stays(x), stays(y)) {
        (false, true) => Some((x.as_value()?, y, is_difference)),
        (true, false) if !is_difference => Some((y.as_value()?, x, false)),
        _ => None,
    }
}

fn regroup_one(f: &mut Function, forest: &LoopForest, id: LoopId, v: Value) -> IrResult<bool> {
    let Some((inner, last, minus_last)) = split(f, forest, id, v) else { return Ok(false) };
    let is_alone = is_sum(f, inner) && f.uses(inner).nth(1).is_none();
    if !is_alone || forest.loop_of(f.block_of(inner)) != Some(id) {
        return Ok(false);
    }
    let Some((changes, first, minus_first)) = split(f, forest, id, inner) else {
        return Ok(false);
    };
    // Two constants are for `fold`.
    if first.as_value().is_none() && last.as_value().is_none() {
        return Ok(false);
    }
    let both = match (minus_first, minus_last) {
        (false, true) => arith::sub(first, last),
        (true, false) => arith::sub(last, first),
        _ => arith::add(first, last),
    };
    let both = f.insert(v, both.made_from(v))?;
    let sum = match minus_first && minus_last {
        true => arith::sub(changes, both),
        false => arith::add(changes, both),
    };
    let sum = f.insert(v, sum.made_from(v))?;
    f.replace_named(v, sum)?;
    f.delete_tree(v)?;
    Ok(true)
}
