//! Stores in a loop to elements that the loop has left behind.
//!
//! ```text
//! for k = n .. 1                          for k = n .. 1
//!   t = s[k]                                t = s[k]
//!   s[k] = 0.0                  =>          d[k] += 2 * t
//!   d[k] += 2 * t
//! ```
//!
//! So the reverse sweep of a loop sets to zero what it has read of a shadow.
//!
//! # Why it is right
//! Nobody else knows the array: it is loaded from and stored to, and nothing else. All loads from elements that may
//! be the same come before the store: those before the loop, and those in it that read the same element as the store
//! does. The next iteration reads another one, since an index is a counter of the loop. A loop around it makes the
//! array anew.

use regraft_dialects::{ad, arith, mem};
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Operand, Value};

use crate::analysis::memory_location::{Overlap, element_indices};
use crate::analysis::traps::may_trap;
use crate::analysis::{Analyses, LoopForest, LoopId, may_reach_others};

/// A counter that takes greater steps may come to a number again.
const MAX_STEP: u64 = 1 << 31;

/// Returns the stores in loops to elements that nothing reads any more. O(stores * uses of their arrays).
pub(super) fn stores(f: &Function, analyses: &mut Analyses) -> Vec<Value> {
    let forest = analyses.get::<LoopForest>(f);
    if forest.is_empty() || !forest.irreducible().is_empty() {
        return Vec::new();
    }
    let cfg = analyses.get::<ControlFlow>(f);
    let candidates: Vec<Value> = cfg
        .reverse_postorder()
        .filter(|&block| forest.loop_of(block).is_some())
        .flat_map(|block| f.body(block))
        .filter(|&v| is_to_new_array(f, v) && !may_trap(f, v))
        .collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let search = Search { f, forest: &forest, dom: &analyses.get::<DominatorTree>(f) };
    candidates.into_iter().filter(|&v| search.is_left_behind(v).unwrap_or(false)).collect()
}

/// Returns whether it is a store to an array that this function makes, and that holds no other one.
fn is_to_new_array(f: &Function, v: Value) -> bool {
    let array = || f.operand(v, 0).and_then(Operand::as_value);
    f.op(v) == Some(mem::STORE)
        && array().is_some_and(|array| {
            matches!(f.op(array), Some(mem::ALLOC | mem::FILL | mem::COPY | ad::ZERO))
                && !may_reach_others(f.ctx(), f.ty(array))
        })
}

struct Search<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    dom: &'a DominatorTree,
}

impl Search<'_> {
    fn is_left_behind(&self, store: Value) -> Option<bool> {
        let (f, forest) = (self.f, self.forest);
        let array = f.operand(store, 0)?.as_value()?;
        let id = forest.loop_of(f.block_of(store))?;
        if forest.loop_of(f.block_of(array)) != forest.get(id).parent {
            return Some(false);
        }
        let indices: Vec<Operand> = element_indices(f, store)?.collect();
        let is_new = indices.iter().any(|&index| self.changes(id, index));
        let all = f.uses(array).all(|at| match f.op(at.user) {
            Some(mem::STORE) => at.index == 0,
            Some(mem::LENGTH | mem::SIZE | mem::SHAPE) => true,
            Some(mem::LOAD) => {
                let load = at.user;
                let overlap = element_indices(f, load).map_or(Overlap::May, |read| {
                    let pairs = read.zip(indices.iter().copied());
                    Overlap::of_indices(pairs.map(|(x, y)| Overlap::of_operands(f, x, y)))
                });
                let in_loop = forest.contains(id, f.block_of(load));
                let comes_before = self.dom.value_dominates(f, load, store);
                let is_same = overlap == Overlap::Must && is_new;
                f.operand_count(load) + 1 == f.operand_count(store)
                    && (overlap == Overlap::No || comes_before && (!in_loop || is_same))
            }
            _ => false,
        });
        Some(all)
    }

    /// Returns whether a value is another one in each iteration of a loop: a counter, or one with a constant added.
    fn changes(&self, id: LoopId, index: Operand) -> bool {
        let f = self.f;
        let header = self.forest.get(id).header;
        let is_counter = |x: Operand| x.as_value().is_some_and(|v| self.counts(id, header, v));
        is_counter(index)
            || index.as_value().and_then(|v| stepped(f, v)).is_some_and(|(x, _)| is_counter(x))
    }

    fn counts(&self, id: LoopId, header: Block, counter: Value) -> bool {
        let f = self.f;
        let Some(position) = f.params(header).position(|param| param == counter) else {
            return false;
        };
        let mut steps = None;
        f.in_edges(header).filter(|edge| self.forest.contains(id, edge.from)).all(|edge| {
            let next = f.edge_args(edge).nth(position).and_then(Operand::as_value);
            let step = next.and_then(|next| stepped(f, next)).filter(|&(x, _)| x == counter.into());
            let Some((_, step)) = step else { return false };
            step != 0 && step.unsigned_abs() <= MAX_STEP && *steps.get_or_insert(step) == step
        })
    }
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
