//! Stores whose indices count the iterations of the loops around them, up or down.

use regraft_dialects::mem;
use regraft_ir::{DominatorTree, Function, Operand, TypeKind, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

use crate::PassContext;
use crate::analysis::memory_location::element_indices;
use crate::analysis::{
    Access, EffectSummaries, InductionVariables, LoopForest, LoopId, TripCounts, inst_effects,
};

use super::Idiom;
use crate::transforms::util::cover::Counted;

/// The most blocks of the loops of an idiom.
const MAX_BLOCKS: usize = 32;

/// The loops of the indices of an access, by dimension.
pub(super) type Loops = SmallVec<[Counted; 3]>;

/// Loops that do nothing that could be noticed, but for stores to all elements of arrays.
#[derive(Debug)]
pub(super) struct Nest {
    /// The outermost of the loops.
    pub(super) outer: LoopId,
    /// The stores, in the order in which they run.
    pub(super) idioms: Vec<Idiom>,
}

/// The analyses that nests are found by.
struct NestAnalyses<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    ivs: &'a InductionVariables,
    counts: &'a TripCounts,
    tree: &'a DominatorTree,
    summaries: &'a EffectSummaries,
}

impl Nest {
    /// The nests of a function. Whether all elements are met, and in bounds, is not looked at.
    pub(super) fn find_all(f: &Function, cx: &mut PassContext<'_>) -> Vec<Self> {
        let forest = cx.analysis::<LoopForest>(f);
        let ivs = cx.analysis::<InductionVariables>(f);
        let counts = cx.analysis::<TripCounts>(f);
        let tree = cx.analysis::<DominatorTree>(f);
        let facts = NestAnalyses {
            f,
            forest: &forest,
            ivs: &ivs,
            counts: &counts,
            tree: &tree,
            summaries: cx.effects(),
        };
        let mut nests: BTreeMap<LoopId, Vec<Idiom>> = BTreeMap::new();
        for l in forest.loops() {
            for &block in forest.own_blocks(l) {
                for store in f.body(block).filter(|&v| f.op(v) == Some(mem::STORE)) {
                    if let Some((outer, idiom)) = facts.idiom(store) {
                        nests.entry(outer).or_default().push(idiom);
                    }
                }
            }
        }
        let nests = nests.into_iter().map(|(outer, idioms)| Self { outer, idioms });
        nests.filter(|nest| facts.does_nothing_else(nest)).collect()
    }
}

impl NestAnalyses<'_> {
    /// A store as an idiom, with the outermost loop of its indices.
    fn idiom(&self, store: Value) -> Option<(LoopId, Idiom)> {
        let f = self.f;
        if f.checks_operands(store) {
            return None;
        }
        let loops = self.loops(store)?;
        let outer = loops.iter().map(|counted| counted.l).min()?;
        if self.forest.blocks(outer).len() > MAX_BLOCKS {
            return None;
        }
        let is_outside = |operand: Operand| {
            operand.as_value().is_none_or(|v| !self.forest.contains(outer, f.block_of(v)))
        };
        let value = f.operand(store, 1)?;
        let source = match is_outside(value) {
            true => None,
            false => Some(value.as_value().filter(|&load| self.is_copied(load, store, &loops))?),
        };
        let arrays = [Some(store), source].into_iter().flatten();
        let outside = arrays.filter_map(|v| f.operand(v, 0)).all(is_outside);
        (outside && self.runs_each_time(store, outer))
            .then_some((outer, Idiom { store, source, loops, same_shape: false }))
    }

    /// The loops of the indices: one each, each directly within another one, down to the innermost
    /// around the access.
    fn loops(&self, access: Value) -> Option<Loops> {
        let f = self.f;
        let block = f.block_of(access);
        let counted = |index: Operand| Counted::of(f, self.ivs, index, block);
        let loops: Loops = element_indices(f, access)?.map(counted).collect::<Option<_>>()?;
        let mut from_inside: SmallVec<[LoopId; 3]> =
            loops.iter().map(|counted| counted.l).collect();
        from_inside.sort_unstable_by_key(|&l| std::cmp::Reverse(l));
        let mut around = self.forest.loop_of(block);
        for &l in &from_inside {
            if around != Some(l) {
                return None;
            }
            around = self.forest.get(l).parent;
        }
        Some(loops)
    }

    /// Returns whether a store stores what this load has found at the same place of another array.
    fn is_copied(&self, load: Value, store: Value, loops: &Loops) -> bool {
        let f = self.f;
        let element = |v: Value| {
            let array = f.operand(v, 0).map(|array| f.operand_type(array))?;
            match *f.ctx().kind(array) {
                TypeKind::Array { element, .. } => Some(element),
                _ => None,
            }
        };
        f.op(load) == Some(mem::LOAD)
            && !f.checks_operands(load)
            && f.uses(load).nth(1).is_none()
            && element(load) == element(store)
            && f.ty(load).is_scalar()
            && self.loops(load).as_ref() == Some(loops)
    }

    /// Returns whether a store runs in each iteration of the loops around it up to `outer`, and how
    /// often these run is known.
    fn runs_each_time(&self, store: Value, outer: LoopId) -> bool {
        let forest = self.forest;
        let mut block = self.f.block_of(store);
        let mut at = forest.loop_of(block);
        while let Some(l) = at.filter(|&l| forest.encloses(outer, l)) {
            let looped = forest.get(l);
            let each_time = looped.latches.iter().all(|&latch| self.tree.dominates(block, latch));
            if !each_time || !self.counts.is_known(l) {
                return false;
            }
            block = looped.header;
            at = looped.parent;
        }
        self.counts.surely_ends(outer)
    }

    /// Returns whether nothing in the loops can be noticed but what the idioms store, and whether these can
    /// be carried out one after the other.
    fn does_nothing_else(&self, nest: &Nest) -> bool {
        let f = self.f;
        let is_own =
            |v: Value| nest.idioms.iter().any(|idiom| v == idiom.store || Some(v) == idiom.source);
        let first = &nest.idioms[0];
        let in_turn = nest.idioms.len() == 1
            || nest.idioms.iter().all(|idiom| idiom.source.is_none() && idiom.loops == first.loops);
        in_turn
            && self.forest.blocks(nest.outer).iter().all(|&block| {
                f.insts(block).all(|v| {
                    if v.is_terminator() {
                        return !f.may_trap(v);
                    }
                    let effects = inst_effects(f, v, self.summaries);
                    is_own(v)
                        || effects.is_removable()
                            && Access::READS_SHAPE.contains(effects.all_accesses())
                })
            })
    }
}
