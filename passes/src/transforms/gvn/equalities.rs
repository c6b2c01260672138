//! Integers and bools that are constants behind a branch on it.
//!
//! ```text
//!   %2: bool = arith.eq %1, 3               %2: bool = arith.eq %1, 3
//!   br %2, ^2, ^3                      =>   br %2, ^2, ^3
//! ^2:                                     ^2:
//!   %4: i64 = arith.mul %1, %5              %4: i64 = arith.mul 3, %5
//! ```
//!
//! The value is the constant in all that a block dominates into which the edge on which they are equal is the
//! only one. (Floats that are equal need not be the same: 0.0 and -0.0.)

use regraft_dialects::arith;
use regraft_ir::{Block, DominatorTree, Function, IrResult, Operand, Traits, Type, Value};

use crate::transforms::util::edit::{only_edge_into, replace_in};

/// The most uses of a value that are looked at for a branch.
const USES: usize = 256;

/// Puts constants in the places of values that are equal to them. Returns how many uses were replaced.
/// O(blocks), with a bounded number of uses for each branch.
pub(super) fn replace_equal(f: &mut Function, dom: &DominatorTree) -> IrResult<usize> {
    let mut replaced = 0;
    for &block in dom.order() {
        let Some((value, constant, target)) = equality(f, block) else { continue };
        let mut users: Vec<Value> = f.uses(value).take(USES + 1).map(|at| at.user).collect();
        if users.len() > USES {
            continue;
        }
        users.retain(|&user| dom.dominates(target, f.block_of(user)));
        users.sort_unstable();
        users.dedup();
        for user in users {
            replace_in(f, user, value, constant)?;
            replaced += 1;
        }
    }
    Ok(replaced)
}

/// A value that is a constant in a block, as the branch at the end of `block` says.
fn equality(f: &Function, block: Block) -> Option<(Value, Operand, Block)> {
    let term = f.terminator(block)?;
    let condition = f.operand(term, 0)?.as_value()?;
    let mut edges = f.out_edges(block);
    let (on_true, on_false) = (edges.next()?, edges.next()?);
    if !f.op_def(term)?.traits.contains(Traits::JUMP) || f.ty(condition) != Type::BOOL {
        return None;
    }
    let target = match f.op(condition)? {
        arith::EQ => f.edge_target(on_true),
        arith::NE => f.edge_target(on_false),
        _ => return None,
    };
    let (a, b) = (f.operand(condition, 0)?, f.operand(condition, 1)?);
    let (value, constant) = match (a.as_value(), b.as_value()) {
        (Some(value), None) => (value, b),
        (None, Some(value)) => (value, a),
        _ => return None,
    };
    let ty = f.ty(value);
    let is_exact = ty.is_int() || ty == Type::BOOL;
    let fits = is_exact && f.operand_type(constant) == ty && constant.as_const().is_some();
    // The entry is entered from outside, too.
    only_edge_into(f, target).filter(|_| fits)?;
    Some((value, constant, target))
}
