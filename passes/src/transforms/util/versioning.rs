//! Two versions of a loop, of which a condition before it chooses one.
//!
//! ```text
//! ^1:                                   ^1:
//!   br ^2(0)                     =>       br %10, ^5(0), ^2(0)
//! ^2(%3: i64): ..                       ^2(%3: i64): ..        the loop as it was
//!                                       ^5(%9: i64): ..        its copy
//! ```
//!
//! Both are the same at first. Whoever asked for them changes one, which may then rely on the
//! condition.

use regraft_dialects::{arith, cf, core};
use regraft_ir::{Block, Edge, Function, IrResult, Operand, Value};

use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use crate::transforms::util::edit::only_edge_into;
use crate::transforms::util::loop_form::LoopForm;

/// Copies a loop, which is [closed](LoopForm::close) and has this preheader, and goes to the copy if
/// `condition` is true. Returns what stands for what in the copy. O(size of the loop).
///
/// # Errors
/// None if `f` is valid.
pub(crate) fn add_version(
    f: &mut Function,
    form: &LoopForm,
    preheader: Block,
    condition: Value,
) -> IrResult<CloneMap> {
    let mut map = CloneMap::new();
    let last = form
        .blocks()
        .iter()
        .copied()
        .reduce(|last, block| if f.block_comes_before(last, block) { block } else { last });
    clone_blocks(f, form.blocks(), last.unwrap_or(preheader), &mut map)?;
    let term = Value::terminator(preheader);
    let args: Vec<Operand> = f.operands(term).skip(1).collect();
    let header = form.header();
    let copy = map.block(header);
    let branch = cf::br_if(condition, copy, args.clone(), header, args).at(f.loc(term));
    f.set_terminator(preheader, branch)?;
    Ok(map)
}

/// Two values of which a version of a loop relies on not being the same object.
pub(crate) type Apart = (Operand, Operand);

/// Inserts the test whether the values of any of these pairs, of which there is at least one, are
/// the same object, before `at`.
///
/// # Errors
/// If a value does not dominate `at`.
pub(crate) fn any_same(f: &mut Function, pairs: &[Apart], at: Value) -> IrResult<Option<Value>> {
    let mut any = None;
    for &(x, y) in pairs {
        let same = f.insert(at, core::same(x, y))?;
        any = Some(match any {
            Some(any) => f.insert(at, arith::or(any, same))?,
            None => same,
        });
    }
    Ok(any)
}

/// Inserts the test whether the values of all pairs are different objects before `at`, if there is a pair.
///
/// # Errors
/// If a value does not dominate `at`.
pub(crate) fn all_differ(f: &mut Function, pairs: &[Apart], at: Value) -> IrResult<Option<Value>> {
    any_same(f, pairs, at)?.map(|same| f.insert(at, arith::not(same))).transpose()
}

/// Returns whether every way along an edge goes through a test whether two values are one object, of
/// one of these pairs, with no other way into a block between: then the edge leads to a version for one
/// of the answers already. O(blocks on the way × operands of conditions).
pub(crate) fn is_version(f: &Function, enter: Edge, pairs: &[Apart]) -> bool {
    let mut at = enter.from;
    // Blocks that the entry does not reach may go round in a circle.
    for _ in 0..f.block_count() {
        let condition = f.operand(Value::terminator(at), 0);
        if f.out_edges(at).nth(1).is_some() && condition.is_some_and(|c| tests(f, c, pairs)) {
            return true;
        }
        let Some(edge) = only_edge_into(f, at) else { return false };
        at = edge.from;
    }
    false
}

fn tests(f: &Function, condition: Operand, pairs: &[Apart]) -> bool {
    let mut pending = vec![condition];
    while let Some(operand) = pending.pop() {
        let Some(v) = operand.as_value() else { continue };
        match f.op(v) {
            Some(arith::OR | arith::AND | arith::NOT) => pending.extend(f.operands(v)),
            Some(core::SAME) => {
                let of: Vec<Operand> = f.operands(v).collect();
                if pairs.iter().any(|&(x, y)| of == [x, y] || of == [y, x]) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
