//! Counters as the program has them: what takes a step in each iteration of a loop.

use regraft_dialects::arith;
use regraft_ir::{Block, Function, Operand, Value};

use crate::analysis::{LoopForest, LoopId};

/// A counter that takes greater steps may come to a number again.
const MAX_STEP: u64 = 1 << 31;

/// Returns whether a value is another one in each iteration of a loop: a counter, or one with a constant added.
/// O(edges to the header).
pub(crate) fn changes(f: &Function, forest: &LoopForest, l: LoopId, index: Operand) -> bool {
    let header = forest.get(l).header;
    let is_counter = |x: Operand| x.as_value().is_some_and(|v| counts(f, forest, l, header, v));
    is_counter(index)
        || index.as_value().and_then(|v| stepped(f, v)).is_some_and(|(x, _)| is_counter(x))
}

fn counts(f: &Function, forest: &LoopForest, l: LoopId, header: Block, counter: Value) -> bool {
    let Some(position) = f.params(header).position(|param| param == counter) else {
        return false;
    };
    let mut steps = None;
    f.in_edges(header).filter(|edge| forest.contains(l, edge.from)).all(|edge| {
        let next = f.edge_args(edge).nth(position).and_then(Operand::as_value);
        let step = next.and_then(|next| stepped(f, next)).filter(|&(x, _)| x == counter.into());
        let Some((_, step)) = step else { return false };
        step != 0 && step.unsigned_abs() <= MAX_STEP && *steps.get_or_insert(step) == step
    })
}

/// The operand that an integer is a constant away from, and that constant.
fn stepped(f: &Function, v: Value) -> Option<(Operand, i64)> {
    if let Some([x, y]) = f.matches::<2>(v, arith::ADD) {
        return match (f.const_i64(x), f.const_i64(y)) {
            (None, Some(step)) => Some((x, step)),
            (Some(step), None) => Some((y, step)),
            _ => None,
        };
    }
    let [x, y] = f.matches::<2>(v, arith::SUB)?;
    Some((x, f.const_i64(y)?.checked_neg()?))
}
