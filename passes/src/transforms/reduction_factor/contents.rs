//! Arrays of which all elements are one constant when a loop begins.
//!
//! An array was made with that content (`mem.alloc`, `mem.fill`, `ad.zero`), and nothing on the way
//! to the loop writes to it, or one thing that does the same to all elements: a loop over them that adds a
//! constant (`fill_loop`), or `ad.accumulate` of another such array. That the maker runs again before
//! the loop does follows from both being in the same loops, and from the one dominating the other.
//!
//! ```text
//! %3 = mem.alloc %1, %2                              all elements of %3 are 0.0
//! for i in 1:mem.length(%3) { %3[i] = %3[i] + 1.0 }  and 1.0 from here on
//! for j, k { .. %3[j, k] .. }
//! ```

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{ad, arith, mem};
use regraft_ir::{Block, Op, Operand, Value};
use rustc_hash::FxHashSet;

use super::fill_loop::FillLoop;
use super::made_arrays::ReductionAnalyses;
use crate::analysis::{Access, InstEffects, LoopId, inst_effects};
use crate::transforms::util::versioning::Apart;

/// The most updates of a whole array that are followed.
const MAX_UPDATES: usize = 4;

/// The most instructions between where an array is made and where it is used.
const MAX_ON_THE_WAY: usize = 4096;

impl ReductionAnalyses<'_> {
    /// The constant that is in all elements of `array` where a loop begins. It holds if the values of
    /// each pair that is added to `apart` are different objects. O(size of what is on the way).
    pub(super) fn content_at(
        &self,
        array: Operand,
        root: LoopId,
        apart: &mut Vec<Apart>,
    ) -> Option<Operand> {
        let header = self.forest.get(root).header;
        self.before(array, header, Some(root), apart, MAX_UPDATES)
    }

    /// The same, where a block begins that is the header of `root`, if that is given.
    fn before(
        &self,
        array: Operand,
        block: Block,
        root: Option<LoopId>,
        apart: &mut Vec<Apart>,
        budget: usize,
    ) -> Option<Operand> {
        let (maker, content) = self.maker(array)?;
        let home = self.f.block_of(maker);
        let around = match root {
            Some(root) => self.forest.get(root).parent,
            None => self.forest.loop_of(block),
        };
        if !self.dom.strictly_dominates(home, block) || self.forest.loop_of(home) != around {
            return None;
        }
        let mut pairs = Vec::new();
        let mut writer = None;
        for v in self.on_the_way(maker, block, root)? {
            let effects = inst_effects(self.f, v, self.summaries);
            if !self.aliases.touches(self.f, &effects, array).intersects(Access::WRITES) {
                continue;
            }
            if self.f.operand(v, 0) == Some(array) && writer.is_none() {
                writer = Some(v);
            } else {
                self.tell_apart(array, &effects, block, &mut pairs)?;
            }
        }
        let content = match writer {
            Some(writer) => self.updated(array, content, writer, block, budget.checked_sub(1)?)?,
            None => content,
        };
        for pair in pairs {
            if !apart.contains(&pair) {
                apart.push(pair);
            }
        }
        Some(content)
    }

    /// Adds the pairs of objects that have to be different for an instruction not to write to an array.
    fn tell_apart(
        &self,
        array: Operand,
        effects: &InstEffects,
        block: Block,
        pairs: &mut Vec<Apart>,
    ) -> Option<()> {
        if effects.elsewhere.intersects(Access::WRITES) {
            return None;
        }
        for &(other, access) in &effects.objects {
            if access.intersects(Access::WRITES) && self.aliases.may_alias(self.f, other, array) {
                if self.is_older(other, array) {
                    continue;
                }
                if other == array || !self.is_there(other, block) {
                    return None;
                }
                pairs.push((array, other));
            }
        }
        Some(())
    }

    /// The content of all elements after the only write on the way to a block.
    fn updated(
        &self,
        array: Operand,
        content: Operand,
        writer: Value,
        block: Block,
        budget: usize,
    ) -> Option<Operand> {
        let f = self.f;
        let (maker, _) = self.maker(array)?;
        let home = f.block_of(maker);
        match f.op(writer)? {
            mem::STORE => {
                let filled = FillLoop::of(self, writer, block)?;
                let fits = self.forest.get(filled.l).parent == self.forest.loop_of(home)
                    && self.dom.dominates(home, filled.begins);
                let [x, y] = filled.update.operands(f, content, filled.update.addend);
                fits.then(|| self.fold(f.op(filled.update.op)?, [x, y])).flatten()
            }
            ad::ACCUMULATE => {
                let source = f.operand(writer, 1)?;
                let at = f.block_of(writer);
                let (source_maker, _) = self.maker(source)?;
                if f.operand_type(source) != f.operand_type(array)
                    || source == array
                    || !self.dom.dominates(home, at)
                    || !self.dom.strictly_dominates(at, block)
                    || self.forest.loop_of(at) != self.forest.loop_of(home)
                    || !self.same_dimensions(maker, source_maker)
                {
                    return None;
                }
                let mut apart = Vec::new();
                let added = self.before(source, at, None, &mut apart, budget)?;
                // What stands before it in its block does not write to it either.
                let writes = |v: Value| {
                    let effects = inst_effects(f, v, self.summaries);
                    self.aliases.touches(f, &effects, source).intersects(Access::WRITES)
                };
                let before = f.body(at).take_while(|&v| v != writer);
                if !apart.is_empty() || before.into_iter().any(writes) {
                    return None;
                }
                self.fold(arith::ADD, [content, added])
            }
            _ => None,
        }
    }

    /// The value of an op of two constants.
    fn fold(&self, op: Op, operands: [Operand; 2]) -> Option<Operand> {
        let f = self.f;
        let ty = f.operand_type(operands[0]);
        let args = [f.constant(operands[0])?, f.constant(operands[1])?];
        match eval_scalar(f.ctx().def(op), &args, ty)? {
            Ok(constant) => Some(f.constant_id(constant).into()),
            Err(_) => None,
        }
    }

    /// Returns whether a value is known in front of a block.
    fn is_there(&self, operand: Operand, header: Block) -> bool {
        match operand.as_value() {
            Some(v) => self.dom.strictly_dominates(self.f.block_of(v), header),
            None => true,
        }
    }

    /// The instructions that may run after `maker` and before a block, the header of `root` if that is
    /// given.
    fn on_the_way(&self, maker: Value, to: Block, root: Option<LoopId>) -> Option<Vec<Value>> {
        let f = self.f;
        let inside = |block: Block| root.is_some_and(|root| self.forest.contains(root, block));
        let home = f.block_of(maker);
        let mut found: Vec<Value> = Vec::new();
        let mut pending: Vec<Block> = vec![to];
        let mut seen: FxHashSet<Block> = FxHashSet::default();
        while let Some(block) = pending.pop() {
            if found.len() > MAX_ON_THE_WAY {
                return None;
            }
            for edge in f.in_edges(block) {
                let from = edge.from;
                if block == to && inside(from) || !seen.insert(from) {
                    continue;
                }
                if inside(from) {
                    return None;
                }
                if from == home {
                    found.extend(f.body(home).filter(|&v| f.comes_before(maker, v)));
                } else {
                    found.extend(f.body(from));
                    pending.push(from);
                }
            }
        }
        Some(found)
    }
}
