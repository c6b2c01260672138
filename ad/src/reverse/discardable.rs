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
//! comes to whenever it comes to that of the value (a post-dominator), by something other than an
//! op on floats, or by one whose result is certain. What is not, or may not be selected, is found.
//! What is passed to a block counts there.
//!
//! A tuple in a tuple is the tape of a derivative, as far as anybody knows. It keeps what was computed ahead of a branch, which is taken
//! again by the one who reads it. So what is put into it, or into an array in it, need not count.
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
    let tape = tapes(f, blocks);
    let mut certain = vec![false; f.value_capacity()];
    let mut found = vec![false; f.value_capacity()];
    for &block in blocks.iter().rev() {
        let body: Vec<Value> = f.body(block).collect();
        for &v in body.iter().rev() {
            let counts = |at: Use| {
                let there = f.block_of(at.user);
                (there == block || tree.post_dominates(there, block))
                    && use_counts(f, v, at, &certain, &tape)
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

/// By [`Value::index`], the tuples that are put into others, and the arrays in them.
fn tapes(f: &Function, blocks: &[Block]) -> Vec<bool> {
    let mut tape = vec![false; f.value_capacity()];
    let is_tuple = |v: Value| f.op(v) == Some(core::TUPLE);
    let insts = blocks.iter().flat_map(|&block| f.body(block));
    for v in insts.filter(|&v| is_tuple(v) && f.uses(v).any(|at| is_tuple(at.user))) {
        tape[v.index()] = true;
        for part in f.plain_operands(v).filter_map(Operand::as_value) {
            tape[part.index()] = true;
        }
    }
    tape
}

/// Returns whether a use of `v` adds to its cotangent when control comes there.
fn use_counts(f: &Function, v: Value, at: Use, certain: &[bool], tape: &[bool]) -> bool {
    let user = at.user;
    if user.is_terminator() {
        let is_passed = |edge| f.edge_args(edge).any(|arg| arg.as_value() == Some(v));
        let mut edges = f.out_edges(f.block_of(user)).peekable();
        return edges.peek().is_none() || edges.all(is_passed);
    }
    let holder = match f.op(user) {
        Some(core::TUPLE | mem::ARRAY) => Some(user),
        Some(mem::STORE | mem::PUSH) => f.operand(user, 0).and_then(Operand::as_value),
        _ => None,
    };
    if holder.is_some_and(|holder| tape[holder.index()]) {
        return false;
    }
    let is_pure = f.op_def(user).is_some_and(|def| def.traits.contains(Traits::PURE));
    match f.ty(user) {
        ty if ty.is_float() && is_pure => certain[user.index()],
        ty => !(is_pure && ty.is_scalar()),
    }
}
