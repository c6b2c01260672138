//! Decides if the loops around a store meet all elements of an array.

use regraft_ir::{Function, Operand, Value};

use super::Idiom;
use crate::transforms::util::cover::Cover;

impl Idiom {
    /// Returns whether the accesses are in bounds, and meet all elements of the array whose
    /// elements the instruction in their place would look at. `at` is before the loops.
    pub(super) fn is_whole(&mut self, f: &Function, cover: &mut Cover<'_>, at: Value) -> bool {
        let accesses = [Some(self.store), self.source];
        if !accesses.into_iter().flatten().all(|v| cover.is_inside(v)) {
            return false;
        }
        let dims = self.loops.len();
        match self.source {
            None => self.meets(f, cover, self.store, dims, at),
            // Behind the last element that is copied, the destination may have more.
            Some(load) => {
                self.same_shape = self.meets(f, cover, self.store, dims, at);
                self.meets(f, cover, load, dims, at)
                    && self.meets(f, cover, self.store, dims - 1, at)
            }
        }
    }

    /// Returns whether the loops of the first `dims` indices meet all of the array of an access in that dimension.
    fn meets(
        &self,
        f: &Function,
        cover: &mut Cover<'_>,
        access: Value,
        dims: usize,
        at: Value,
    ) -> bool {
        let Some(array) = f.operand(access, 0).and_then(Operand::as_value) else { return false };
        let whole = self.loops.len() == 1;
        let block = f.block_of(access);
        self.loops[..dims].iter().enumerate().all(|(i, counted)| {
            let dim = if whole { 0 } else { i as u8 + 1 };
            cover.is_met(array, dim, counted, block, at)
        })
    }
}
