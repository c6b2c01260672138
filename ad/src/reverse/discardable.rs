//! Values that may be computed for nothing.
//!
//! ```text
//! %2: f64 = math.sqrt %1                    %2: f64 = math.log %1
//! %3: f64 = core.select %c, %2, 0.0         br %c, ^2(%2), ^2(0.0)
//! ```
//!
//! The cotangent of `%2` is zero where it is not selected, or where control does not come to a use
//! of it, and what it gives to `%1` has to be zero as well, also where the derivative is infinite:
//! zero times infinity is no number.
//!
//! # Method
//! Backwards, each value is *certain* to count if one of its uses is: a use in a block that control
//! comes to whenever it comes to that of the value (a post-dominator), by an op on floats whose result is certain, or
//! by something that is not pure. What is not, or may not be selected, is found. What is passed to a block counts there.
//!
//! An element of a tuple need not count where the tuple does, nor one of an array that is put into a tuple: that is the
//! tape of a derivative, which keeps what was computed ahead of a branch. The branch is taken again by the one who
//! reads it.
//!
//! Near linear, as the tree of post-dominators is.

use regraft_dialects::{arith, core, mem};
use regraft_ir::{Block, Function, Operand, Traits, Use, Value};
use regraft_passes::analysis::{Analyses, PostDominatorTree};

/// By [`Value::index`], the values that may be discarded after they were computed: by a select, as
/// the lesser of two, by a zero that wins, or because control goes another way. Their cotangent is then zero, whatever
/// their derivative is. `f` is a function as it runs if it [returns](super::returning::returning),
/// and `blocks` are its blocks in reverse postorder.
pub(super) fn discardable(f: &Function, analyses: &mut Analyses, blocks: &[Block]) -> Vec<bool> {
    let tree = analyses.get::<PostDominatorTree>(f);
    let packed = packed_arrays(f, blocks);
    let mut certain = vec![false; f.value_capacity()];
    let mut found = vec![false; f.value_capacity()];
    for &block in blocks.iter().rev() {
        let body: Vec<Value> = f.body(block).collect();
        for &v in body.iter().rev() {
            let counts = |at: Use| {
                let there = f.block_of(at.user);
                (there == block || tree.post_dominates(there, block))
                    && use_counts(f, v, at, &certain, &packed)
            };
            certain[v.index()] = f.uses(v).any(counts);
            found[v.index()] |= f.ty(v).is_float() && !certain[v.index()];
            let selects =
                matches!(f.op(v), Some(core::SELECT | arith::MIN | arith::MAX | arith::MULZ));
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

/// By [`Value::index`], the arrays, and other values, that are put into tuples.
fn packed_arrays(f: &Function, blocks: &[Block]) -> Vec<bool> {
    let mut packed = vec![false; f.value_capacity()];
    let insts = blocks.iter().flat_map(|&block| f.body(block));
    let tuples = insts.filter(|&v| f.op(v) == Some(core::TUPLE));
    for operand in tuples.flat_map(|v| f.plain_operands(v)).filter_map(Operand::as_value) {
        packed[operand.index()] = true;
    }
    packed
}

/// Returns whether a use of `v` adds to its cotangent when control comes there.
fn use_counts(f: &Function, v: Value, at: Use, certain: &[bool], packed: &[bool]) -> bool {
    let user = at.user;
    if user.is_terminator() {
        let is_passed = |edge| f.edge_args(edge).any(|arg| arg.as_value() == Some(v));
        let mut edges = f.out_edges(f.block_of(user)).peekable();
        return edges.peek().is_none() || edges.all(is_passed);
    }
    if f.op_def(user).is_some_and(|def| def.traits.contains(Traits::PURE)) {
        return f.ty(user).is_float() && certain[user.index()];
    }
    let array = match f.op(user) {
        Some(mem::STORE | mem::PUSH) => f.operand(user, 0).and_then(Operand::as_value),
        Some(mem::ARRAY) => Some(user),
        _ => None,
    };
    array.is_none_or(|array| !packed[array.index()])
}
