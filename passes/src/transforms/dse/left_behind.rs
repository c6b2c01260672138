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

use regraft_dialects::{ad, mem};
use regraft_ir::{ControlFlow, DominatorTree, Function, Operand, Value};

use crate::analysis::memory_location::{Overlap, element_indices};
use crate::analysis::traps::may_trap;
use crate::analysis::{Analyses, LoopForest, may_reach_others};
use crate::transforms::util::steps::changes;

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
        let is_new = indices.iter().any(|&index| changes(f, forest, id, index));
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
}
