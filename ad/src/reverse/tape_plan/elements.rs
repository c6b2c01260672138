//! Elements of arrays that loops work on: which stay as they are, and which are the same in several iterations.
//!
//! ```text
//! h[i, t + 1] = tanh(a * h[i, t])     what is read of h in iteration t is stored to in iterations before alone: it is read
//!                                     again; the result is read where it was stored
//! for i, for j: s += w[i, j] * x[j]   an element of x is the same for all i, if x changes outside of these loops: what is
//!                                     kept of it needs no place for each i
//! ```
//!
//! # Why it is right
//! The loops around both accesses tell whether a store comes to an element after it was read or stored to, outer ones
//! first: by the distance in iterations ([`dependence`]), and if that is zero by the next loop, which then runs within one
//! iteration. A store that has gone past the element ([`has_left`]) does not come to it any more. Where no loop is left to ask, the
//! store comes later if it is reached from the other access within the iteration. Distances are about one
//! execution of a loop; the outermost one is executed once, or what it writes may be written after it. Loops that the array
//! is made in do not count if both accesses name the allocation itself: in another iteration it is another array.

use regraft_dialects::mem;
use regraft_ir::{Block, Operand, Traits, TypeKind, Value};
use regraft_passes::analysis::dependence::{Dependence, dependence, has_left};
use regraft_passes::analysis::{LoopId, Poly, Sym, is_injective};
use rustc_hash::FxHashSet;

use super::Planner;

/// The most values that are looked at to tell whether one changes in a loop.
const MAX_VALUES: u32 = 16;

/// The most blocks of a loop that are looked at to tell which of two accesses comes first.
const MAX_BLOCKS: usize = 64;

impl Planner<'_> {
    /// Returns whether an element stays as a load in a loop reads it, or as a store in a loop leaves it. O(writers of the
    /// array × loops around).
    pub(super) fn stays(&self, access: Value) -> bool {
        let f = self.f;
        if !matches!(f.op(access), Some(mem::LOAD | mem::STORE))
            || self.loops.is_irregular(f.block_of(access))
        {
            return false;
        }
        let (Some(outermost), Some(array)) =
            (self.loops.around(f.block_of(access)).last(), f.operand(access, 0))
        else {
            return false;
        };
        let header = self.loops.forest.get(outermost).header;
        match self.facts.tbr.writers(f, header, array) {
            Some((writers, false)) => {
                writers.iter().all(|&writer| !self.may_overwrite(writer, access))
            }
            _ => false,
        }
    }

    /// Returns whether an instruction of the outermost loop around an access may write to its element once it was made.
    fn may_overwrite(&self, writer: Value, access: Value) -> bool {
        let f = self.f;
        let Some(aliases) = self.facts.tbr.aliases_of(access) else { return true };
        if f.op(writer) != Some(mem::STORE) {
            return true;
        }
        if writer == access && self.is_stored_to_once(writer) {
            return false;
        }
        let (of_writer, of_access) = (f.block_of(writer), f.block_of(access));
        let mut common: Vec<LoopId> = self.loops.around(of_access).collect();
        common.retain(|&l| self.loops.forest.contains(l, of_writer));
        let is_one_object = f.operand(writer, 0) == f.operand(access, 0);
        for &l in common.iter().rev() {
            if is_one_object && self.is_made_in(l, access) {
                continue;
            }
            let (ivs, counts) = (&self.loops.ivs, &self.loops.counts);
            match dependence(f, aliases, ivs, counts, l, access, writer) {
                Dependence::None => return false,
                Dependence::Distance(iterations) => return iterations > 0,
                _ if has_left(f, (ivs, counts, &self.loops.dom), l, access, writer) => {
                    return false;
                }
                Dependence::SameIteration => {}
                Dependence::Unknown => return true,
            }
        }
        common.first().is_none_or(|&l| self.may_follow(l, access, writer))
    }

    /// Returns whether the array of an access is another one in each iteration of a loop.
    fn is_made_in(&self, l: LoopId, access: Value) -> bool {
        let made = self.allocation(access);
        made.is_some_and(|array| self.loops.forest.contains(l, self.f.block_of(array)))
    }

    /// The allocation that a load or a store names as its array.
    fn allocation(&self, access: Value) -> Option<Value> {
        let is_access = matches!(self.f.op(access), Some(mem::LOAD | mem::STORE));
        let array = self.f.operand(access, 0).filter(|_| is_access)?.as_value()?;
        (self.f.op(array) == Some(mem::ALLOC)).then_some(array)
    }

    /// The array of a load or a store, if it is made in a loop around the loop of the access, and elements that are kept would be
    /// in another array that is made in that loop, or on a stack.
    pub(super) fn made_around(&self, access: Value) -> Option<Value> {
        let array = self.allocation(access)?;
        let (block, around) =
            (self.f.block_of(access), self.loops.forest.loop_of(self.f.block_of(array))?);
        let is_inner = self.loops.forest.contains(around, block)
            && self.loops.forest.loop_of(block) != Some(around);
        let is_kept_around = |preheader| self.loops.forest.contains(around, preheader);
        let kept = self.counted_around(block).is_none_or(|(_, at)| is_kept_around(at));
        (is_inner && kept).then_some(array)
    }

    /// Returns whether the loops around an access to an array meet all elements of it, so that the array takes no more than what
    /// is accessed.
    pub(super) fn meets_all(&self, access: Value) -> bool {
        self.cover.borrow_mut().meets_all(&self.loops.ivs, access)
    }

    /// Returns whether one access may come after another one in the same iteration of the innermost loop around both.
    fn may_follow(&self, l: LoopId, access: Value, other: Value) -> bool {
        let (f, forest) = (self.f, &self.loops.forest);
        let (start, end) = (f.block_of(access), f.block_of(other));
        if start == end {
            return other != access && f.comes_before(access, other);
        }
        let header = forest.get(l).header;
        let (mut seen, mut pending) = (FxHashSet::default(), vec![start]);
        while let Some(block) = pending.pop() {
            let is_within = |&next: &Block| next != header && forest.contains(l, next);
            for next in f.successors(block).filter(is_within) {
                if next == end || seen.len() > MAX_BLOCKS {
                    return true;
                }
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        false
    }

    /// Returns whether the indices of a store determine the iteration of all loops around it.
    fn is_stored_to_once(&self, store: Value) -> bool {
        let f = self.f;
        let block = f.block_of(store);
        let loops: Vec<LoopId> = self.loops.around(block).collect();
        let Some(&outermost) = loops.last() else { return false };
        let (ivs, counts, dom) = (&self.loops.ivs, &self.loops.counts, &self.loops.dom);
        let evolution = |index: Operand| {
            f.operand_type(index).is_int().then(|| ivs.evolution_at(f, index, block))
        };
        let map: Option<Vec<Poly>> = f.operands(store).skip(2).map(evolution).collect();
        map.is_some_and(|map| is_injective(&map, &loops, (outermost, block), (ivs, counts, dom)))
    }

    /// The store after a value, in its block, from whose element the reverse sweep can load it: the array is there before the
    /// loops, or made in one of them and no larger than what is stored, and the indices are found at little cost. O(uses).
    pub(super) fn stored_by(&self, v: Value) -> Option<Value> {
        let users = self.f.uses(v).map(|at| at.user);
        users.filter(|&store| self.is_kept_by(store, v)).min()
    }

    fn is_kept_by(&self, store: Value, v: Value) -> bool {
        let f = self.f;
        if f.op(store) != Some(mem::STORE) || f.block_of(store) != f.block_of(v) {
            return false;
        }
        let operands: Vec<Operand> = f.operands(store).collect();
        let [array, stored, indices @ ..] = operands.as_slice() else { return false };
        let is_element = match *f.ctx().kind(f.operand_type(*array)) {
            TypeKind::Array { element, .. } => element == f.ty(v),
            _ => false,
        };
        let is_at_hand = |operand: &Operand| match operand.as_value() {
            Some(value) => self.is_at_hand(value) || self.affine(value).is_some(),
            None => true,
        };
        let is_there =
            array.as_value().is_some_and(|array| self.loops.runs_once(f.block_of(array)));
        let is_only_stored = *stored == v.into() && !indices.contains(&v.into());
        is_element
            && is_only_stored
            && indices.iter().all(is_at_hand)
            && (is_there || self.made_around(store).is_some() && self.meets_all(store))
            && self.stays(store)
    }

    /// Returns whether a value is the same in all iterations of one execution of a loop around it, with the same iterations of
    /// the other loops within that.
    pub(super) fn is_same_in(&self, l: LoopId, v: Value) -> bool {
        let mut left = MAX_VALUES;
        self.is_found_the_same(l, v, &mut left)
    }

    fn is_found_the_same(&self, l: LoopId, v: Value, left: &mut u32) -> bool {
        let f = self.f;
        if !self.loops.forest.contains(l, f.block_of(v)) {
            return true;
        }
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        if f.ty(v).is_int() {
            let evolution = self.evolution(v);
            if evolution.symbols().all(|symbol| symbol != Sym::Value(v)) {
                let block = f.block_of(v);
                return evolution.symbols().all(|symbol| match symbol {
                    Sym::Value(value) => self.is_found_the_same(l, value, left),
                    Sym::Iteration(other) => other != l && self.loops.forest.contains(other, block),
                });
            }
        }
        let is_pure = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE));
        if f.is_param(v) || !(is_pure || self.reads_the_same(l, v)) {
            return false;
        }
        let operands: Vec<Value> = f.plain_operands(v).filter_map(Operand::as_value).collect();
        operands.into_iter().all(|operand| self.is_found_the_same(l, operand, left))
    }

    /// Returns whether nothing in a loop writes to the array that a load in it reads.
    fn reads_the_same(&self, l: LoopId, load: Value) -> bool {
        let (f, forest) = (self.f, &self.loops.forest);
        let is_known = f.op(load) == Some(mem::LOAD) && self.facts.tbr.aliases_of(load).is_some();
        let outermost = self.loops.around(f.block_of(load)).last();
        let (Some(outermost), Some(array)) = (outermost.filter(|_| is_known), f.operand(load, 0))
        else {
            return false;
        };
        let writers = self.facts.tbr.writers(f, forest.get(outermost).header, array);
        writers.is_some_and(|(writers, _)| {
            writers.iter().all(|&writer| !forest.contains(l, f.block_of(writer)))
        })
    }
}
