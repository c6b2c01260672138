//! Values that the function itself stores where they stay: `y[i] = tanh(x[i])`.
//!
//! ```text
//!   %4: f64 = math.tanh %3
//!   mem.store %y, %4, %i                  the reverse sweep loads %4 from %y at %i
//! ```
//!
//! # Why it is right
//! The store runs whenever the value is computed. No other iteration stores to the same element, as the indices determine the
//! iteration ([`is_injective`]), and nothing else writes to the array from then on
//! ([`stored_stays`](super::ToBeRecorded::stored_stays)). The array is there before all loops around the store.

use regraft_dialects::mem;
use regraft_ir::{Operand, TypeKind, Value};
use regraft_passes::analysis::{LoopId, Poly, is_injective};

use super::Planner;

impl Planner<'_> {
    /// The store after a value, in its block, from whose element the reverse sweep can load it. O(uses × loops around it).
    pub(super) fn stored_by(&self, v: Value) -> Option<Value> {
        let users = self.f.uses(v).map(|at| at.user);
        users.filter(|&store| self.is_kept_by(store, v)).min()
    }

    fn is_kept_by(&self, store: Value, v: Value) -> bool {
        let f = self.f;
        let block = f.block_of(v);
        let is_store = f.op(store) == Some(mem::STORE) && f.block_of(store) == block;
        if !is_store || self.loops.is_irregular(block) || !self.tbr.stored_stays(store) {
            return false;
        }
        let operands: Vec<Operand> = f.operands(store).collect();
        let [array, stored, indices @ ..] = operands.as_slice() else { return false };
        let is_element = match *f.ctx().kind(f.operand_type(*array)) {
            TypeKind::Array { element, .. } => element == f.ty(v),
            _ => false,
        };
        let is_there =
            array.as_value().is_some_and(|array| self.loops.runs_once(f.block_of(array)));
        let once = operands.iter().filter(|&&operand| operand == v.into()).count() == 1;
        if !is_element || !is_there || !once || *stored != v.into() {
            return false;
        }
        let loops: Vec<LoopId> = self.loops.around(block).collect();
        let Some(&outermost) = loops.last() else { return false };
        let found = |&index: &Operand| match index.as_value() {
            Some(index) => self.affine(index),
            None => Some(self.loops.ivs.evolution(f, index)),
        };
        let map: Option<Vec<Poly>> = indices.iter().map(found).collect();
        let (ivs, counts) = (&self.loops.ivs, &self.loops.counts);
        map.is_some_and(|map| is_injective(&map, &loops, outermost, ivs, counts))
    }
}
